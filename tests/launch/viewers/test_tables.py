import io
import json
import re

import pytest
from rich.console import Console
from shipped_kinds import shipped_kinds

from launch.viewers.payoff_matrix import payoff_json, payoff_matrix, relevant
from launch.viewers.tables import (
    rating_text,
    short,
    spread,
    standings_json,
    standings_table,
    status_json,
)
from launch.viewers.view import View
from league.evaluation_payoff import RatedGame
from league.events import CandidateWritten, PlayerAdded, PlayerFrozen, ResultCounted, TicketIssued
from league.player import Player
from league.ratings.elo import expected
from league.rulebook import LeagueConfig
from league.standings import Standing
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket
from league.wire.messages import Role, Worker

ANCHORS = {"random": 0.0, "one_ply": 400.0}


def league(frozen=0):
    """Found a league with two learning players, two anchors and some frozen pasts."""
    state = LeagueState(LeagueConfig(kinds=shipped_kinds()))
    kinds = {"main": "main", "league_exploiter_0": "league_exploiter"}
    for name, kind in kinds.items():
        apply(state, PlayerAdded(player=Player(id=name, kind=kind)))
    for name, rating in ANCHORS.items():
        apply(state, PlayerAdded(player=Player(id=name, kind="scripted", bot=name, anchor=rating)))
    apply(state, CandidateWritten(player="main", incarnation=0, version=1, snapshot="new", decisions=10))
    for i in range(frozen):
        past = Player(id=f"main.{i}", kind="main", parent="main", snapshot=f"old-{i}")
        apply(state, PlayerFrozen(player=past, decisions=0, why="test"))
    return state


def meet(state, a, b, ranks, games, purpose=Purpose.EVALUATE, snapshot=None):
    newest = [state.candidate(player) if state.population[player].learning else None for player in (a, b)]
    entries = (Entry(a, snapshot or (newest[0] and newest[0].snapshot)), Entry(b, newest[1] and newest[1].snapshot))
    ticket = Ticket(number=state.tickets + 1, purpose=purpose, entries=entries, episodes=games)
    apply(state, TicketIssued(ticket=ticket))
    episodes = tuple(Episode(ranks, (0.0, 0.0), 7) for _ in range(games))
    apply(state, ResultCounted(ticket=ticket.number, attempt=0, episodes=episodes))


def shown(renderable, width=80, terminal=False):
    console = Console(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system="standard" if terminal else None
    )
    console.print(renderable)
    return console.file.getvalue()


def test_the_score_of_the_newest_candidate_has_its_interval():
    state = league()
    meet(state, "main", "random", (0, 1), 30, snapshot="old")
    meet(state, "main", "random", (0, 1), 9, snapshot="new")
    meet(state, "main", "random", (1, 0), 1, snapshot="new")
    row = next(row for row in standings_json(state) if row["player"] == "main")
    scored = row["candidate"]["random"]
    assert (scored["score"], scored["games"]) == (0.9, 10)
    assert (scored["low"], scored["high"]) == pytest.approx((0.574, 1.0), abs=1e-3)
    assert row["anchors"]["random"] == 0.9, "games of an older candidate do not count"
    assert "90% ±" in shown(standings_table(state))


def test_standings_are_sorted_and_plain():
    state = league(frozen=2)
    meet(state, "main", "random", (0, 1), 20, snapshot="new")
    meet(state, "main.0", "random", (1, 0), 20)
    rows = json.loads(json.dumps(standings_json(state), allow_nan=False))
    ratings = [row["rating"] for row in rows if row["rating"] is not None]
    assert ratings == sorted(ratings, reverse=True)
    assert [row["place"] for row in rows] == list(range(1, 7))
    assert rows[-1]["rating"] is None
    anchor = next(row for row in rows if row["player"] == "one_ply")
    assert (anchor["rating"], anchor["candidate"]) == (400.0, {})


def test_a_table_fits_into_eighty_columns_with_whole_names():
    state = league(frozen=3)
    for anchor in ANCHORS:
        meet(state, "main", anchor, (0, 1), 3000, snapshot="new")
    text = shown(standings_table(state))
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    for name in ("league_exploiter_0", "league expl.", "main.2", "v one_ply"):
        assert name in text


