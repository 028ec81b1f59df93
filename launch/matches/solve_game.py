"""`ludus solve`: the equilibrium of a small game from its whole tree, as a yardstick for players that learn it."""

import json
import sys
from collections.abc import Collection, Iterator

from collectors.envs.config import EnvConfig
from collectors.envs.enumerating import enumerate_game
from collectors.envs.game_tree import GameTree, TooLargeError
from collectors.exact.best_response import exploitability
from collectors.exact.cfr import cfr_plus
from collectors.exact.psro import psro
from league.errors import InputError


def solve(env: EnvConfig, by: str, iterations: int, *, as_json: bool = False, allow: Collection[str] = ()) -> int:
    """Print the exact NashConv after each iteration (of CFR: where it doubled)."""
    if iterations < 1:
        raise InputError(f"--iterations must be at least 1, got {iterations}")
    try:
        tree = enumerate_game(env, whole=True, allow=allow)
    except TooLargeError as error:
        raise InputError(
            f"{error.sizes}: solving needs the tree of whole episodes. Learn it instead: ludus run"
        ) from error
    if not as_json:
        sys.stdout.write(f"{tree.name}: {tree.size:,} positions, {len(tree.sets):,} information sets; {by}\n")
    for iteration, nash_conv in nash_convs(tree, by, iterations):
        row = {"iteration": iteration, "nash_conv": nash_conv}
        sys.stdout.write(f"{json.dumps(row)}\n" if as_json else f"  {iteration:>6,}  NashConv {nash_conv:.4f}\n")
    return 0


def nash_convs(tree: GameTree, by: str, iterations: int) -> Iterator[tuple[int, float]]:
    """Yield the iterations to report, and the NashConv after each."""
    if by == "psro":
        for iteration, step in enumerate(psro(tree, iterations), 1):
            yield iteration, step.nash_conv
        return
    for iteration, policy in enumerate(cfr_plus(tree, iterations), 1):
        if iteration == iterations or iteration & (iteration - 1) == 0:
            yield iteration, exploitability(tree, policy).nash_conv
