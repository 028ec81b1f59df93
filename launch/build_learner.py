"""The learner's part of the composition root; apart, because it is the one that imports torch."""

from collections.abc import Collection
from functools import partial

from launch.build import Clock, read_spec
from launch.config import Config, algo_of, own_algos, own_policies
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.wire.ports import Client, Server
from learners.algorithms.algorithm import make_algorithm
from learners.distributed import ALONE, Group
from learners.learner import Learner


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
) -> Learner:
    """Return a learner, or one rank of it."""
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
    )
