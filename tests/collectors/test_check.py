"""`check`: tells what an environment is, and what is wrong with it, and never raises."""

import math

import odd_envs
import pytest

from collectors import check as check_module
from collectors.check import check, try_out
from collectors.envs.config import EnvConfig, EnvError, VariantConfig, make_environment


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(check_module, "SPEED_SECONDS", 0.01)


@pytest.fixture
def odd():
    return odd_envs


def test_a_native_game():
    report = check("connect_four", slots=4)
    assert report.fit, report.lines()
    assert (report.zero_sum, report.deterministic, report.episodes) == (True, True, 16)
    assert 7 <= report.length[0] <= report.length[1] <= 42
    assert report.steps_per_second > 0
    text = "\n".join(report.lines())
    assert "connect_four: fit for a league" in text
    assert "2 (player: player_0; player: player_1)" in text
    assert "int8 [6, 7, 2]" in text
    assert "sides          each seat on its own" in text


@pytest.mark.parametrize(
    ("id", "kwargs", "zero_sum"),
    [
        ("classic/tictactoe_v3", {}, True),
        ("classic/rps_v2", {}, True),
        ("mpe2/simple_spread_v3", {"max_cycles": 10}, False),
    ],
)
def test_pettingzoo_games(id, kwargs, zero_sum):
    report = check("pettingzoo", slots=2, kwargs={"id": id, "kwargs": kwargs}, episodes=4)
    assert report.fit, report.lines()
    assert report.name == id
    assert report.zero_sum is zero_sum


def problems(name, **kwargs):
    report = check(name, slots=2, kwargs={"kwargs": kwargs} if kwargs else None, allow=["odd_envs"], episodes=4)
    assert not report.fit
    assert all(problem.remedy for problem in report.problems)
    text = "\n".join(report.lines())
    assert "problem" in text
    assert "remedy" in text
    return text


def test_names_that_lead_nowhere():
    assert "Did you mean 'connect_four'" in problems("connect_for")
    assert "unknown PettingZoo environment" in problems("classic/nothing_v0")


def test_what_makes_no_environment_gets_the_right_remedy():
    found = "\n".join(check("pettingzoo", kwargs={"id": "os:getcwd"}, allow=["os"]).lines())
    assert "expected a PettingZoo environment (AEC or Parallel), got a str" in found
    assert "Name a class or function that makes an environment" in found
    assert "env.seats" not in found


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(
    ("how", "expected"),
    [("step", "the board caught fire"), ("nan", "NaN"), ("mask", "allows no action"), ("reset", "dice fell")],
)
def test_broken_environments_are_told(how, expected):
    assert expected in problems("odd_envs:Broken", how=how, always=True)


@pytest.mark.usefixtures("odd")
def test_pettingzoos_own_tests_are_run():
    assert "PettingZoo's api_test: AssertionError" in problems("odd_envs:Broken", how="dtype", always=True)


@pytest.mark.usefixtures("odd")
def test_chance_that_ignores_the_seed_is_told():
    assert "same seed and actions gave different rows" in problems("odd_envs:GlobalDice")


@pytest.mark.usefixtures("odd")
def test_unknown_action_spaces_are_told():
    assert "agent 'walker_0' has the action space Sequence" in problems("odd_envs:unknown_actions")


def test_nothing_is_said_of_zero_sum_if_nobody_gets_anything():
    report = check("openspiel", slots=1, kwargs={"id": "hanabi"}, episodes=1)
    assert report.fit, report.lines()
    assert report.zero_sum is None


def test_seats_that_do_not_always_act_are_told():
    report = check("classic/texas_holdem_v4", slots=4, episodes=16)
    assert report.fit, report.lines()
    assert any("did not act in" in note and "player_0" in note for note in report.notes)


