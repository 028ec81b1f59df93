"""One rank of a group, in a process of its own: trains a player on its part of some segments, and writes the weights.

python rank_process.py FOLDER      with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from launch.config.config import algo_class
from league.policies.layout import PolicyConfig
from league.segment import FIELDS, Segments
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.algorithm import make_algorithm
from learners.batcher import Batch
from learners.distributed import join, leave


def load(path):
    arrays = np.load(path)
    return Segments("hero", 0, **{name: arrays[name] for name in FIELDS if name in arrays})


def comm(task):
    return (task / "comm").read_text().strip()


def main():
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    group = join()
    said = {"told": group.broadcast(b"from %d" % group.rank).decode(), "gathered": group.gather(f"rank {group.rank}")}
    said["most"] = group.maximum(np.array([group.rank, 5 - group.rank])).tolist()
    said["total"] = group.total(group.rank + 1)
    settings = json.loads((folder / "settings.json").read_text())
    spec = EnvSpec("hints", ("a",), (Seat((0,)),), Array((4,), "float32"), 4)
    config = algo_class(settings["name"])(**settings["algo"])
    critic = "none" if config.own_critics else "shared"
    policy = PolicyConfig(hidden=[16], head=config.head, critic=critic, support=[-1.0, 1.0])
    algorithm = make_algorithm(config, policy, spec, np.load(folder / "start.npy"), group)
    rng = np.random.default_rng(group.rank)
    said["rollbacks"] = []
    for number in range(settings["updates"]):
        segments = load(folder / f"{number}.{group.rank}.npz")
        lag = np.zeros(segments.decisions, np.int64)
        said["rollbacks"].append(algorithm.update(Batch(segments, lag, {}), rng)["losses/rollbacks"])
    said["decisions"] = algorithm.decisions
    np.save(folder / f"end.{group.rank}.npy", algorithm.flat())
    leave()
    said["threads"] = [name for task in Path("/proc/self/task").iterdir() if "gloo" in (name := comm(task))]
    (folder / f"said.{group.rank}.json").write_text(json.dumps(said))


main()
