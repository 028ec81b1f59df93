"""What a learner does next: whom it trains."""

from league.wire.messages import (
    Assignment,
    Weights,
)


def test_the_player_with_the_oldest_full_batch_trains_first(world, play):
    rows = [Assignment(player=name, incarnation=0) for name in ("ann", "bob")]
    world.run(*rows, steps=3)
    collector = world.collector()
    for name in ("ann", "bob"):
        collector.pull(player=name)
    world.run(*rows)
    collector.hear()
    flat = collector.flat
    for seed, name in enumerate(("bob", "ann", "bob")):
        collector.feed(play(flat, lanes=16, seed=seed, player=name))
    world.learner.step(0)
    world.learner.step(0)
    world.learner.step(0)
    trained = [m.player for m in collector.hear() if isinstance(m, Weights)]
    assert trained == ["bob", "ann", "bob"]
