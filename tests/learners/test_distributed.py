"""Groups of ranks, as real processes that talk through gloo on this machine."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from torch.distributed import TCPStore

from launch.config.config import algo_class
from league.policies.layout import PolicyConfig, initial
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch, join
from learners.distributed import ALONE, CPU, GroupError, device_for

ALGO = {"batch": 128, "minibatch": 128, "epochs": 3, "lr": 1e-2}
UPDATES = 3


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def two_ranks(tmp_path, fresh):
    """Return a function that trains two ranks on lists of segments; it returns what each said and its weights."""

    def run(parts, algo=ALGO, name="ppo", start=fresh):
        np.save(tmp_path / "start.npy", start)
        (tmp_path / "settings.json").write_text(json.dumps({"name": name, "algo": algo, "updates": len(parts)}))
        for number, shares in enumerate(parts):
            for rank, segments in enumerate(shares):
                np.savez(tmp_path / f"{number}.{rank}.npz", **segments.arrays())
        script = str(Path(__file__).parents[1] / "support" / "rank_process.py")
        shared = {**os.environ, "PYTHONPATH": str(Path.cwd()), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
        shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "OPENBLAS_NUM_THREADS": "1"}
        children = [
            subprocess.Popen([sys.executable, script, str(tmp_path)], env={**shared, "RANK": str(rank)})
            for rank in range(2)
        ]
        assert [child.wait(100) for child in children] == [0, 0]
        said = [json.loads((tmp_path / f"said.{rank}.json").read_text()) for rank in range(2)]
        assert [one["threads"] for one in said] == [[], []], "torch aborts, at times, what ends with threads of a group"
        return said, [np.load(tmp_path / f"end.{rank}.npy") for rank in range(2)]

    return run


def shares(play, fresh, lanes):
    """Segments for two ranks, an update after the other, all decided by the first weights."""
    return [[play(fresh, lanes=n, seed=10 * update + i) for i, n in enumerate(lanes)] for update in range(UPDATES)]


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [(16, 16), (25, 7)], ids=["halves", "uneven"])
def test_two_ranks_learn_what_one_learns_from_the_whole_batch(two_ranks, play, fresh, spec, policy, lanes):
    parts = shares(play, fresh, lanes)
    said, (first, second) = two_ranks(parts)
    whole = PPO(PPOConfig(**ALGO), policy, spec, fresh)
    for both in parts:
        joined = join(both)
        whole.update(Batch(joined, np.zeros(joined.decisions, np.int64), {}), np.random.default_rng(0))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, whole.flat(), atol=2e-6)
    assert np.abs(first - fresh).max() > 1e-2, "they learned something"
    assert said[0]["decisions"] == said[1]["decisions"] == whole.decisions


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dqn", "c51", "qr_dqn", "discrete_sac"])
def test_two_ranks_learn_what_one_learns_from_the_whole_replay(two_ranks, play, fresh, spec, name):
    """A minibatch that is as large as the replay has every decision once, so both draw the same in all."""
    algo = {"batch": 128, "minibatch": 128, "replay": 160, "warmup": 1, "samples_per_insert": 4.0, "lr": 1e-2}
    algo |= {"priority": 0.0, "target_steps": 3, "n_step": 2}
    config = algo_class(name)(**algo)
    critic = "none" if config.own_critics else "shared"
    policy = PolicyConfig(hidden=[16], head=config.head, critic=critic, support=[-1.0, 1.0])  # as the ranks have it
    start, parts = initial(policy, spec, 1), shares(play, fresh, (16, 16))[:1]
    said, (first, second) = two_ranks(parts, algo, name, start)
    whole, joined = make_algorithm(config, policy, spec, start), join(parts[0])
    metrics = whole.update(Batch(joined, np.zeros(joined.decisions, np.int64), {}), np.random.default_rng(0))
    assert metrics["losses/gradient_steps"] == 4
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, whole.flat(), atol=2e-6)
    assert np.abs(first - start).max() > 1e-2, "they learned something"
    assert said[0]["decisions"] == said[1]["decisions"] == whole.decisions


@pytest.mark.slow
def test_ranks_hear_each_other_and_stay_equal_in_minibatches(two_ranks, play, fresh):
    said, (first, second) = two_ranks(shares(play, fresh, (20, 12)), {**ALGO, "minibatch": 32, "target_kl": 0.02})
    np.testing.assert_array_equal(first, second)
    for one in said:
        assert one["told"] == "from 0"
        assert one["gathered"] == ["rank 0", "rank 1"]
        assert one["most"] == [1, 5]
        assert one["total"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "algo"),
    [
        ("ppo", ALGO),
        ("happo", ALGO),
        ("vpg", {"batch": 128, "lr": 1e-2, "baseline": "mean"}),
        ("dagger", {"batch": 128, "lr": 1e-2, "expert": "random", "lessons": 64, "minibatch": 16}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_explodes_on_one_rank_is_rolled_back_on_all(two_ranks, play, fresh, name, algo):
    parts = shares(play, fresh, (16, 16))
    parts[1][1].reward[0, 0, 0] = np.inf
    said, (first, second) = two_ranks(parts, algo, name)
    assert [one["rollbacks"] for one in said] == [[0.0, 1.0, 0.0]] * 2
    np.testing.assert_array_equal(first, second)
    assert np.isfinite(first).all()


def test_alone_there_is_nobody_to_ask():
    assert ALONE.broadcast(b"x") == b"x"
    assert ALONE.gather("here") == ("here",)
    assert ALONE.total(3) == 3


@pytest.mark.parametrize(("wanted", "gpus"), [("cpu", 0), ("cpu", 4), ("auto", 0)])
def test_ranks_without_gpus_compute_on_the_cpu(wanted, gpus):
    assert device_for(wanted, gpus, rank=1, ranks=8) == CPU


@pytest.mark.parametrize("wanted", ["auto", "cuda"])
def test_each_rank_has_its_gpu(wanted):
    assert [device_for(wanted, 2, rank, 2).index for rank in range(2)] == [0, 1]
    with pytest.raises(GroupError, match=r"3 ranks on this machine, but 2 GPUs: .* Set launch\.ranks=2"):
        device_for(wanted, 2, 0, 3)


def test_a_gpu_that_is_not_there():
    with pytest.raises(GroupError, match=r"no GPU on this machine: use learner\.device=cpu"):
        device_for("cuda", 0)


LATE = "from learners.distributed import join; join('cpu', 2.0)"


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "whom"), [(True, "rank 1"), (False, "the others")])
def test_a_rank_that_never_comes_is_an_error_that_names_it(agent, whom):
    port = free_port()
    store = TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False) if agent else None  # as torchrun's
    shared = {**os.environ, "PYTHONPATH": str(Path.cwd()), "WORLD_SIZE": "2", "RANK": "0"}
    shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_USE_AGENT_STORE": str(agent)}
    done = subprocess.run([sys.executable, "-c", LATE], env=shared, capture_output=True, text=True, timeout=100)
    del store
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert f"GroupError: rank 0 of 2 waited 2 seconds (learner.join_seconds) for {whom}, which did not join" in last