@pytest.mark.usefixtures("odd")
def test_a_seat_that_never_acts_is_a_problem():
    assert "seat 2 (walker_2) never acted in 4 episodes" in problems("odd_envs:dies_before_it_acts")


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("odd_envs:Nobody", "possible_agents is missing or empty"),
        (
            "odd_envs:Growing",
            "possible_agents is ['walker_0', 'walker_1', 'walker_2'] after reset, but the league seated",
        ),
        ("odd_envs:Twins", "possible_agents names 'walker_0' 2 times. Give each agent a name of its own"),
        ("odd_envs:PaysArrays", "agent 'walker_0': its reward is array([1.]); give a number, e.g. float(reward)"),
        ("odd_envs:Wordy", "agent 'walker_0' has the observation space Text"),
    ],
)
def test_bad_environments_are_told(name, expected):
    assert expected in problems(name)


# --- at the start of a run -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("name", ["Growing", "GrowingLater"])
def test_agents_that_change_between_episodes_are_refused_at_start(name):
    env = make_environment(EnvConfig(name="pettingzoo", id=f"odd_envs:{name}"), 2, allow=["odd_envs"])
    with pytest.raises(EnvError) as told:
        try_out(env)
    assert f"odd_envs:{name}: possible_agents is ['walker_0', 'walker_1', 'walker_2'] after reset" in str(told.value)
    assert "the league seated ['walker_0', 'walker_1']" in str(told.value)
    assert "list all agents that can ever play" in str(told.value)


JUDGES = """
def number(episode): return 3
def stranger(episode): return {"umpire": 1.0}
def nan(episode): return dict.fromkeys(episode.returns, float("nan"))
def half(episode): return {"player_0": 1.0}
def broken(episode): return episode.goals
"""


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        ("number", "returned 3; expected a number for each agent, like {'player_0': 1.0, 'player_1': 0.0}"),
        ("stranger", "returned a score for 'umpire'; the agents are ['player_0', 'player_1']"),
        ("nan", "returned nan for 'player_0'; expected a number for each agent"),
        ("half", "returned no score for any of ['player_1']"),
        ("broken", "raised AttributeError: 'Finished' object has no attribute 'goals'"),
    ],
)
def test_an_outcome_that_means_nothing_is_refused_at_start(judge, expected, tmp_path, monkeypatch):
    (tmp_path / "rubbish_judges.py").write_text(JUDGES)
    monkeypatch.syspath_prepend(str(tmp_path))
    config = EnvConfig(name="connect_four", outcome=f"rubbish_judges:{judge}")
    with pytest.raises(EnvError) as told:
        try_out(make_environment(config, 2, allow=["rubbish_judges"]))
    assert f"env.outcome=rubbish_judges:{judge} {expected}" in str(told.value)


def test_the_outcome_of_the_config_is_checked_with_the_environment(tmp_path, monkeypatch):
    (tmp_path / "rubbish_judges.py").write_text(JUDGES)
    monkeypatch.syspath_prepend(str(tmp_path))
    config = EnvConfig(name="pettingzoo", id="classic/tictactoe_v3", outcome="rubbish_judges:number")
    report = check(config, episodes=2, allow=["rubbish_judges"])
    assert report.name == "classic/tictactoe_v3"
    assert "env.outcome=rubbish_judges:number returned 3" in "\n".join(report.lines())
    assert not report.fit
    config.outcome = None
    assert check(config, episodes=2).fit


ENDLESS = {"name": "recall", "kwargs": {"blanks": 10**6}}
SLOW_JUDGES = """
def number(episode): return 3
def told(episode): return {agent: info["flags"] for agent, info in episode.infos.items()}
def proud(episode):
    assert sum(episode.returns.values()) == 0
    return episode.returns
"""


def test_an_outcome_that_means_nothing_is_refused_however_long_an_episode_takes(tmp_path, monkeypatch):
    (tmp_path / "slow_judges.py").write_text(SLOW_JUDGES)
    monkeypatch.syspath_prepend(str(tmp_path))
    env = make_environment(EnvConfig(**ENDLESS, outcome="slow_judges:number"), 2, allow=["slow_judges"])
    with pytest.raises(EnvError, match=r"recall: env.outcome=slow_judges:number returned 3; expected a number"):
        try_out(env, seconds=0.01)


