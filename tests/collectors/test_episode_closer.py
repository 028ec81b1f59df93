"""Episodes that end: together, early, or because they broke."""

from functools import partial

import numpy as np
import odd_envs as odd
import pytest
from collector_world import BOT, World, evaluation, training

from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.envs.rows import Ends


@pytest.mark.parametrize("how", ["reset", "step", "nan", "reward", "mask", "shape"])
def test_a_broken_slot_is_a_fault_of_its_ticket_and_others_play_on(tmp_path, how):
    """Episodes with odd seeds break."""
    world = World(tmp_path, adapt(partial(odd.Broken, how), slots=4, name="broken"))
    world.begin(*(evaluation(number=number, episodes=1) for number in range(1, 13)))
    settled = {}
    while len(settled) < 12:
        report = world.play()
        settled |= {f.ticket: f.reason for f in report.faults} | {r.ticket: "" for r in report.results}
    reasons = [reason for reason in settled.values() if reason]
    assert 0 < len(reasons) < 12
    assert all(reason.startswith("broken") for reason in reasons)
    assert {settled[ack.ticket] for ack in world.journal} == {""}, "only results are journaled, not faults"
    world.step(3)
    assert len(world.collector._seating.free) == 4


def test_one_broken_episode_gives_back_the_whole_ticket_once(tmp_path):
    world = World(tmp_path, adapt(partial(odd.Broken, "step", always=True), slots=4, name="broken"))
    world.begin(evaluation(episodes=8))
    (fault,) = world.play().faults
    assert (fault.ticket, fault.attempt) == (1, 0)
    assert "the board caught fire" in fault.reason
    world.step(20)
    assert len(world.collector._seating.free) == 4


def test_what_a_broken_episode_recorded_is_thrown_away(tmp_path):
    world = World(tmp_path, adapt(partial(odd.Broken, "step", always=True), slots=1, name="broken"))
    world.begin(training(episodes=1))
    assert world.play().faults
    assert world.collector.env_steps == 3
    assert world.collector._recorder.unsent == {("main", 0): 0}
    world.now += 10.0
    world.step(5)
    assert world.heads == []


def test_an_agent_that_dies_early_keeps_what_it_earned(tmp_path):
    """The second walker dies after its first move of the second round."""
    world = World(tmp_path, adapt(odd.deaths, slots=1, name="deaths"))
    world.begin(evaluation(episodes=1, entries=(BOT, BOT, BOT)))
    (result,) = world.play().results
    env = odd.deaths()
    env.reset(seed=0)
    earned = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        done = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        env.step(None if done else 0)
        if not done:
            for agent, reward in env.rewards.items():
                earned[agent] += reward
    assert result.episodes[0].returns == pytest.approx(tuple(earned.values()))


def test_who_dies_in_a_slot_that_plays_on_is_closed_at_once(world):
    """Rows of early deaths may be as many as an episode lacks that is over."""
    agents = np.array([1, 0])
    nothing = {
        "reward": np.zeros(2, np.float32),
        "truncated": np.zeros(2, np.bool_),
        "observation": np.zeros((2, 3, 3, 2)),
    }
    both = Ends(slot=np.array([2, 2]), agent=agents, over=np.array([2]), **nothing)
    mixed = Ends(slot=np.array([2, 3]), agent=agents, over=np.array([2]), **nothing)
    assert world.collector._closer.is_whole(both)
    assert not world.collector._closer.is_whole(mixed)


def test_what_is_over_is_told_while_the_others_rest(tmp_path):
    world = World(tmp_path, TicTacToe(slots=64))
    world.begin(*(evaluation(number, episodes=1) for number in range(1, 65)))
    while not world.collector._closer.waiting:
        world.step()
    world.collector._wait(0.0)  # as it does without credit
    assert world.collector._closer.waiting == 0
    assert world.collector._tickets._results


def test_what_ended_in_the_last_tick_is_told_before_the_end(tmp_path):
    world = World(tmp_path, TicTacToe(slots=64))
    world.begin(*(evaluation(number, episodes=1) for number in range(1, 65)))
    while not world.collector._closer.waiting:  # some are over, and not closed yet
        reports = world.step()
    over = world.collector._closer.waiting
    assert not any(report.results for report in reports)
    world.order(stop=True)
    (last,) = world.step()
    assert len(last.results) == over
