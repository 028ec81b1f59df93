"""The native games play move for move what PettingZoo's games play."""

import numpy as np
import pettingzoo
import pytest

from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.players.bots import choose

BOARDS = {"classic/connect_four_v3": ConnectFour, "classic/tictactoe_v3": TicTacToe}
FEW, MANY = 300, 10_000


def board_lockstep(id, episodes, slots, wrapped):
    """Play random legal moves in both; return how many episodes were compared."""
    native = BOARDS[id](slots=slots)
    zoo = [pettingzoo.make("aec", id) for _ in range(slots)]
    zoo = zoo if wrapped else [env.unwrapped for env in zoo]
    assert native.spec.agents == tuple(zoo[0].possible_agents)
    rng, free, done, wins = np.random.default_rng(3), np.arange(slots, dtype=np.int32), 0, set()
    while done < episodes:
        native.start(free, np.zeros(len(free), np.int64))
        for slot in free:
            zoo[slot].reset(seed=int(slot))
        rows = native.rows()
        seen = [env.observe(env.agent_selection) for env in zoo]
        np.testing.assert_array_equal(rows.observation, np.stack([one["observation"] for one in seen]), strict=True)
        np.testing.assert_array_equal(rows.mask, np.stack([one["action_mask"] for one in seen]).astype(bool))
        assert [native.spec.agents[agent] for agent in rows.agent] == [env.agent_selection for env in zoo]
        assert not rows.reward.any()
        actions, _ = choose(rows.mask, rng)
        ends = native.step(actions)
        for env, action in zip(zoo, actions.tolist(), strict=True):
            env.step(action)
        free = ends.over
        assert free.tolist() == [slot for slot, env in enumerate(zoo) if any(env.terminations.values())]
        wins |= set(compare_ends(native, ends, zoo))
        done += len(free)
    assert wins == {-1.0, 0.0, 1.0} or episodes < MANY
    return done


def compare_ends(native, ends, zoo):
    assert ends.slot.tolist() == np.repeat(ends.over, 2).tolist()
    assert ends.agent.tolist() == [0, 1] * len(ends.over)
    assert not ends.truncated.any()
    for row, (slot, agent) in enumerate(zip(ends.slot, ends.agent, strict=True)):
        name = native.spec.agents[agent]
        assert zoo[slot].terminations[name]
        assert not zoo[slot].truncations[name]
        assert ends.reward[row] == zoo[slot].rewards[name]
        np.testing.assert_array_equal(ends.observation[row], zoo[slot].observe(name)["observation"], strict=True)
        yield float(ends.reward[row])


@pytest.mark.parametrize("id", BOARDS)
def test_boards(id):
    assert board_lockstep(id, FEW, slots=50, wrapped=True) >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("id", BOARDS)
def test_boards_ten_thousand_times(id):
    assert board_lockstep(id, MANY, slots=256, wrapped=False) >= MANY


def rps_lockstep(episodes, slots, num_actions, max_cycles):
    native = RockPaperScissors(slots, num_actions=num_actions, max_cycles=max_cycles)
    options = {"num_actions": num_actions, "max_cycles": max_cycles}
    zoo = [pettingzoo.make("parallel", "classic/rps_v2", **options) for _ in range(slots)]
    rng, one_hot = np.random.default_rng(5), np.eye(num_actions + 1, dtype=np.float32)
    free, done = np.arange(slots, dtype=np.int32), 0
    seen, paid = [None] * slots, [None] * slots
    while done < episodes:
        native.start(free, np.zeros(len(free), np.int64))
        for slot in free:
            seen[slot], paid[slot] = zoo[slot].reset()[0], {"player_0": 0, "player_1": 0}
        rows = native.rows()
        names = [native.spec.agents[agent] for agent in rows.agent]
        assert names == ["player_0", "player_1"] * slots
        assert rows.mask.all()
        expected = [seen[slot][name] for slot, name in zip(rows.slot, names, strict=True)]
        np.testing.assert_array_equal(rows.observation, one_hot[np.array(expected)], strict=True)
        assert rows.reward.tolist() == [paid[slot][name] for slot, name in zip(rows.slot, names, strict=True)]
        actions = rng.integers(num_actions, size=len(rows)).astype(np.int32)
        ends = native.step(actions)
        over = []
        for slot in range(slots):
            chosen = dict(zip(["player_0", "player_1"], actions[2 * slot : 2 * slot + 2].tolist(), strict=True))
            seen[slot], paid[slot], terminations, truncations, _ = zoo[slot].step(chosen)
            assert not any(terminations.values())
            over += [slot] if all(truncations.values()) else []
        assert ends.over.tolist() == over
        assert ends.truncated.all()
        for row, (slot, agent) in enumerate(zip(ends.slot, ends.agent, strict=True)):
            name = native.spec.agents[agent]
            assert ends.reward[row] == paid[slot][name]
            np.testing.assert_array_equal(ends.observation[row], one_hot[int(seen[slot][name])])
        free = ends.over
        done += len(free)
    return done


@pytest.mark.parametrize(("num_actions", "max_cycles"), [(3, 15), (5, 4), (9, 7)])
def test_rock_paper_scissors(num_actions, max_cycles):
    assert rps_lockstep(FEW, 50, num_actions, max_cycles) >= FEW


@pytest.mark.slow
def test_rock_paper_scissors_ten_thousand_times():
    assert rps_lockstep(MANY, 250, 3, 15) >= MANY
