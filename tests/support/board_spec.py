"""An environment of two players on a board, for networks to act in."""

from league.spec import Array, EnvSpec, Seat


def board(shape=(6, 7, 2), dtype="int8", actions=7) -> EnvSpec:
    return EnvSpec(
        name="board",
        agents=("a", "b"),
        seats=(Seat(agents=(0,)), Seat(agents=(1,))),
        observation=Array(shape=shape, dtype=dtype),
        actions=actions,
    )
