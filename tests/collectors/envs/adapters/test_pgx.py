"""Games of Pgx: rows without a loop over slots, compared with PettingZoo, OpenSpiel and our own games step by step."""

import os
import subprocess
import sys

import numpy as np
import pytest
from driving import begin, open_env, play

from collectors.envs.adapters.pgx import SHARING, keys_of, make, share_machine
from collectors.envs.adapters.pgx_arrays import FIRST, MOVER, REWARD
from collectors.envs.rows import Compiles
from collectors.envs.slots import check_start

GAME = "tic_tac_toe"  # compiles in a second or two


def sampled(rng):
    """Return a chooser of random legal actions."""
    return lambda rows: np.array([rng.choice(np.flatnonzero(mask)) for mask in rows.mask], np.int32)


# --- processes and threads ---------------------------------------------------------------------------------------

SPEC_ONLY = """
import sys
from collectors.envs.config import EnvConfig, make_environment
env = make_environment(EnvConfig(name="pgx", id="go_9x9"), 256)
assert env.spec.actions == 82 and env.spec.agents == ("player_0", "player_1")
env.close()
import coordinator.coordinator, launch.config.env_spec
assert not {"jax", "jaxlib", "pgx"} & set(sys.modules)
"""


def test_a_process_that_does_not_play_never_imports_jax():
    subprocess.run([sys.executable, "-c", SPEC_ONLY], check=True, timeout=60)


def test_threads_are_bounded_unless_the_user_says_otherwise():
    environment = {"NPROC": "4"}
    share_machine(environment)
    assert environment == {**SHARING, "NPROC": "4"}
    alone, together = {}, {}
    share_machine(alone)
    share_machine(together, threads=2)
    assert (alone["NPROC"], together["NPROC"]) == ("1", "2")


def test_all_bits_of_a_seed_count():
    seeds = np.array([0, 1, 2**32, 2**32 + 1, 2**62 + 7, -1])
    assert len({tuple(key) for key in keys_of(seeds).tolist()}) == len(seeds)


def test_it_says_that_it_compiles():
    env = make(5, GAME)
    assert isinstance(env, Compiles)
    assert env.prepare().startswith("compiling tic_tac_toe for 5 slots: ")
    assert env.prepare() == ""
    assert make(5, GAME).prepare() == ""  # this process has it
    assert "multi_thread_eigen=false" in os.environ["XLA_FLAGS"]


ON_THE_SECOND = """
import numpy as np
from collectors.envs.adapters.pgx import make
env = make(3, "kuhn_poker", {"device": "cpu:1"})
env.start(np.arange(3), np.arange(3))
for _ in range(4):
    ends = env.step(np.zeros(len(env.rows()), int))
    env.start(ends.over, 10 + ends.over)
for array in (*env._batch.parts[0][0].state, *env._batch.parts[0][1]):
    assert [device.id for device in array.devices()] == [1]
try:
    make(3, "kuhn_poker", {"device": "cpu:2"}).prepare()
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_it_computes_where_it_is_told_to():
    """A second device is all that a machine without GPUs can offer."""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    told = subprocess.run(
        [sys.executable, "-c", ON_THE_SECOND], check=True, timeout=120, env=os.environ | flags, capture_output=True
    )
    assert told.stdout.startswith(b"env.kwargs.device=cpu:2: JAX has no such device here, only cpu:0, cpu:1. ")


# --- rows ----------------------------------------------------------------------------------------------------------


def test_tic_tac_toe_is_our_own_game():
    ours, env = open_env("tic_tac_toe", "", 5), make(5, GAME)
    rng = np.random.default_rng(0)
    begin(ours, *range(5))
    begin(env, *range(5))
    ended = 0
    for tick in range(400):
        own, rows = ours.rows(), env.rows()
        for name in ("slot", "agent", "reward", "first"):
            np.testing.assert_array_equal(getattr(own, name), getattr(rows, name))
        np.testing.assert_array_equal(own.mask, rows.mask)
        np.testing.assert_array_equal(own.observation, rows.observation)
        actions = sampled(rng)(own)
        own_ends, ends = ours.step(actions), env.step(actions)
        for name in ("slot", "agent", "reward", "truncated", "over"):
            np.testing.assert_array_equal(getattr(own_ends, name), getattr(ends, name))
        ended += len(ends.over)
        for one in (ours, env):
            one.start(ends.over, tick * 5 + np.arange(len(ends.over)))
    assert ended > 100


def test_a_long_episode_is_truncated_with_what_every_agent_sees():
    env = open_env("pgx", GAME, 5, max_steps=4)
    ends = play(env, 1, 2)
    assert len(ends) == 4
    assert ends[-1].truncated.tolist() == [True] * 4
    assert ends[-1].reward.tolist() == [0.0] * 4
    first, second = ends[-1].observation[:2]
    np.testing.assert_array_equal(first[..., 0], second[..., 1])  # the stones of one are the other's to the other
    np.testing.assert_array_equal(first[..., 1], second[..., 0])
    assert first.sum() == 4


def test_an_illegal_action_is_named_with_the_legal_ones():
    env = begin(make(5, GAME), 1, 2)
    env.rows()
    env.step(np.array([4, 0]))
    env.rows()
    with pytest.raises(ValueError, match=r"action 4 is illegal in slot 0 \(row 0\); legal there are \[0, 1, 2, 3, 5"):
        env.step(np.array([4, 1]))
    with pytest.raises(ValueError, match="action 9 is illegal in slot 1"):
        env.step(np.array([1, 9]))
    env.step(np.array([1, 4]))  # nothing had changed


def test_free_worlds_stand_at_the_start_of_an_episode():
    env = begin(make(5, GAME), 1)
    for action in (0, 3, 1, 4, 2):  # the first agent wins
        assert not env._marks[MOVER, 1:].any()
        env.rows()
        ends = env.step(np.array([action]))
    assert ends.over.tolist() == [0]
    assert ends.reward.tolist() == [1, -1]
    assert env._marks[FIRST].all()
    assert not env._numbers[REWARD].any()
    assert not env._observation.any()


def test_slots_are_checked_as_everywhere():
    env = begin(make(5, GAME), 1, 2)
    with pytest.raises(ValueError, match="slots \\[1\\] still play"):
        env.start(np.array([1]), np.array([7]))
    assert check_start(GAME, np.array([4]), np.array([1]), np.zeros(5, np.bool_)).tolist() == [4]


def test_a_board_is_rendered_with_the_first_agent_as_x():
    env = begin(make(5, GAME), 1)
    assert env.render(0) == ". . .\n. . .\n. . ."
    env.rows()
    env.step(np.array([0]))
    assert env.render(0) == "X . .\n. . .\n. . ."
    env.rows()
    env.step(np.array([4]))
    assert env.render(0) == "X . .\n. O .\n. . ."


@pytest.mark.parametrize("slots", [1, 16])
def test_there_are_no_rows_before_the_first_start(slots):
    env = make(slots, "tic_tac_toe")
    rows = env.rows()
    assert (len(rows), rows.observation.shape, rows.mask.shape) == (0, (0, 3, 3, 2), (0, 9))
    assert len(env.step(np.zeros(0, np.int32)).over) == 0
