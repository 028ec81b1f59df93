"""`ludus run -m`: one league for each combination of values, by Hydra's multirun and any of its launchers.

    sweep(["league=selfplay,pfsp", "seed=1,2,3", "hydra/launcher=submitit_slurm", "hydra.launcher.timeout_min=60"])

Hydra sees only the names of the leagues and its own settings: a group that is swept it would look up in its own config.
Each of its jobs is a `ludus run`, so a job that is started again goes on with its league. At the end runs are compared.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import count, product
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from launch.config.compose import compose, quoted
from launch.config.config import Config, ConfigError
from launch.config.groups import CONF
from launch.spawn.exit_code import FAILED, INTERRUPTED
from launch.spawn.interpreter import SAFE, environment, import_paths
from launch.sweeps.run_names import run_names, settings
from launch.sweeps.summary import SweptLeague, conclude, exit_file
from league.store.run_directory import SWEEPS

PLUGIN = "hydra_plugins.hydra_submitit_launcher"
HYDRA = ("hydra.", "hydra/")
LEAGUE = "ludus.league"  # the key that Hydra sweeps; with a dot it cannot be the name of a group
# The path is ours: what this process can import, a league can, and nothing else.
BEGIN = "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); from launch.cli import main; sys.exit(main())"


def sweep(
    overrides: Sequence[str],
    options: Sequence[str] = (),
    allow: Sequence[str] = (),
    config_dir: Path | None = None,
) -> int:
    """Start a league for each combination of values, and compare them; each is checked before the first is started.

    Return 0 if none failed: a league that fails is listed in the end, and the others go on.
    """
    swept, own, common = split(overrides)
    _check_own(own)
    jobs = plan(swept, common, allow, config_dir)
    place = new_directory(Path(jobs[0].runs).resolve() / SWEEPS)
    named = [("--allow", package) for package in allow] + ([("--config-dir", str(config_dir))] if config_dir else [])
    words = [*options, *(word for pair in named for word in pair), *common]
    commands = {job.name: [*words, *job.overrides, f"name='{job.name}'"] for job in jobs}
    code = _multirun(partial(play, commands=commands, place=place), place, own, list(commands))
    concluded = conclude(jobs, place, options)
    return code or concluded


def new_directory(sweeps: Path) -> Path:
    """Make the directory of this sweep, named after the time; another sweep may have begun in the same second."""
    for number in count(1):
        place = sweeps / (time.strftime("%Y-%m-%d_%H-%M-%S") + (f"-{number}" if number > 1 else ""))
        try:
            place.mkdir(parents=True)
            break
        except FileExistsError:
            continue
    return place


def rehearsed(overrides: Sequence[str], allow: Sequence[str] = (), config_dir: Path | None = None) -> list[Config]:
    """Return the configs of all leagues that a sweep would start."""
    swept, own, common = split(overrides)
    _check_own(own)
    jobs = plan(swept, common, allow, config_dir)
    return [compose([*common, *job.overrides, f"name='{job.name}'"], allow, config_dir) for job in jobs]


def plan(
    swept: Sequence[str], common: Sequence[str], allow: Sequence[str] = (), config_dir: Path | None = None
) -> list[SweptLeague]:
    """Return the league of each combination, with a name of its own; raise ConfigError if a config is wrong."""
    several = list(dict.fromkeys(tuple(mine) for mine in combinations(swept)))
    configs = [compose([*common, *mine], allow, config_dir) for mine in several]
    names = run_names([config.name for config in configs], several)
    return [
        SweptLeague(name=name, runs=config.runs, seed=config.seed, settings=settings(mine, config.name), overrides=mine)
        for name, config, mine in zip(names, configs, several, strict=True)
    ]


def split(overrides: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Split overrides into those that are swept, those of Hydra itself, and those that all leagues share.

    >>> split(["seed=1,2", "hydra/launcher=submitit_slurm", "env=tic_tac_toe"])
    (['seed=1,2'], ['hydra/launcher=submitit_slurm'], ['env=tic_tac_toe'])
    """
    own = [text for text in overrides if text.startswith(HYDRA)]
    rest = [quoted(text) for text in overrides if text not in own]
    swept = [text for text in rest if parse_override(text).is_sweep_override()]
    if not swept:
        raise ConfigError("-m sweeps over values, but there is only one of each: write e.g. seed=1,2,3")
    return swept, own, [text for text in rest if text not in swept]


