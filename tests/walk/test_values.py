"""Once round with players that learn values of actions, beside one that learns probabilities."""

import pytest

from launch.config.compose import compose
from launch.config.config import ConfigError, to_plain
from launch.processes.inline import play
from launch.start import rehearse
from launch.verify.verify import verify
from league.state import OVER
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

LEAGUE = [
    "seed=0",
    "env=tic_tac_toe",
    "league=selfplay",
    "algo=dqn",
    "+league.players.other={kind: main, algo: {name: ppo, batch: 512}, policy: {head: logits}}",
    "launch=inline",
    "launch.collectors=1",
    "collector.slots=64",
    "collector.flush_decisions=200",
    "policy.hidden=[32]",
    "algo.batch=512",
    "algo.minibatch=128",
    "algo.replay=10000",
    "algo.warmup=1000",
    "algo.samples_per_insert=2",
    "algo.lr=2e-3",
    "algo.epsilon_decisions=5000",
    "learner.candidate_decisions=4000",
    "league.promotion.min_decisions=4000",
    "league.promotion.max_decisions=8000",
    "league.evaluation.final_games=200",
    "league.budget.minutes=null",
    "league.budget.env_steps=40000",
]


@pytest.mark.slow
def test_values_and_probabilities_in_one_league(tmp_path):
    config = compose(LEAGUE)
    rehearse(config)
    run = RunDirectory(tmp_path).create()
    run.write_config(to_plain(config))
    state = play(config, run)
    assert state.phase == OVER
    assert state.voids == 0
    assert verify(run) == 0
    store = SnapshotStore(run.snapshots)
    heads = {name: store.get(state.candidates[name].snapshot).manifest.policy["head"] for name in ("main", "other")}
    assert heads == {"main": "values", "other": "logits"}
    assert state.evaluation.win_share("main", "random")[0] > 0.6


@pytest.mark.slow
def test_an_exploiter_may_be_another_kind_of_learner(tmp_path):
    dqn = "{name: dqn, batch: 256, warmup: 500, minibatch: 64, replay: 10000}"
    overrides = ["env=tic_tac_toe", "league=alphastar", "launch=inline", "policy.hidden=[32]", "collector.slots=64"]
    overrides += [f"+league.players.main_exploiter.algo={dqn}", "+league.players.main_exploiter.policy={head: values}"]
    overrides += ["learner.candidate_decisions=4000", "league.budget.minutes=null", "league.budget.env_steps=60000"]
    with pytest.raises(ConfigError, match=r"whose network differs; .* or use reset: initial"):
        rehearse(compose(overrides))
    config = compose([*overrides, "league.kinds.main_exploiter.promotion.reset=initial"])
    rehearse(config)
    run = RunDirectory(tmp_path).create()
    run.write_config(to_plain(config))
    state = play(config, run)
    assert (state.voids, verify(run)) == (0, 0)
    assert all(state.candidate(player).decisions > 0 for player in ("main", "main_exploiter"))
    assert sum(state.evaluation.counts("main_exploiter", "main")) > 50
