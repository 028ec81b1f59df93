"""The command that solves a small game without learning: solve."""

from argparse import ArgumentParser, Namespace

from launch.commands.command import CliCommand, add_allow, add_json

METHODS = {
    "psro": "pools of exact best responses, mixed by the equilibrium of their meta-game",
    "cfr": "CFR+, regret matching in every information set",
}


def _add_solve(parser: ArgumentParser) -> None:
    help = "the game, as for ludus run: experiment=kuhn, or env=openspiel env.id=leduc_poker"
    parser.add_argument("pairs", metavar="OVERRIDE", nargs="*", default=[], help=help)
    about = "; ".join(f"{name}: {what}" for name, what in METHODS.items())
    parser.add_argument("--by", choices=list(METHODS), default="psro", help=about)
    parser.add_argument("--iterations", metavar="N", type=int, default=12, help="at most (12)")
    add_json(parser)
    add_allow(parser)


def _solve(arguments: Namespace) -> int:
    from launch.config.approvals import with_given
    from launch.config.compose import compose
    from launch.matches.solve_game import solve

    env = compose(arguments.pairs, arguments.allow).env
    allow = with_given(env, arguments.allow)
    return solve(env, arguments.by, arguments.iterations, as_json=arguments.json, allow=allow)


SOLVING = (
    CliCommand(
        name="solve",
        help="solve a small game exactly, and print the NashConv after each iteration",
        example="ludus solve experiment=kuhn --by psro --iterations 12",
        handle=_solve,
        add_arguments=_add_solve,
        takes_run=False,
    ),
)
