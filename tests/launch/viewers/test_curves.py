from itertools import pairwise

import pytest

from launch.config.track import TrackConfig
from launch.viewers.curves import ENV_STEPS, MATCHES, Curves, Position
from launch.viewers.view import View, read_offline, read_rules
from league.appraisal import appraise
from league.events import ResultCounted, TermBegan
from league.standings import standings
from league.store.ledger import Ledger, open_copy

VALUES = {
    "collector-0": {"env_steps_per_second": 100.0, "wait_share": 0.25, "seconds": 2.0},
    "collector-1": {"env_steps_per_second": 50.0, "wait_share": 0.5},
    "learner-0": {"wait_share": 0.1, "player/main/losses/policy_loss": -0.01, "player/main/lag_mean": 0.5},
    "coordinator": {"busy_share": 0.02, "open_tickets": 12.0, "load_per_core": 0.7},
}


@pytest.fixture
def run(run):
    """Return a run that went on for a while, and in which everybody measured."""
    with Ledger.open(run.ledger) as ledger:
        for i in range(6):
            terms = [TermBegan(term=i)] * (i % 3)
            ledger.commit(terms, [(5.0 * i, source, values) for source, values in VALUES.items()])
    return run


def position(row):
    return Position(row.number + 1, row.seq, row.measured, row.filmed, row.gathered)


def rows_of(run, config=None, **more):
    rows = []
    curves = Curves(config or TrackConfig(every=4), rows.append, **more)
    read_offline(run, watcher=curves)
    return rows


def test_rows_are_numbered_and_never_go_back(run):
    rows = rows_of(run)
    assert [row.number for row in rows] == list(range(len(rows)))
    assert {row.axis for row in rows} == {MATCHES, ENV_STEPS}
    for before, after in pairwise(rows):
        assert before.matches <= after.matches
        assert before.env_steps <= after.env_steps
        assert (before.seq, before.measured) <= (after.seq, after.measured)
        assert (before.seq, before.measured, before.axis) != (after.seq, after.measured, after.axis)
    for axis in (MATCHES, ENV_STEPS):
        steps = [row.step for row in rows if row.axis == axis]
        assert steps == sorted(steps)


def test_the_last_row_tells_what_the_standings_tell(run, state):
    last = [row for row in rows_of(run) if row.axis == MATCHES][-1]
    rated = {row.player: row for row in standings(state.population, state.evaluation, state.elo)}
    assert last.values["elo/main"] == pytest.approx(rated["main"].rating)
    assert last.values["elo/main_low"] == pytest.approx(rated["main"].low)
    assert last.values["elo/main_high"] == pytest.approx(rated["main"].high)
    assert last.values["elo_online/main"] == pytest.approx(state.elo["main"])
    assert last.values["league/size"] == len(state.population)
    appraisal = appraise(state.population, state.evaluation)
    assert last.values["league/nash_entropy"] == pytest.approx(appraisal.nash.entropy)
    assert last.values["league/cycle_strength"] == pytest.approx(appraisal.cyclic.strength)
    assert last.values.get("league/misfit") == pytest.approx(appraisal.fit.dispersion.misfit)
    assert last.matches == sum(state.results.values())
    assert last.env_steps == state.env_steps
    assert {a.player: a.parent for a in last.lineage} == {p.id: p.parent for p in state.population}
    assert "main" in last.payoff.players


def test_what_was_measured_together_is_one_row(run):
    rows = [row for row in rows_of(run) if row.elapsed is not None][-6:]
    assert {row.axis for row in rows} == {ENV_STEPS}
    assert [row.elapsed for row in rows] == [5.0 * i for i in range(6)]
    assert rows[0].values == {
        "charts/SPS": 150.0,
        "wait/collector-0": 0.25,
        "wait/collector-1": 0.5,
        "wait/learner-0": 0.1,
        "losses/policy_loss/main": -0.01,
        "lag/mean/main": 0.5,
        "process/coordinator/busy_share": 0.02,
        "queue/open_tickets": 12.0,
        "system/load_per_core": 0.7,
    }


@pytest.mark.parametrize("cut", [1, 7, -3])
def test_whoever_goes_on_from_a_position_gets_the_same_rows(run, cut):
    whole = rows_of(run)
    cuts = [i for i, (a, b) in enumerate(pairwise(whole)) if (a.seq, a.measured) != (b.seq, b.measured)]
    at = whole[cuts[cut % len(cuts)]]
    assert rows_of(run, start=position(at)) == whole[at.number + 1 :]


