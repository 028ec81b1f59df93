"""Small environments, each with one property, get exactly the stated verdict: `check-env` and a run say the same.

A row is the class in `tests/support/small_envs.py`, the settings, and what must be found: seats, sides and who wins for
those that are fit, with every note, warning and guess; culprit and remedy for those that are refused. To add a row, add
the class and a line; the texts are searched for, and nothing else may be said.
"""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from collectors import check as checking
from collectors.envs.config import EnvConfig
from launch.config.compose import compose
from launch.config.config import stored
from launch.processes.inline import play
from launch.start import begin
from launch.verify.verify import verify
from league.events import TicketVoided
from league.store.ledger import open_copy

SHORT = (
    "env=pettingzoo", "env.id=small_envs:Duel", "launch=inline", "policy.hidden=[8]", "collector.slots=8", "name=short",
    "league.budget.minutes=null", "league.budget.env_steps=300", "league.evaluation.final_games=8",
)  # fmt: skip
RETURN, NAMED = "the highest return wins", "the winner that its infos name wins, else the highest return"
VOID = "Fix the environment; the league voids"
PETTINGZOO = "Fix the environment as PettingZoo asks"
SEED = r"reset\(seed\) must restore everything"
ON_ITS_OWN = "so each is on its own"
GENERAL_SUM = "not zero-sum: .*returns are shown beside the ratings"
EQUAL_SPACES = "have equal spaces and differ only in their names"


@dataclass(frozen=True)
class Fit:
    """Fit for a league, with these seats as role=agents, these sides, this outcome, and nothing else to say."""

    seats: str
    sides: tuple
    outcome: str = RETURN
    guess: str = ""
    notes: tuple = ()
    warnings: tuple = ()


@dataclass(frozen=True)
class Refused:
    """Not fit: each culprit with its remedy."""

    problems: tuple


def refused(*problems):
    return Refused(problems)


