"""From a player to the league of its probe."""

import shutil

import pytest
from msgspec.structs import replace as changed

from launch.config.config import stored
from launch.probes.probe_config import BATCH, PROBE, TARGET, ProbeOrder, find_target, probe_config, start_file
from launch.viewers.probe_reports import ProbeError
from launch.viewers.view import ViewError
from league.spec import Seat
from league.store.snapshots import SnapshotStore


@pytest.fixture
def made(run, state):
    """Return a function that returns the config of a probe."""

    def made(player="main", config=None, **order):
        target = find_target(run, state, player)
        return probe_config(run, config or stored(run), state, target, ProbeOrder(**order))

    return made


def test_the_probe_meets_nobody_but_its_frozen_target(made, run, state):
    config = made()
    players = config.league.players
    newest = SnapshotStore(run.snapshots).path(state.candidates["main"].snapshot)
    assert players[TARGET].kind == "frozen"
    assert players[TARGET].weights == players[PROBE].weights == str(newest), "by default it starts as its target"
    assert set(players) == {PROBE, TARGET}
    assert config.league.matchmaking.self_play == 0
    assert config.league.evaluation.share == config.league.evaluation.final_games == 0
    assert config.runs == str(run.probes)
    assert config.env == stored(run).env
    assert config.policy == stored(run).policy


def test_the_same_order_has_the_same_name_and_others_have_others(made):
    names = [
        made().name,
        made("main.0").name,
        made(start="scratch").name,
        made(seed=2).name,
        made(lr=0.01).name,
        made("random").name,
    ]
    assert len(set(names)) == len(names)
    assert made(steps=1000).name == made(steps=500_000).name, "more steps go on with the same probe"
    assert made(start="self").name == names[0]


def test_a_best_response_has_constant_rates_and_small_batches(made, run):
    config = stored(run)
    config.algo |= {"batch": 8192, "lr": 0.002, "lr_schedule": "linear", "entropy": 0.02, "entropy_final": 0.01}
    algo = made(config=config).algo
    assert (algo["batch"], algo["lr"], algo["lr_schedule"]) == (BATCH, 0.002, "constant")
    assert (algo["entropy"], algo["entropy_final"]) == (0.02, None)
    given = made(config=config, lr=0.1, entropy=0.5).algo
    assert (given["lr"], given["entropy"]) == (0.1, 0.5)


def test_a_kill_costs_about_one_update(made, run):
    config = stored(run)
    config.algo["batch"], config.learner.candidate_decisions = 8192, 65_536
    probe = made(config=config)
    assert probe.learner.candidate_decisions == probe.algo["batch"]
    assert probe.learner.heartbeat < config.learner.heartbeat, "a candidate is written when the last one is reported"


def test_the_algorithm_is_that_of_the_target_and_not_that_of_others(made, run):
    config = stored(run)
    config.league.players["main"].algo = {"gamma": 0.5}
    assert made("main", config).algo["gamma"] == made("main.0", config).algo["gamma"] == 0.5
    assert made("exploiter", config).algo["gamma"] == config.algo["gamma"]


def test_against_a_bot_it_starts_from_scratch(made, run, state):
    players = made("random").league.players
    assert (players[TARGET].kind, players[TARGET].bot) == ("scripted", "random")
    assert players[PROBE].weights is None
    with pytest.raises(ProbeError, match="'random' has no weights that a probe could start from: use --from scratch"):
        start_file(run, state, find_target(run, state, "random"), "self")


def test_a_league_on_slurm_is_probed_here(made, run):
    config = stored(run)
    config.launch.name, config.launch.transport, config.launch.collectors = "slurm", "tcp", 9
    found = made(config=config).launch
    assert (found.name, found.transport, found.collectors) == ("local", "ipc", 0)
    assert made(config=config, inline=True).launch.name == "inline"


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"steps": 0}, "--steps must be more than 0, got 0"),
        ({"steps": None}, "a probe needs an end"),
        ({"seconds": -1.0}, "--seconds must be more than 0, got -1"),
        ({"games": 0}, "--games must be more than 0, got 0"),
        ({"lr": 0.0}, "--lr must be more than 0"),
        ({"entropy": -0.1}, "--entropy must not be negative"),
    ],
)
def test_an_order_that_cannot_be_carried_out_is_refused(order, message):
    with pytest.raises(ProbeError, match=message):
        ProbeOrder(**order)


def test_players_that_cannot_be_probed(run, state, made):
    with pytest.raises(ViewError, match="there is no player 'mian'; did you mean 'main'"):
        made("mian")
    with pytest.raises(ProbeError, match=r"--from nothing\.safetensors: there is no such file"):
        made(start="nothing.safetensors")
    shutil.rmtree(run.snapshots)
    with pytest.raises(ProbeError, match="the weights of 'main' are gone from"):
        made("main")


def test_in_co_operation_there_is_nobody_to_exploit(run, state):
    seats = tuple(Seat(seat.agents, side="all") for seat in state.env.seats)
    state.env, before = changed(state.env, seats=seats), state.env
    try:
        with pytest.raises(ProbeError, match="are on one side: there is nobody to exploit"):
            find_target(run, state, "main")
    finally:
        state.env = before
