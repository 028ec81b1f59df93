"""The learner's part of the composition root, and that of the inference process beside it; they import torch."""

from collections.abc import Collection
from functools import partial

import torch

from launch.config.config import Config, algo_of, own_algos, own_policies
from launch.config.env_spec import read_spec
from launch.processes.build import Clock
from league.policies.numpy_actor import NumpyActor
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.wire.ports import Client, Server
from learners.algorithms.algorithm import make_algorithm
from learners.distributed import ALONE, Group
from learners.inference import Inference
from learners.learner import Learner
from learners.remote_replay import AHEAD
from learners.torch_network import TorchNetwork


def build_learner(  # noqa: PLR0913  (as the composition root does)
    config: Config,
    run: RunDirectory,
    index: int,
    session: str,
    coordinator: Client,
    inbox: Server,
    clock: Clock,
    group: Group = ALONE,
    allow: Collection[str] = (),
    buffer: Client | None = None,
) -> Learner:
    """Return a learner, or one rank of it."""
    inline = config.launch.name == "inline"  # its minibatches must be those that it would draw itself
    return Learner(
        name=f"learner-{index}",
        session=session,
        coordinator=coordinator,
        inbox=inbox,
        store=SnapshotStore(run.snapshots),
        checkpoints=run.checkpoints,
        spec=read_spec(run),
        policy=config.policy,
        algo=algo_of(config, allow),
        seed=config.seed,
        clock=clock,
        config=config.learner,
        policies=own_policies(config),
        algos=own_algos(config, allow),
        algorithm=partial(make_algorithm, allow=allow),
        group=group,
        buffer=buffer,
        ahead=0 if inline else AHEAD,
    )


def build_inference(
    config: Config, run: RunDirectory, session: str, learner: Client, server: Server, clock: Clock
) -> Inference:
    """Return the inference process beside a learner; if that has a GPU, its networks are there, too."""
    inline = config.launch.name == "inline"  # its numbers must be those that collectors would find
    on_gpu = torch.cuda.is_available() and config.learner.device != "cpu" and not inline
    return Inference(
        session=session,
        learner=learner,
        server=server,
        spec=read_spec(run),
        policy=config.policy,
        clock=clock,
        policies=own_policies(config),
        network=TorchNetwork if on_gpu else NumpyActor,
    )