@pytest.mark.parametrize("anchors", [["random"], ["random", "scripted_prey"]])
def test_long_names_of_roles_fit_into_eighty_columns(anchors):
    state = LeagueState(LeagueConfig(kinds=shipped_kinds()))
    kinds = ("main", "main_exploiter", "league_exploiter")
    learning = [f"{kind}_{role}" for role in ("adversary", "agent") for kind in kinds]
    for name, kind in zip(learning, kinds * 2, strict=True):
        apply(state, PlayerAdded(player=Player(id=name, kind=kind)))
    past = Player(id="league_exploiter_adversary.12", kind="main", parent=learning[2], snapshot="old")
    apply(state, PlayerFrozen(player=past, decisions=0, why="test"))
    for anchor in anchors:
        apply(state, PlayerAdded(player=Player(id=anchor, kind="scripted", bot=anchor, anchor=0.0)))
        for name in learning:
            apply(state, CandidateWritten(player=name, incarnation=0, version=1, snapshot=name, decisions=10))
            meet(state, name, anchor, (0, 1), 3000, snapshot=name)
    text = shown(standings_table(state))
    matrix = shown(payoff_matrix(state, state.evaluation, "Evaluation"))
    assert max(map(len, (text + matrix).splitlines())) <= 80
    for row in ("main_adversary", "main_expl…er_agent", "league_ex…dversary", "league_ex…rsary.12", "league expl."):
        assert row in text
    assert re.search(r" # {1,2}player", text)
    assert re.search(r" 6 {1,3}\S+ .* · ", matrix), "numbers and columns are all there"


def test_a_long_table_keeps_who_learns_and_who_is_an_anchor():
    state = league(frozen=40)
    meet(state, "main.7", "random", (0, 1), 10)
    text = shown(standings_table(state, limit=8))
    for name in ("main ", "league_exploiter_0", "random", "one_ply", "main.7"):
        assert name in text
    assert "36 more frozen players" in text
    assert "main.7" in relevant(state, 5)
    assert len(relevant(state, 3)) == 3


def test_the_matrix_shows_score_and_games_from_both_sides():
    state = league()
    meet(state, "main", "random", (0, 1), 75)
    meet(state, "main", "random", (1, 0), 25)
    text = shown(payoff_matrix(state, state.evaluation, "Evaluation"))
    assert re.search(r"main .*75  100", text)
    assert re.search(r"random .*25  100", text)
    assert max(map(len, text.splitlines())) <= 80


def test_games_of_an_older_candidate_are_not_shown_as_those_of_the_newest():
    state = league()
    meet(state, "main", "random", (0, 1), 1)
    assert re.search(r"main .*100    1", shown(payoff_matrix(state, state.evaluation, "Evaluation")))
    apply(state, CandidateWritten(player="main", incarnation=0, version=2, snapshot="x", decisions=10))
    assert not re.search(r"main .*100", shown(payoff_matrix(state, state.evaluation, "Evaluation")))


def test_games_that_have_faded_are_not_shown_as_none():
    state = league()
    state.training.record("main", "random", 1.0)
    state.training.scale_row("main", 0.25)
    text = shown(payoff_matrix(state, state.training, "Training"))
    assert re.search(r"main .*100  0.2", text)
    assert re.search(r"random .*0  0.2", text)


def test_zero_has_no_sign():
    row = Standing(
        place=1, player="a", kind="main", rating=-0.2, low=-9.7, high=9.3, online=-0.4, games=10.0, anchors={}
    )  # fmt: skip
    assert rating_text(row) == "Elo 0 ±10"
    state = league()
    meet(state, "main", "random", (0, 0), 10)
    state.elo._ratings["main"] = -0.3
    text = shown(standings_table(state), width=120)
    assert "-0" not in text
    assert re.search(r"main +main +0 ±\d+ +50% +10 ", text)


def test_a_score_that_the_ratings_do_not_predict_has_a_word_under_the_table():
    state = league(frozen=1)
    for player in ("main", "main.0"):
        meet(state, player, "random", (0, 1), 1200)
        meet(state, player, "random", (1, 0), 800)
    assert standings_table(state).caption is None
    meet(state, "main", "main.0", (0, 1), 90)
    meet(state, "main", "main.0", (1, 0), 10)
    text = " ".join(shown(standings_table(state)).split())
    found = re.search(
        r"main scores 90% against main.0 over 100 games, the scale predicts (\d+)% \((\d+) Elo above it\)", text
    )
    assert found, text
    assert abs(int(found[1]) - 100 * expected(float(found[2]), 0.0)) < 1
    assert re.search(r"misfit \d+\.\d \(1 if ratings say all\): pairs deviate from their ratings by \d+ Elo", text)
    assert max(map(len, shown(standings_table(state)).splitlines())) <= 80


def test_a_matrix_of_many_players_shows_as_many_as_fit():
    state = league(frozen=30)
    for width, players in ((80, 6), (140, 12)):
        text = shown(payoff_matrix(state, state.evaluation, "Evaluation", width), width)
        assert max(map(len, text.splitlines())) <= width
        assert f"{players} of 34 players" in text