@pytest.mark.parametrize("judge", ["told", "proud"])
def test_an_outcome_that_needs_a_real_episode_is_not_refused_for_want_of_one(judge, tmp_path, monkeypatch):
    (tmp_path / "slow_judges.py").write_text(SLOW_JUDGES)
    monkeypatch.syspath_prepend(str(tmp_path))
    env = make_environment(EnvConfig(**ENDLESS, outcome=f"slow_judges:{judge}"), 2, allow=["slow_judges"])
    try_out(env, seconds=0.01)
    assert not env.rehearse()


def test_what_works_is_tried_and_let_through():
    played = try_out(make_environment(EnvConfig(name="connect_four"), 2))
    assert played.margins
    assert 7 <= played.ticks <= 42
    endless = make_environment(EnvConfig(name="recall", kwargs={"blanks": 10**6}), 2)
    played = try_out(endless, seconds=0.01)
    assert (played.margins, played.ticks > 1) == ([], True)
    assert endless.active


@pytest.mark.usefixtures("odd")
def test_an_odd_but_lawful_environment_is_fit():
    report = check("odd_envs:deaths", allow=["odd_envs"], episodes=4)
    assert report.fit, report.lines()


# --- hints and warnings --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("odd")
def test_observations_outside_their_box_are_a_warning():
    report = check("odd_envs:Stray", slots=2, allow=["odd_envs"], episodes=2)
    assert report.fit, report.lines()
    wrong = "sees 2, but its Box goes from 0 to 1. Correct the space, or clip what it sees"
    assert report.warnings == [f"agent 'runner_{i}' {wrong}" for i in (0, 1)]
    assert f"  warning        agent 'runner_0' {wrong}" in report.lines()
    assert check("odd_envs:parallel_deaths", slots=2, allow=["odd_envs"], episodes=2).warnings == []


def test_a_gymnasium_environment_that_keeps_to_its_spaces_has_no_warning():
    assert check("gymnasium", slots=1, kwargs={"id": "CartPole-v1"}, episodes=2).warnings == []


@pytest.mark.usefixtures("odd")
def test_agents_that_differ_only_in_name_get_the_hint_to_share_a_role():
    report = check("odd_envs:Renamed", slots=2, allow=["odd_envs"], episodes=2)
    assert report.spec.roles == ("alpha", "omega")
    (hint,) = [note for note in report.notes if "share a role" in note]
    assert hint.startswith("the roles alpha, omega have equal spaces and differ only in their names")
    assert hint.endswith("""env.roles='["alpha", "alpha"]'""")
    roles = ["alpha", "alpha"]
    told = check(EnvConfig(name="pettingzoo", id="odd_envs:Renamed", roles=roles), allow=["odd_envs"], episodes=2)
    assert told.spec.roles == ("alpha", "alpha")
    assert not [note for note in told.notes if "share a role" in note]


@pytest.mark.parametrize("id", ["mpe2/simple_tag_v3", "classic/connect_four_v3"])
def test_agents_with_different_spaces_or_one_role_get_no_hint(id):
    report = check(id, slots=1, episodes=1)
    assert not [note for note in report.notes if "share a role" in note]


@pytest.mark.usefixtures("odd")
def test_a_constructor_that_lacks_arguments_gets_the_right_remedy():
    text = problems("odd_envs:Sized")
    assert "missing 1 required positional argument: 'size'" in text
    assert "Add env.kwargs.size=VALUE (for ludus check-env: size=VALUE)." in text
    text = problems("odd_envs:Sized", size=2)
    assert "Add env.kwargs.colour=VALUE" in text
    text = problems("odd_envs:Sized", size=2, colour="red", shape="round")
    assert "Take 'shape' out of env.kwargs" in text


@pytest.mark.usefixtures("odd")
def test_a_run_gets_the_same_remedy():
    config = EnvConfig(name="pettingzoo", id="odd_envs:Sized", kwargs={"size": 2})
    with pytest.raises(EnvError, match=r"missing 1 .*'colour'\. Add env\.kwargs\.colour=VALUE"):
        make_environment(config, 2, allow=["odd_envs"])


