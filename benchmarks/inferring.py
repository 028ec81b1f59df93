"""(h) Where networks act: a collector that has them, against one that asks an inference process. See also (c)."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.collecting import AHEAD, NATIVE, benched
from benchmarks.measure import alternate, by_cpu, by_wall, emit, paired, summarise
from collectors.config import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.config.config import Config
from league.policies.layout import PolicyConfig
from league.store.run_directory import RunDirectory

IMAGES = EnvConfig(name="benchmarks.images:Images")


@dataclass(frozen=True, slots=True)
class Case:
    """One game and network, and how many players play it."""

    name: str
    env: EnvConfig
    policy: PolicyConfig
    slots: int
    players: int


CASES = (
    Case("h: Connect Four, mlp", NATIVE, PolicyConfig(), 256, 2),
    Case("h: images of 84x84x4, cnn", IMAGES, PolicyConfig(name="cnn"), 32, 2),
)


def measure(case: Case, folder: Path, seconds: float, rounds: int) -> None:
    """Measure both kinds in turns; CPU time is that of the collector and of the inference process together."""
    collector = CollectorConfig(slots=case.slots, ahead=AHEAD, heartbeat=0.05)
    with ExitStack() as stack:
        benches = {}
        for kind in ("local", "central"):
            config = Config(env=case.env, policy=case.policy, collector=replace(collector, inference=kind))
            run = RunDirectory(folder / f"{case.env.name.replace(':', '-')}-{kind}")
            benches[kind] = stack.enter_context(benched(config, run, case.players)).measure
        local, central = alternate(benches["local"], benches["central"], seconds, rounds)
    summarise(f"{case.name}, local", local)
    summarise(f"{case.name}, central", central)
    for name, speed in (("wall", by_wall), ("CPU", by_cpu)):
        runs = paired(local, central, speed)
        emit(f"{case.name}: central, times local, {name}", ratio=sorted(runs)[len(runs) // 2], runs=runs)


def run(folder: Path, seconds: float, rounds: int) -> None:
    """Measure all cases."""
    for case in CASES:
        measure(case, folder, seconds, rounds)
