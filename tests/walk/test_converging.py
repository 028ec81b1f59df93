"""A whole inline league on Kuhn poker, with all that makes self-play settle: its last candidate is measured exactly."""

import pytest

from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.enumerating import enumerate_game
from collectors.exact.best_response import exploitability
from collectors.exact.tree_policy import policy_of
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.verify.verify import verify
from league.policies.layout import policy_from
from league.policies.numpy_actor import NumpyActor
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

KUHN = EnvConfig(name="openspiel", id="kuhn_poker", state=True)
UNIFORM = 11 / 12  # the NashConv of uniform play
SMALL = [
    "experiment=kuhn",
    "launch=inline",
    "collector.slots=64",
    "policy.hidden=[16]",
    "algo.batch=256",
    "algo.minibatch=128",
    "algo.lr=3e-3",
    "algo.magnet_every=10",
    "learner.ema=0.8",
    "learner.candidate_decisions=4096",
    "league.evaluation.final_games=10",
    "league.budget.minutes=null",
    "league.budget.env_steps=14000",
]


def nash_conv(run, snapshot):
    newest, env = SnapshotStore(run.snapshots).get(snapshot), make_environment(KUHN, 1)
    actor = NumpyActor(policy_from(newest.manifest.policy), env.spec, newest.arrays["flat"])
    tree = enumerate_game(KUHN, whole=True)
    return exploitability(tree, policy_of(actor, tree.sets)).nash_conv


@pytest.mark.slow
def test_the_last_candidate_is_harder_to_exploit_than_uniform_play(tmp_path):
    config = compose(SMALL)
    run = RunDirectory(tmp_path / "kuhn").create()
    run.write_config(to_plain(config))
    state = play(config, run)
    assert nash_conv(run, state.candidates["main"].snapshot) < 0.7 * UNIFORM
    assert verify(run) == 0