@pytest.mark.slow
def test_an_environment_that_never_ends_is_told_so(odd):
    report = check("odd_envs:Endless", allow=["odd_envs"], slots=1, episodes=2, seconds=math.inf)
    (problem,) = [one for one in report.problems if "no episode ended" in one.what]
    assert problem.what == "no episode ended within 10,000 steps"
    assert "such as max_cycles=500" in problem.remedy
    assert report.deterministic is None
    assert not report.fit


def test_an_environment_too_slow_to_see_an_end_is_noted(odd):
    report = check("odd_envs:Endless", allow=["odd_envs"], slots=1, episodes=2, seconds=0.0)
    assert "no episode ended within 1 steps, all there was time for (0 s)" in "\n".join(report.lines())
    assert not [problem for problem in report.problems if "ended" in problem.what]


@pytest.mark.slow
def test_an_episode_that_goes_on_while_others_end_is_a_problem(odd):
    report = check("odd_envs:Sometimes", allow=["odd_envs"], slots=4, episodes=4, seconds=math.inf)
    assert "though others did" in "\n".join(problem.what for problem in report.problems)


# --- what a check says of games of other people ----------------------------------------------------------------


def foreign(name, episodes=2, **settings):
    env = EnvConfig(name="pettingzoo", id=f"foreign_games:{name}", **settings)
    return check(env, slots=2, allow=["foreign_games"], episodes=episodes)


@pytest.mark.usefixtures("odd")
def test_a_test_of_pettingzoo_that_crashes_is_a_note():
    report = check("odd_envs:Composite", slots=2, allow=["odd_envs"], episodes=2)
    assert report.fit, report.lines()
    (note,) = [note for note in report.notes if "PettingZoo's api_test" in note]
    assert "AttributeError" in note
    assert "(api_test.py:" in note
    assert note.endswith("The test itself failed: that says nothing")


def test_a_constructor_that_fails_is_told_with_its_file_and_line():
    (problem,) = foreign("Breaks").problems
    assert problem.what.startswith("KeyError: 'no_such_map' (")
    assert "foreign_games.py:" in problem.what
    with pytest.raises(EnvError, match=r"no_such_map' \(.*foreign_games\.py:\d+\)"):
        make_environment(EnvConfig(name="pettingzoo", id="foreign_games:Breaks"), 1, allow=["foreign_games"])


def test_what_an_environment_prints_is_a_note():
    (note,) = [note for note in foreign("Chatty").notes if "printed" in note]
    assert note.endswith("the first: 'built'")


def test_problems_come_right_after_the_verdict():
    report = foreign("Loose")
    verdict, problem, remedy, *_ = report.lines()
    assert verdict.endswith("problems")
    assert problem.startswith("  problem ")
    assert remedy.startswith("    remedy ")


def test_positional_arguments_and_makers_of_any_kind():
    assert foreign("Positional", args=[3]).fit
    assert "Give by its place what the constructor does not take by name: env.args=[ticks]" in "\n".join(
        foreign("Positional", kwargs={"ticks": 3}).lines()
    )
    for maker in ("old_style", "numbered"):
        assert foreign(maker).fit
    assert "is a module without a function parallel_env, env or raw_env" in "\n".join(foreign("empty_style").lines())


def test_what_is_checked_is_told_as_it_goes():
    told = []
    check("rock_paper_scissors", slots=2, episodes=2, kwargs={"max_cycles": 2}, progress=told.append)
    assert told[0] == "an episode"
    assert told[-1] == "PettingZoo's own tests"


def test_every_variant_is_played():
    variants = {"two": VariantConfig(kwargs={"runners": 2}), "four": VariantConfig(kwargs={"runners": 4})}
    config = EnvConfig(name="pettingzoo", id="sized_env:SizedRace", variants=variants)
    report = check(config, allow=["sized_env"], episodes=4)
    assert report.episodes == 4
    assert not [one.what for one in report.problems if "never acted" in one.what]
    assert "agent 'runner_3' did not take part in 2 of 4 episodes" in "\n".join(report.lines())