DUEL, TRIO = "player=player_0 player=player_1", "player=player_0 player=player_1 player=player_2"
VERDICTS = {
    # --- who is on whose side
    "Duel": Fit(DUEL, (0, 1)),
    "Turns": Fit(DUEL, (0, 1)),
    "TurnsOfThree": Fit(TRIO, (0, 1, 2), guess="agents move in turns, so each"),
    "Packs": Fit(
        "wolf=wolf_0+wolf_1 sheep=sheep_0+sheep_1",
        (0, 1),
        guess=r"called wolf and sheep, so each name is a team.*now env.sides='\[\"wolf_0\+wolf_1\", \"sheep_0\+",
        notes=(EQUAL_SPACES,),
    ),
    "Drones": Fit("drone=drone0 drone=drone1 drone=drone2", (0, 1, 2), guess=f"called drone, {ON_ITS_OWN}"),
    "NamesWithSpaces": Fit("player=red 0+red 1 player=blue 0+blue 1", (0, 1), guess="called red and blue"),
    "CombinedArms": Fit(
        "melee=redmelee_0 ranged=redranged_0 melee=bluemelee_0 ranged=blueranged_0",
        (0, 0, 1, 1),
        guess="names begin with red and blue, so these are the sides",
        notes=(EQUAL_SPACES,),
    ),
    "Courts": Fit(
        "east_pawn=east_pawn east_king=east_king west_pawn=west_pawn west_king=west_king",
        (0, 0, 1, 1),
        guess="names begin with east and west",
        notes=(EQUAL_SPACES,),
    ),
    "TwoAgainstTwo": Fit(
        f"{TRIO} player=player_3",
        (0, 1, 2, 3),
        guess=ON_ITS_OWN,
        warnings=(
            r"returns of player_0 and player_2 go together .* "
            r"env.sides='\[\"player_0\", \"player_1\", \"player_0\", \"player_1\"\]'",
        ),
    ),
    "TwoAgainstTwo env.sides=a,b,a,b": Fit(f"{TRIO} player=player_3", (0, 1, 0, 1)),
    "SharedReward": Fit(
        DUEL,
        (0, 1),
        warnings=(r"got the same return in each of 16 episodes.*Co-operative\? .*env.sides='\[\"all\", \"all\"\]'",),
    ),
    "SharedReward env.sides=all,all": Fit(DUEL, (0, 0)),
    "NearlyShared": Fit(DUEL, (0, 1), warnings=(r"rise and fall together \(correlation at least .*Co-operative\?",)),
    "Hunt": Fit(
        "tiger=tiger deer=deer",
        (0, 1),
        guess="called tiger and deer",
        notes=(EQUAL_SPACES, GENERAL_SUM),
        warnings=("tiger returned more than deer in all of 16 episodes: returns of these roles are not comparable",),
    ),
    "Hunt env.outcome=small_envs:judge": Fit(
        "tiger=tiger deer=deer",
        (0, 1),
        "the highest score of small_envs:judge wins",
        guess="called tiger and deer",
        notes=(EQUAL_SPACES, GENERAL_SUM),
    ),
    "Dilemma": Fit(DUEL, (0, 1), notes=("not zero-sum: the highest return wins; returns are shown",)),
    "Dilemma env.draw_margin=1.0": Fit(DUEL, (0, 1), f"{RETURN}, by more than 1", notes=(GENERAL_SUM,)),
    "ConstantSum": Fit(DUEL, (0, 1)),
    "NoRewards": Fit(DUEL, (0, 1)),
    "NamedWinner": Fit(DUEL, (0, 1), NAMED),
    "Alone": Fit("walker=walker", (0,)),
    "EqualSpaces": Fit("alpha=alpha omega=omega", (0, 1), guess="called alpha and omega", notes=(EQUAL_SPACES,)),
    # --- agents that come and go
    "PaidAfterDeath": Fit(DUEL, (0, 1), notes=("'player_0' got rewards after its end; they count for",)),
    "AecPaidAfterDeath": Fit(
        DUEL,
        (0, 1),
        notes=(
            "'player_0' got rewards after its end; they count for",
            "api_test: .*should not be given a reward if they were terminated.*Here such rewards count",
        ),
    ),
    "SomebodyIsAbsent": Fit(
        TRIO,
        (0, 1, 2),
        guess=ON_ITS_OWN,
        notes=(*(f"'player_{i}' did not take part in . of 16 episodes" for i in range(3)), GENERAL_SUM),
    ),
    "SmallTeams": Fit(
        "player=red_0+red_1 player=blue_0+blue_1",
        (0, 1),
        guess="called red and blue",
        notes=("'red_1' did not take part in 16 of 16 episodes; it has no rank there",),
    ),
    "JoinsLater": Fit(TRIO, (0, 1, 2), guess=ON_ITS_OWN),
    "DiesEarly": Fit(TRIO, (0, 1, 2), guess=ON_ITS_OWN),
    "Truncates": Fit(DUEL, (0, 1)),
    "Spectator": refused((r"seat 2 \(player_2\) never acted in 16 episodes", "Leave its agents out")),
    "ComesBack": refused(("agent cannot be revived", PETTINGZOO), ("'player_0' came back after its end", VOID)),
    "OtherAgents": refused(("possible_agents is .* after reset, but the league seated", VOID)),
    "EndsAtOnce": refused(("the episode ended before any agent could act", VOID)),
    # --- spaces
    "DifferentSpaces": Fit("scout=scout tank=tank", (0, 1), guess="called scout and tank"),
    "Continuous": Fit(DUEL, (0, 1)),
    "OutsideItsBox": Fit(DUEL, (0, 1), warnings=("'player_0' sees 2, but its Box", "'player_1' sees 2, but its Box")),
    "WordsAsActions": refused(("'player_0' has the action space Text.*no fixed number of parts", "Check the env")),
    "NoAgents": refused(("possible_agents is missing or empty", "Check the environment's")),
    "SameName": refused(("possible_agents names 'player' 2 times", "Check the environment's")),
    # --- faults
    "NanReward": refused(("Incorrect values for rewards", PETTINGZOO), ("'player_0': its reward is NaN", VOID)),
    "WordReward": refused(("'player_0': its reward is 'much'; give a number", VOID)),
    "PaysAStranger": refused(("'stranger' is not among possible_agents", VOID)),
    "Raises": refused(
        ("api_test: RuntimeError", PETTINGZOO),
        ("seed_test: RuntimeError", PETTINGZOO),
        (r"step raised RuntimeError: the board caught fire \(small_envs.py:\d+\)", VOID),
    ),
    "RaisesAtReset": refused(
        ("api_test: RuntimeError", PETTINGZOO),
        ("seed_test: RuntimeError", PETTINGZOO),
        ("reset raised RuntimeError: the dice fell off the table", VOID),
    ),
    "WearsOut": refused(("'player_0': its reward is NaN", VOID)),
    "NanSeen": refused(("Incorrect observations", PETTINGZOO), ("its observation holds NaN", VOID)),
    "WrongShape": refused((r"its observation is float32 \(3,\), but its space says float32 \(2,\)", VOID)),
    "NothingSeen": refused(("parallel_api_test", PETTINGZOO), ("in env.agents but was given no observation", VOID)),
    "EmptyMask": refused(("'player_0': its action mask allows no action", VOID)),
    "UnknownWinner": refused((r"names the winner \['nobody'\]; the agents are", VOID)),
    "AbsentWinner": refused(*[(r"names the winner \['player_.'\], but only .* took part", VOID)] * 3),
    "IgnoresTheSeed": refused(("Incorrect observations", PETTINGZOO), ("same seed .* gave different rows", SEED)),
    "RemembersGames": refused(("depends on what the same environment object played before", "env.fresh=true")),
    "RemembersGames env.fresh=true": Fit(DUEL, (0, 1)),
    "SharesAClock": refused(("Incorrect observations", PETTINGZOO), ("same seed .* gave different rows", SEED)),
    "NeedsASize": refused(("missing 1 required positional argument: 'size'", r"Add env.kwargs.size=VALUE")),
}