def combinations(swept: Sequence[str]) -> Iterator[list[str]]:
    """Yield the overrides of each league.

    >>> list(combinations(["seed=1,2", "algo.lr=0.1"]))
    [['seed=1', 'algo.lr=0.1'], ['seed=2', 'algo.lr=0.1']]
    """
    for values in product(*(list(override_values(text)) for text in swept)):
        yield list(values)


def override_values(text: str) -> Iterator[str]:
    """Yield an override with each of its values."""
    override = parse_override(text)
    if not override.is_sweep_override():
        yield text
        return
    try:
        for value in override.sweep_string_iterator():
            yield f"{text[: len(text) - len(text.lstrip('+'))]}{override.key_or_group}={value}"
    except HydraException as error:
        raise ConfigError(f"cannot sweep over {text!r}: {' '.join(str(error).split())}") from error


def parse_override(text: str) -> Override:
    """Return an override as Hydra reads it; raise ConfigError if it cannot."""
    try:
        return OverridesParser.create().parse_override(text)
    except HydraException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"cannot read {text!r}: write key=value or key=value,value ({reason})") from error


def _check_own(own: Sequence[str]) -> None:
    if any(text.startswith("hydra/launcher=submitit") for text in own) and find_spec(PLUGIN) is None:
        raise ConfigError("there is no submitit launcher here: pip install 'ludus-league[sweep]' brings it")
    if any(text.startswith("hydra/sweeper=") for text in own):
        raise ConfigError(
            "hydra/sweeper: a sweep plays every combination of the values that you name; leave it out, or let "
            "hydra/sweeper=optuna suggest values"
        )


def _multirun(task: Callable[..., None], place: Path, own: Sequence[str], names: Sequence[str]) -> int:
    """Let Hydra launch its jobs, and return an exit code; it reads overrides only from the command line."""
    several = ",".join(f"'{name}'" for name in names)
    overrides = [f"hydra.sweep.dir={_quoted(str(place))}", *own, f"++{LEAGUE}={several}"]
    before, sys.argv = sys.argv, ["ludus run", *overrides]
    os.environ[SAFE] = "1"  # for the jobs of a launcher, which start Python by themselves
    task.__module__ = __name__  # Hydra reads it, and a partial has none
    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name="sweep")(task)()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:  # Hydra has printed why; the leagues that ran are compared anyway
        return FAILED
    finally:
        sys.argv = before
        GlobalHydra.instance().clear()
    return 0


def _quoted(text: str) -> str:
    """Return a text as a value of Hydra that is taken as it is."""
    escaped = text.replace("'", "\\'")
    return f"'{escaped}'"


# --- in each job ---------------------------------------------------------------------------------------------


def play(config: Mapping[str, Mapping[str, str]], commands: Mapping[str, Sequence[str]], place: Path) -> None:
    """Run the league of one job, in a process of its own, and record its exit code."""
    name = config["ludus"]["league"]
    sys.stderr.write(f"ludus: league {HydraConfig.get().job.num + 1} of {len(commands)}: {name}\n")
    command = league_command(commands[name])
    file = exit_file(place, name)
    file.parent.mkdir(exist_ok=True)
    try:
        code = finish(start(command))
    except KeyboardInterrupt:
        file.write_text(f"{INTERRUPTED}\n")
        raise
    file.write_text(f"{code}\n")
    while code == INTERRUPTED and "SLURM_JOB_ID" in os.environ:
        signal.pause()  # Slurm stopped the league. It requeues a preempted job, unless that ends by itself


def league_command(words: Sequence[str]) -> list[str]:
    """Return what starts a league in a process of its own."""
    return [sys.executable, "-P", "-c", BEGIN, "\n".join(import_paths()), "run", *words]


def start(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a league that ignores the signal by which Slurm notifies submitit: it reaches every process of a job."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGUSR1, signal.SIGUSR2))
    try:
        return subprocess.Popen(command, env=environment())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def finish(league: "subprocess.Popen[bytes]") -> int:
    """Wait for its end. If we are interrupted, it writes its checkpoints, and goes on when it is started again.

    SIGTERM ends a league that does not listen yet, or no longer: Slurm preempts jobs at any time.
    """
    try:
        code = league.wait()
        return INTERRUPTED if code == -signal.SIGTERM else code
    except KeyboardInterrupt:  # which it got as well
        league.wait()
        raise
    except BaseException:  # submitit has requeued this job, or given it up, and leaves
        league.send_signal(signal.SIGINT)
        league.wait()
        raise