def test_a_state_that_was_kept_saves_the_way_up_to_it(run):
    whole = rows_of(run)
    at = next(a for a, b in pairwise(whole[12:]) if a.gathered < a.seq < b.seq)  # episodes wait for the next point
    start, rows = position(at), []
    before = View(read_rules(run))
    with open_copy(run.ledger) as ledger:
        before.take_in(ledger.read(0, at.gathered - 3), [])
        curves = Curves(TrackConfig(every=4), rows.append, start)
        view = View(read_rules(run), watcher=curves)
        view.begin_at(before.state, before.seq, start.measured)
        view.take_in(ledger.read(view.seq), ledger.metrics(view.measured, ledger.head))
    assert rows == whole[at.number + 1 :]


def test_points_come_less_often_as_a_league_grows(run):
    rated = [row.matches for row in rows_of(run, TrackConfig(every=2), dense=4) if "elo/main" in row.values][:-1]
    gaps = [b - a for a, b in pairwise(rated)]
    assert gaps == sorted(gaps)
    assert gaps[0] == 2
    assert gaps[-1] >= 8


def test_older_frozen_players_have_no_curve(run, state):
    frozen = [player.id for player in state.population.frozen()]
    assert len(frozen) > 1
    last = [row for row in rows_of(run, TrackConfig(every=4, frozen=1)) if row.axis == MATCHES][-1]
    assert f"elo_online/{frozen[-1]}" in last.values
    assert f"elo_online/{frozen[0]}" not in last.values


def test_scenes_are_evaluations_of_those_who_learn_evenly_spaced(run, state):
    recordings = [row for row in rows_of(run, TrackConfig(every=4, videos=4)) if row.recorded is not None]
    assert len(recordings) > 2
    for before, after in pairwise(recordings):
        assert after.matches // 4 > before.matches // 4
    for row in recordings:
        assert row.recorded.ticket.purpose == "evaluate"
        assert row.recorded.actions
        assert any(state.population[entry.player].learning for entry in row.recorded.ticket.entries)
    assert all(row.recorded is None for row in rows_of(run)), "none unless they are asked for"


@pytest.mark.slow
def test_whoever_goes_on_makes_the_same_scenes(run):
    config = TrackConfig(every=4, videos=8)
    whole = rows_of(run, config)
    for at, after in pairwise(whole):
        if at.seq < after.seq:  # a tracker notes its position between two events
            assert rows_of(run, config, start=position(at)) == whole[after.number :]


def played_in(run):
    """Return the training tickets of a run with their episodes, and the env steps after each."""
    found, steps = [], 0

    def note(seq, event, state):
        nonlocal steps
        if isinstance(event, ResultCounted):
            steps += sum(episode.length for episode in event.episodes)
            if state.open[event.ticket].purpose == "train":
                found.append((steps, state.open[event.ticket], event.episodes))

    read_offline(run, note)
    return found


def test_episodic_returns_and_lengths_are_those_of_the_training_episodes(run):
    charts = [row for row in rows_of(run) if "charts/episodic_length" in row.values]
    assert len(charts) >= 10
    assert {row.axis for row in charts} == {ENV_STEPS}
    begin, seen = 0, set()
    for row in charts:
        since = [(t, episodes) for steps, t, episodes in played_in(run) if begin < steps <= row.env_steps]
        begin = row.env_steps
        lengths = [episode.length for _, episodes in since for episode in episodes]
        assert row.values["charts/episodic_length"] == pytest.approx(sum(lengths) / len(lengths))
        for player in {player for ticket, _ in since for player in ticket.trains}:
            returns = [
                episode.returns[i]
                for ticket, episodes in since
                for episode in episodes
                for i, entry in enumerate(ticket.entries)
                if entry.player == player and player in ticket.trains
            ]
            assert row.values[f"charts/episodic_return/{player}"] == pytest.approx(sum(returns) / len(returns))
            seen.add(player)
    assert seen == {"main", "exploiter"}
    assert begin > 0


def test_the_win_rate_is_what_the_standings_score_against_an_anchor(run, state):
    last = [row for row in rows_of(run) if "charts/win_rate/main_v_random" in row.values][-1]
    rated = {row.player: row for row in standings(state.population, state.evaluation, state.elo)}
    assert last.values["charts/win_rate/main_v_random"] == pytest.approx(rated["main"].anchors["random"])
    assert not [name for name in last.values if name.startswith("charts/win_rate/main.")], "frozen players do not learn"
    assert last.env_steps == state.env_steps