def settings(row, python=""):
    """Return the name and the settings of a row."""
    name, *given = row.split()
    wanted = dict(one.removeprefix("env.").split("=", 1) for one in given)
    if "sides" in wanted:
        wanted["sides"] = wanted["sides"].split(",")
    if "draw_margin" in wanted:
        wanted["draw_margin"] = float(wanted["draw_margin"])
    if "fresh" in wanted:
        wanted["fresh"] = wanted["fresh"] == "true"
    return EnvConfig(name="pettingzoo", id=f"small_envs:{name}", python=python, **wanted)


def said(found, expected):
    """Every text is expected, in this order, and nothing else is said."""
    assert len(found) == len(expected), found
    for text, pattern in zip(found, expected, strict=True):
        assert re.search(pattern, text), (text, pattern)


def judged(row, monkeypatch, python=""):
    """Check an environment, here or in another Python, and compare with the row."""
    monkeypatch.setattr(checking, "SPEED_SECONDS", 0.001)  # nobody reads it here
    expected = VERDICTS[row]
    report = checking.check(settings(row, python), allow=["small_envs", python])
    assert report.fit == isinstance(expected, Fit), report.problems
    if isinstance(expected, Refused):
        said([problem.what for problem in report.problems], [what for what, _ in expected.problems])
        said([problem.remedy for problem in report.problems], [remedy for _, remedy in expected.problems])
        return
    spec = report.spec
    seats = [f"{seat.role}={'+'.join(spec.agents[agent] for agent in seat.agents)}" for seat in spec.seats]
    assert (" ".join(seats), spec.sides, report.outcome) == (expected.seats, expected.sides, expected.outcome)
    said(report.guesses, [expected.guess] if expected.guess else [])
    said(report.notes, expected.notes)
    said(report.warnings, expected.warnings)


@pytest.mark.parametrize("row", VERDICTS)
@pytest.mark.filterwarnings("ignore")
def test_verdict(row, monkeypatch):
    judged(row, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("row", VERDICTS)
def test_verdict_of_another_python(row, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1] / "support")
    judged(row, monkeypatch, sys.executable)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row, verdict in VERDICTS.items() if isinstance(verdict, Fit)])
def test_a_league_on_what_is_fit_voids_no_ticket(row, tmp_path):
    together = len(set(VERDICTS[row].sides)) == 1
    config = replace(
        compose([*SHORT, f"league={'cooperative' if together else 'pfsp'}", f"runs={tmp_path}"]), env=settings(row)
    )
    with begin(config, allow=("small_envs",), accept=False, notify=lambda line: None) as run:
        state = play(stored(run), run, allow=("small_envs",))
    with open_copy(run.ledger) as ledger:
        voided = [event for _, event in ledger.events() if isinstance(event, TicketVoided)]
    assert voided == []
    assert state.env_steps >= 300
    assert verify(run) == 0


def test_there_are_forty_and_each_has_a_class_of_its_own():
    names = {row.split()[0] for row in VERDICTS}
    assert len(names) >= 40
