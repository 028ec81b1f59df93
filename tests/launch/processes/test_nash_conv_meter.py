import msgspec
import pytest
from command_line import TINY, refused

from launch.config.config import ConfigError, stored
from launch.config.env_spec import read_spec
from launch.config.track import TrackConfig
from launch.matches.exploiting import exploit
from launch.processes.nash_conv_meter import NashConvMeter, check_exploit_every
from launch.viewers.curves import Curves
from launch.viewers.view import open_view
from league.ids import Hash, PlayerId
from league.store.snapshots import SnapshotStore
from league.wire.messages import Candidate

NAME = "player/main/league/nash_conv"


def meter_of(run, every=3):
    config = stored(run)
    config.league.exploit_every = every
    return NashConvMeter(config, read_spec(run), SnapshotStore(run.snapshots))


def newest(run):
    found = open_view(run).state.candidates[PlayerId("main")]
    return Candidate(
        player=found.player,
        incarnation=found.incarnation,
        version=found.version,
        snapshot=found.snapshot,
        decisions=found.decisions,
    )


def test_a_league_tracks_the_nash_conv_of_its_candidates_up_to_the_last(kuhn):
    rows = []
    curves = Curves(TrackConfig(), rows.append)
    open_view(kuhn, watcher=curves)
    found = [row.values["league/nash_conv/main"] for row in rows if "league/nash_conv/main" in row.values]
    assert len(set(found)) > 2
    assert found[0] == pytest.approx(11 / 12, abs=0.05)  # before training, play is nearly uniform
    assert found[-1] == exploit(kuhn, "main").figures.nash_conv


def test_every_third_candidate_is_measured_and_the_last_one(kuhn):
    meter, state = meter_of(kuhn), open_view(kuhn).state
    snapshots = [player.snapshot for player in state.population.frozen()][:4] + [newest(kuhn).snapshot] * 3
    candidates = [msgspec.structs.replace(newest(kuhn), snapshot=snapshot) for snapshot in snapshots]
    found = [meter(one, last=number > 4) for number, one in enumerate(candidates)]
    assert [list(values) for values in found] == [[NAME], [], [], [NAME], [], [NAME], []]
    assert found[5][NAME] == exploit(kuhn, "main").figures.nash_conv


def test_a_figure_that_fails_costs_no_training(kuhn, caplog):
    meter, candidate = meter_of(kuhn, every=1), newest(kuhn)
    gone = Candidate(player=candidate.player, incarnation=0, version=1, snapshot=Hash("0" * 64), decisions=0)
    assert meter(gone, last=False) == {}
    assert "league.exploit_every: there will be no NashConv in this process" in caplog.text
    assert meter(candidate, last=False) == {}
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["env=simple_tag"], "the seats of simple_tag have different roles"),
        (["env=simple_spread"], "simple_spread is not a game of one against one"),
        (["env=rock_paper_scissors", "policy=gru"], r"rock_paper_scissors has about 10^14 positions"),
    ],
)
def test_a_game_that_cannot_be_enumerated_is_refused_before_there_is_a_run(
    capsys, tmp_path, monkeypatch, overrides, reason
):
    monkeypatch.chdir(tmp_path)
    others = [text for text in TINY if not text.startswith(("env=", "policy."))]
    error = refused(capsys, "run", *others, *overrides, "league.exploit_every=1")
    assert error.startswith("league.exploit_every: ")
    assert reason in error
    assert "\n" not in error
    assert not (tmp_path / "runs").exists()


def test_the_interval_is_a_number_of_candidates(capsys):
    assert "exploit_every must be at least 1" in refused(capsys, "run", *TINY, "league.exploit_every=0")


def test_seats_of_different_roles_are_refused(kuhn):
    config, spec = stored(kuhn), read_spec(kuhn)
    first, second = spec.seats
    other = msgspec.structs.replace(spec, seats=(first, msgspec.structs.replace(second, role="dealer")))
    with pytest.raises(ConfigError, match="different roles"):
        check_exploit_every(config, other, ())
