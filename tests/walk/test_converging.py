"""Whole inline leagues on poker, with all that makes self-play settle: their last candidates are measured exactly."""

import pytest

from collectors.envs.config import make_environment
from collectors.envs.enumerating import enumerate_game
from collectors.exact.best_response import exploitability
from collectors.exact.tree_policy import policy_of, uniform
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.verify.verify import verify
from league.policies.layout import policy_from
from league.policies.numpy_actor import NumpyActor
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

UNIFORM = {"kuhn": 11 / 12, "leduc": 4.7472}  # the NashConv of uniform play
SHORT = ["launch=inline", "league.evaluation.final_games=10", "league.budget.minutes=null"]
SMALL = {
    "kuhn": [
        "collector.slots=64",
        "policy.hidden=[16]",
        "algo.batch=256",
        "algo.minibatch=128",
        "algo.lr=3e-3",
        "algo.magnet_every=10",
        "learner.ema=0.8",
        "learner.candidate_decisions=4096",
        "league.budget.env_steps=14000",
    ],
    "leduc": [
        "collector.slots=64",
        "policy.hidden=[32,32]",
        "algo.batch=1024",
        "algo.minibatch=512",
        "algo.lr=3e-3",
        "algo.magnet_every=20",
        "learner.ema=0.9",
        "learner.candidate_decisions=16384",
        "league.budget.env_steps=60000",
    ],
}


def nash_conv(config, run, snapshot):
    newest, env = SnapshotStore(run.snapshots).get(snapshot), make_environment(config.env, 1)
    actor = NumpyActor(policy_from(newest.manifest.policy), env.spec, newest.arrays["flat"])
    tree = enumerate_game(config.env, whole=True)
    assert exploitability(tree, uniform(tree.sets)).nash_conv == pytest.approx(UNIFORM[config.name], abs=1e-4)
    return exploitability(tree, policy_of(actor, tree.sets)).nash_conv


@pytest.mark.slow
@pytest.mark.parametrize("game", SMALL)
def test_the_last_candidate_is_harder_to_exploit_than_uniform_play(game, tmp_path):
    config = compose([f"experiment={game}", *SHORT, *SMALL[game]])
    run = RunDirectory(tmp_path / game).create()
    run.write_config(to_plain(config))
    state = play(config, run)
    assert nash_conv(config, run, state.candidates["main"].snapshot) < 0.7 * UNIFORM[game]
    assert verify(run) == 0
