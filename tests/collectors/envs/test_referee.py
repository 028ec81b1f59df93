"""Who did best: the winner that an info names, the function of the user, a margin, or the returns."""

import numpy as np
import pytest

from collectors.envs.config import EnvConfig, EnvError, make_environment
from collectors.envs.referee import Referee
from collectors.seating import HeldTicket, Seating, same_cast
from league.plugins import PluginError
from league.ticket import Entry, Purpose, Ticket

RPS = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 2})


FIRST_WINS = [[0, 2], [0, 2]]  # rock against scissors, twice


def finish(env, moves=FIRST_WINS):
    """Play one episode; return its last END rows."""
    env.start(np.array([0], np.int32), np.array([1]))
    for actions in moves:
        env.rows()
        ends = env.step(np.array(actions, np.int32))
    return ends


def referee(judge=None, margin=0.0):
    return Referee(make_environment(RPS, 1), judge, margin, "mine:judge")


def test_without_a_judge_it_is_the_order_of_returns():
    assert finish(referee()).ranks is None, "seating ranks by returns"
    assert finish(referee(margin=0.1), [[2, 0], [2, 0]]).ranks.tolist() == [[1, 0]]


@pytest.mark.parametrize(("margin", "ranks"), [(3.9, [[0, 1]]), (4.0, [[0, 0]])])
def test_a_lead_within_the_margin_is_a_draw(margin, ranks):
    assert finish(referee(margin=margin)).ranks.tolist() == ranks, "returns are 2 and -2"


def test_a_judge_sees_returns_and_length_and_has_the_last_word():
    seen = []

    def judge(episode):
        seen.append(episode)
        return {agent: -value for agent, value in episode.returns.items()}

    assert finish(referee(judge)).ranks.tolist() == [[1, 0]]
    assert (seen[0].returns, seen[0].length) == ({"player_0": 2.0, "player_1": -2.0}, 2)


@pytest.mark.parametrize(
    ("rubbish", "message"),
    [
        (None, "returned None; expected a number for each agent"),
        ("player_0", "returned 'player_0'; expected"),
        ({"nobody": 1.0}, "a score for 'nobody'; the agents are"),
        ({"player_0": float("nan"), "player_1": 0.0}, "returned nan for 'player_0'"),
        ({"player_0": "much", "player_1": 0.0}, "returned 'much' for 'player_0'"),
        ({"player_0": 1.0}, r"no score for any of \['player_1'\]"),
        (ZeroDivisionError("oops"), "raised ZeroDivisionError: oops"),
    ],
)
def test_rubbish_from_a_judge_is_a_fault_of_the_slot(rubbish, message):
    def judge(episode):
        if isinstance(rubbish, Exception):
            raise rubbish
        return rubbish

    ends = finish(referee(judge))
    assert len(ends.over) == len(ends.slot) == 0
    (fault,) = ends.faults
    assert fault.slot == 0
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(fault.reason)
    assert "env.outcome=mine:judge" in fault.reason


@pytest.mark.parametrize(
    ("infos", "ranks"),
    [
        ({"player_0": {"winner": "player_1"}}, [[1, 0]]),
        ({"player_0": {"winner": False}, "player_1": {"winner": True}}, [[1, 0]]),
        ({"player_1": {"winner": ["player_0", "player_1"]}}, [[0, 0]]),
        ({"player_1": {"winner": None}}, [[0, 0]]),
        ({"player_0": {"winner": {"player_0": False, "player_1": np.True_}}}, [[1, 0]]),
        ({"player_0": {"winner": {"player_0": False}}}, [[0, 0]]),
    ],
)
def test_the_winner_that_an_info_names_counts_more_than_returns(infos, ranks):
    env = make_environment(RPS, 1)
    env.infos = lambda slot: infos
    assert finish(Referee(env)).ranks.tolist() == ranks


def test_where_no_info_names_a_winner_returns_decide():
    env = make_environment(RPS, 1)
    env.infos = lambda slot: {"player_1": {}}
    assert finish(Referee(env)).ranks is None


def test_a_winner_that_nobody_knows_is_a_fault():
    env = make_environment(RPS, 1)
    env.infos = lambda slot: {"player_0": {"winner": "the umpire"}}
    (fault,) = finish(Referee(env)).faults
    assert "the umpire" in fault.reason


@pytest.mark.parametrize("winner", [1, 1.0, np.int64(1), [["player_1"]], {"player_1": 1.0}, [1], np.zeros(2)])
def test_a_winner_that_is_no_name_is_a_fault_that_says_whose_and_what_is_expected(winner):
    env = make_environment(RPS, 1)
    env.infos = lambda slot: {"player_0": {}, "player_1": {"winner": winner}}
    ends = finish(Referee(env))
    (fault,) = ends.faults
    assert f"the info of agent 'player_1' names the winner {winner!r}; give the name of an agent" in fault.reason
    assert not len(ends.over)


def test_a_last_info_that_is_no_dict_is_a_fault():
    env = make_environment(RPS, 1)
    env.infos = lambda slot: {"player_0": None}
    (fault,) = finish(Referee(env)).faults
    assert "the last info of agent 'player_0' is None; give a dict" in fault.reason


def test_the_config_names_the_function(tmp_path, monkeypatch):
    (tmp_path / "userjudge.py").write_text("def judge(episode): return {'player_0': 0, 'player_1': 1}\nodd = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    config = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 2}, outcome="userjudge:judge")
    with pytest.raises(PluginError, match="--allow userjudge"):
        make_environment(config, 1)
    assert finish(make_environment(config, 1, ["userjudge"])).ranks.tolist() == [[1, 0]]
    config.outcome = "userjudge:odd"
    with pytest.raises(EnvError, match="no function, but a int"):
        make_environment(config, 1, ["userjudge"])
    with pytest.raises(ValueError, match=r"env.draw_margin must be a number from 0 on"):
        EnvConfig(draw_margin=-1.0)


def test_ranks_are_told_for_entries_wherever_they_sit():
    env = referee(lambda episode: {"player_0": 1.0, "player_1": 0.0})  # the first seat always wins
    entries = (Entry("a"), Entry("b"))
    ticket = Ticket(number=1, purpose=Purpose.EVALUATE, entries=entries, episodes=2)
    seating, playing = Seating(env.spec, 1), HeldTicket(ticket, record=0)
    for _ in range(2):
        seating.begin([seating.reserve(playing, same_cast([0, 1]), room=1)])
        env.start(np.array([0], np.int32), np.array([1]))
        while seating.tickets[0] is not None:
            rows = env.rows()
            seating.add_moves(rows, np.zeros(2, np.int32))
            seating.finish(env.step(np.zeros(2, np.int32)))
    assert [playing.finished[i].ranks for i in range(2)] == [(0, 1), (1, 0)]