def test_scores_are_coloured_on_a_terminal_only():
    state = league()
    meet(state, "main", "random", (0, 1), 10)
    matrix = payoff_matrix(state, state.evaluation, "Evaluation")
    assert "\x1b[94m100" in shown(matrix, terminal=True), "blue"
    assert "\x1b[91m0" in shown(matrix, terminal=True), "orange, or what comes nearest to it"
    assert "\x1b" not in shown(matrix)


def test_the_payoff_as_json_has_both_tables():
    state = league()
    meet(state, "main", "random", (0, 1), 3)
    meet(state, "main", "random", (0, 0), 1)
    meet(state, "main", "one_ply", (1, 0), 2, Purpose.TRAIN)
    found = json.loads(json.dumps(payoff_json(state), allow_nan=False))
    cells = {
        name: {
            (a, b): cell
            for a, row in zip(table["players"], table["cells"], strict=True)
            for b, cell in zip(table["players"], row, strict=True)
            if cell is not None
        }
        for name, table in found.items()
        if name != "league"
    }
    assert set(cells["evaluate"]) == {("main", "random"), ("random", "main")}
    cell = cells["evaluate"]["random", "main"]
    assert (cell["score"], cell["wins"], cell["draws"], cell["losses"]) == (0.125, 0, 1, 3)
    assert set(cells["train"]) == {("main", "one_ply"), ("one_ply", "main")}


def test_the_figures_of_workers_are_put_together():
    view = View(LeagueConfig())
    empty = status_json(view)
    assert empty["env_steps_per_second"] is None
    assert empty["lag_mean"] is None
    assert empty["nash_conv"] == {}
    view.workers = (
        Worker(name="c0", role=Role.COLLECTOR, age=1.0, metrics={"env_steps_per_second": 100.0, "wait_share": 0.1}),
        Worker(name="c1", role=Role.COLLECTOR, age=30.0, metrics={"env_steps_per_second": 50.0, "wait_share": 0.3}),
        Worker(name="c2", role=Role.COLLECTOR, age=1.0, metrics={}),
        Worker(
            name="l0",
            role=Role.LEARNER,
            age=0.0,
            metrics={"wait_share": 0.5, "player/a/lag_mean": 1.0, "player/b/lag_mean": 2.0, "player/a/lag_p95": 3.0}
            | {"player/a/league/nash_conv": 0.25},
        ),
    )
    status = json.loads(json.dumps(status_json(view)))
    assert (status["env_steps_per_second"], status["collectors"], status["learners"]) == (150.0, 3, 1)
    assert status["collector_wait"] == pytest.approx(0.2)
    assert (status["learner_wait"], status["lag_mean"], status["lag_p95"]) == (0.5, 2.0, 3.0)
    assert status["nash_conv"] == {"a": 0.25}
    assert status["silent"] == ["c1"]


@pytest.mark.parametrize(
    ("longest", "episodes", "endless"),
    [(999, 0, None), (1000, 0, 1000), (1000, 1, None), (9999, 1, None), (10_000, 1, 10_000)],
)
def test_an_episode_that_does_not_end_is_reported(longest, episodes, endless):
    view = View(LeagueConfig())
    assert status_json(view)["endless"] is None
    metrics = {"longest_episode": float(longest), "episodes": float(episodes)}
    others = {"longest_episode": 40.0, "episodes": 7.0}
    view.workers = tuple(
        Worker(name=f"c{number}", role=Role.COLLECTOR, age=1.0, metrics=figures)
        for number, figures in enumerate((others, metrics, {}))
    )
    assert status_json(view)["endless"] == endless


def test_a_played_league_fits_its_tables(state):
    assert json.dumps([standings_json(state), payoff_json(state)], allow_nan=False)
    text = shown(standings_table(state)) + shown(payoff_matrix(state, state.training, "Training"))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (9_960, "10.0k"), (25_000, "25k"), (2.5e6, "2.5M"), (1e10, "10G")],
)
def test_counts_are_short(number, text):
    assert short(number) == text


def test_a_score_tells_the_wider_side_of_its_interval():
    assert spread(1.0, 0.9, 1.0) == "100% ±10"


def test_a_league_by_return_shows_units_of_return():
    state = league()
    state.evaluation.go_by_return(10.0)
    games = [[RatedGame(float(k % 3 == 0), True, 5.0 if k % 3 == 0 else -1.0)] for k in range(300)]
    state.evaluation.record_turns("main", "random", games)
    row = next(row for row in standings_json(state) if row["player"] == "main")
    assert (row["by"], row["win_share"]) == ("return", pytest.approx(1 / 3))
    assert row["rating"] == pytest.approx(1.0)
    assert 0 < row["low"] < 1 < row["high"]
    text = shown(standings_table(state))
    assert re.search(r"kind +return ", text)
    assert re.search(r"main +main +1\.00 ±0\.\d+", text)
