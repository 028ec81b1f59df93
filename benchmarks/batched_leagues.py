"""(r) Leagues on a batched simulator, Pgx, beside leagues on the same game of PettingZoo or OpenSpiel.

Both leagues of a pair have the same settings, and take turns: one is stopped while the other plays. The learner must
keep up with the faster game, so the settings are those that docs/batched-simulators.md recommends: larger batches, and
two passes of PPO. `ppo_default` is PPO as it is, where the learner is the limit.

python -m benchmarks --only r --rounds 4                                # both games, IMPALA and PPO
python -m benchmarks.batched_leagues othello --settings ppo_default --rounds 4
"""

import argparse
import os
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.children import ONE_THREAD, go_on

os.environ.update(ONE_THREAD)  # before anything imports numpy

from benchmarks.measure import Verdict, alternate, by_wall, paired, summarise
from benchmarks.whole import DROPPED, Case, League, configure
from collectors.envs.config import EnvConfig
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import Supervisor
from launch.topology.endpoints import Endpoints
from launch.topology.parts import topology
from launch.viewers.view import Viewer
from league.promotion import PromotionConfig
from league.store.run_directory import RunDirectory
from league.wire.sockets import PAGE_LIMIT
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo_config import PPOConfig

SLOTS, TIMES = 256, 3.0
SETTINGS = {
    "impala": IMPALAConfig(batch=4096, minibatch=4096),
    "impala_default": IMPALAConfig(),
    "ppo": PPOConfig(batch=8192, minibatch=2048, epochs=2),
    "ppo_default": PPOConfig(),
}
USUAL = ("impala", "ppo")


@dataclass(frozen=True, slots=True)
class Pair:
    """The same game in a batched simulator and one by one."""

    batched: str
    env: EnvConfig


PAIRS = (
    Pair("go_9x9", EnvConfig(name="pettingzoo", id="classic/go_v5", kwargs={"board_size": 9})),
    Pair("othello", EnvConfig(name="openspiel", id="othello")),
)


def leagues(pair: Pair, setting: str, folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure two leagues of one collector each, in turns."""
    envs = (pair.env, EnvConfig(name="pgx", id=pair.batched))
    with ExitStack() as stack:
        both, viewers, supervisors = [], [], []
        for env in envs:
            case = Case(f"r: {setting} league on {env.name}", env, 1, SLOTS)
            usual = configure(case)
            league = replace(usual.league, promotion=PromotionConfig())  # early freezes: more players the faster it is
            config = replace(usual, league=league, algo=asdict(SETTINGS[setting]))
            run = RunDirectory(folder / f"{pair.batched}-{setting}-{env.name}").create()
            run.write_config(to_plain(config))
            describe_environment(config, run, ())
            doors = stack.enter_context(Endpoints(run, "viewer", config.launch.transport, PAGE_LIMIT))
            supervisors.append(stack.enter_context(Supervisor(run, topology(config))))
            viewers.append(Viewer(doors.replica(), config.league))
            both.append(League(supervisors[-1], viewers[-1]))
            both[-1].warm_up()
        slices = alternate(both[0].measure, both[1].measure, seconds, rounds)
        for supervisor in supervisors:
            go_on(supervisor.alive())
    trained = [_training_of_main(viewer) for viewer in viewers]
    for env, found, more in zip(envs, slices, trained, strict=True):
        summarise(f"r: {setting} league on {env.name} {env.id}", found, **more)
    kept = (1 - trained[1]["main_dropped"]) / (1 - trained[0]["main_dropped"])
    name, ratios = f"r: {setting} league on pgx {pair.batched}, times {pair.env.name}", paired(*slices, by_wall)
    return [
        Verdict.of(f"{name}, env steps/s", ratios, TIMES),
        Verdict.of(f"{name}, env steps/s not dropped", [kept * ratio for ratio in ratios], TIMES),
    ]


def _training_of_main(viewer: Viewer) -> dict[str, float]:
    """Return what share of its decisions came too late since the league began, and how fast its updates were.

    Slices are too short for that: a batch takes seconds on a slow game.
    """
    told = [worker.metrics for worker in viewer.workers if "player/main/cpu_seconds" in worker.metrics]
    metrics = {name.removeprefix("player/main/"): value for one in told for name, value in one.items()}
    decisions, dropped = metrics["decisions"], sum(metrics[name] for name in DROPPED)
    return {
        "main_dropped": dropped / max(decisions + dropped, 1.0),
        "main_decisions_per_cpu_second_of_updates": decisions / max(metrics["cpu_seconds"], 1e-9),
    }


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure both games with the settings that are recommended."""
    return [
        verdict for pair in PAIRS for setting in USUAL for verdict in leagues(pair, setting, folder, seconds, rounds)
    ]


def main() -> None:
    """Measure some of it: the whole takes minutes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batched_leagues", description=__doc__)
    parser.add_argument("games", nargs="+", help=f"of {', '.join(pair.batched for pair in PAIRS)}")
    parser.add_argument("--settings", nargs="+", default=USUAL, choices=SETTINGS, help="of the algorithm")
    parser.add_argument("--seconds", type=float, default=0.7, help="a fourth of the length of a slice")
    parser.add_argument("--rounds", type=int, default=4, help="slices of each subject")
    given = parser.parse_args()
    Path("runs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir="runs") as folder:
        for pair in PAIRS:
            for setting in given.settings if pair.batched in given.games else ():
                for verdict in leagues(pair, setting, Path(folder), given.seconds, given.rounds):
                    verdict.tell()


if __name__ == "__main__":
    main()
