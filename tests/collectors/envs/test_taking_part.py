"""Who took part in an episode, and rewards that come after an agent's end: known answers, up to the result."""

import numpy as np
import pytest
import small_envs as small
from driving import play

from collectors.acting import Acted
from collectors.conforming import conform
from collectors.envs.adapters import reference_tests as official
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.outcomes import OutcomeError, checked_scores
from collectors.envs.referee import Referee
from collectors.episode import outcome_of
from collectors.episode import play as play_episode
from collectors.recorder import Recorder
from league.limits import ABSENT
from league.ticket import Entry, Purpose, Ticket


def outcome(env, episode=0):
    """Return the outcome of an episode in which everybody chooses 0, as the collector counts it."""
    ticket = Ticket(
        number=1,
        purpose=Purpose.EVALUATE,
        entries=tuple(Entry(f"p{i}", bot="x") for i in range(len(env.spec.seats))),
        episodes=8,
    )
    return outcome_of(play_episode(env, ticket, episode, 7, lambda rows, entry: np.zeros(len(rows), np.int32)))


@pytest.mark.parametrize("build", [small.PaidAfterDeath, small.AecPaidAfterDeath])
def test_a_reward_after_death_counts_and_decides_who_won(build):
    found = outcome(Referee(adapt(build, 1)))
    assert (found.returns, found.ranks) == ((10.0, 1.0), (0, 1))
    late = [one for ends in play(adapt(build, 1), 7) for one in ends.late]
    assert [(one.agent, one.reward) for one in late] == [(0, 10.0)]


@pytest.mark.parametrize("build", [small.PaidAfterDeath, small.AecPaidAfterDeath])
def test_returns_with_late_rewards_equal_those_of_pettingzoo(build):
    findings = conform(lambda slots: adapt(build, slots), [1, 2, 3], 2, lambda *a: official.returns(build, *a))
    assert findings.problems == ()
    assert all(episode.late == {"player_0"} for episode in findings.transcripts)


def test_a_late_reward_that_is_no_number_is_a_fault():
    class Late(small.PaidAfterDeath):
        def pay(self, actions):
            return super().pay(actions) | ({"player_0": float("nan")} if self.round == self.rounds else {})

    faults = [fault for ends in play(adapt(Late, 1), 1) for fault in ends.faults]
    assert [fault.reason.split(": ", 1)[1] for fault in faults] == [
        "agent 'player_0': its reward is NaN or infinite, after its end"
    ]


def test_a_late_reward_is_that_of_the_last_decision():
    env = adapt(small.PaidAfterDeath, 1)
    recorder = Recorder(env.spec, 1, 8)
    recorder.assign(np.array([0]), [[("main", 0), ("other", 0)]], [1], 0.0)
    env.start(np.array([0]), np.array([1]))
    over = False
    while not over:
        rows = env.rows()
        acted = Acted(actions=np.zeros(len(rows), np.int32), log_probs=np.zeros(len(rows), np.float32))
        recorder.decide(rows, rows.agent, acted, np.zeros(len(rows), np.int32), 0.0)
        ends = env.step(acted.actions)
        recorder.end(ends, ends.agent)
        for late in ends.late:
            recorder.pay_late(late.slot, late.agent, late.agent, late.reward)
        over = bool(len(ends.over))
    recorder.assign(np.array([0]), [[None, None]], [1], 0.0)
    main, other = sorted(recorder.take(0.0, 1, 0.0), key=lambda segments: segments.player)
    assert main.reward[0, :, 0].tolist()[:2] == [10.0, 0.0]
    assert main.length.tolist() == [1]
    assert other.reward[0, :3, 0].tolist() == [0.0, 0.0, 1.0]


def test_who_is_absent_has_no_rank_though_all_others_lost_points():
    env = Referee(adapt(small.SomebodyIsAbsent, 1))
    for episode in range(3):
        found = outcome(env, episode)
        assert sorted(found.returns) == [-3.0, -3.0, 0.0]
        assert [rank for rank, value in zip(found.ranks, found.returns, strict=True) if value == 0.0] == [ABSENT]
        assert sorted(found.ranks) == [ABSENT, 0, 0]


def test_a_side_has_the_mean_of_those_that_took_part():
    env = Referee(adapt(small.SmallTeams, 1))
    assert [len(seat.agents) for seat in env.spec.seats] == [2, 2]
    assert outcome(env).returns == (-9.0, -12.0)
    assert outcome(env).ranks == (1, 0), "-9 of one agent is worse than -12 of two"


def test_a_draw_margin_and_a_judge_leave_out_who_is_absent():
    close = Referee(adapt(small.SomebodyIsAbsent, 1), margin=100.0)
    assert sorted(outcome(close).ranks) == [ABSENT, 0, 0]
    seen = []

    def judge(finished):
        seen.append(finished.present)
        return dict.fromkeys(finished.returns, 0.0) | {finished.present[0]: 1.0}

    judged = outcome(Referee(adapt(small.SomebodyIsAbsent, 1), judge))
    assert len(seen[0]) == 2
    assert sorted(judged.ranks) == [ABSENT, 0, 1]


def test_a_winner_that_did_not_take_part_is_a_fault():
    class Ghost(small.SomebodyIsAbsent):
        def info(self, agent, over):
            absent = next(one for one in self.possible_agents if one not in self.agents)
            return {"winner": absent} if over else {}

    faults = [fault for ends in play(Referee(adapt(Ghost, 1)), 1) for fault in ends.faults]
    assert "its info names the winner ['player_" in faults[0].reason
    assert "took part" in faults[0].reason


def test_no_score_is_needed_for_a_side_that_is_absent():
    spec = adapt(small.SomebodyIsAbsent, 1).spec
    assert checked_scores({"player_0": 1, "player_1": 0, "player_2": 9}, spec, "mine", ("player_0", "player_1")) == {
        "player_0": 1.0,
        "player_1": 0.0,
    }
    with pytest.raises(OutcomeError, match=r"no score for any of \['player_1'\]"):
        checked_scores({"player_0": 1}, spec, "mine", ("player_0", "player_1"))
