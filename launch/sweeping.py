"""`ludus run -m`: one league for each combination of values, by Hydra's multirun and any of its launchers.

    sweep(["seed=1,2,3", "env=tic_tac_toe", "hydra/launcher=submitit_slurm", "hydra.launcher.timeout_min=60"])

Hydra sees only what is swept, and what is its own. Each of its jobs is a `ludus run` with the other overrides and one
value for each swept key. So a job that is started again goes on with its league.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import product

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from launch.compose import compose, quoted
from launch.config import Config, ConfigError

PLUGIN = "hydra_plugins.hydra_submitit_launcher"
HYDRA = ("hydra.", "hydra/")
INTERRUPTED = 130  # exit code of a league that was told to end, and can go on


def sweep(overrides: Sequence[str], options: Sequence[str] = (), allow: Sequence[str] = ()) -> int:
    """Start a league for each combination of values; each is checked before the first is started."""
    swept, own, common = split(overrides)
    _check_plugin(own)
    if not any(text.startswith("hydra/sweeper=") for text in own):
        configs = [compose([*common, *values], allow) for values in combinations(swept)]
        runs = configs[0].runs
    else:
        runs = Config().runs
    settings = [f"hydra.sweep.dir={runs}/sweeps/${{now:%Y-%m-%d_%H-%M-%S}}", *own]
    words = [*options, *(word for package in allow for word in ("--allow", package)), *common]
    task = partial(play, words=words)
    return _multirun(task, [*settings, *(f"++{text}" for text in swept)])


def split(overrides: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return what is swept, what is Hydra's own, and what all leagues have in common.

    >>> split(["seed=1,2", "hydra/launcher=submitit_slurm", "env=tic_tac_toe"])
    (['seed=1,2'], ['hydra/launcher=submitit_slurm'], ['env=tic_tac_toe'])
    """
    own = [text for text in overrides if text.startswith(HYDRA)]
    rest = [quoted(text) for text in overrides if text not in own]
    swept = [text for text in rest if _parse(text).is_sweep_override()]
    if not swept:
        raise ConfigError("-m sweeps over values, but there is only one of each: write e.g. seed=1,2,3")
    for text in swept:
        if text[0] in "+~":
            raise ConfigError(f"{text!r} cannot be swept: only keys that are there, without {text[0]}")
    return swept, own, [text for text in rest if text not in swept]


def combinations(swept: Sequence[str]) -> Iterator[list[str]]:
    """Yield the overrides of each league.

    >>> list(combinations(["seed=1,2", "algo.lr=0.1"]))
    [['seed=1', 'algo.lr=0.1'], ['seed=2', 'algo.lr=0.1']]
    """
    for values in product(*(list(_values(text)) for text in swept)):
        yield list(values)


def _values(text: str) -> Iterator[str]:
    override = _parse(text)
    if not override.is_sweep_override():
        yield text
        return
    try:
        for value in override.sweep_string_iterator():
            yield f"{override.key_or_group}={value}"
    except HydraException as error:
        raise ConfigError(f"cannot sweep over {text!r}: {' '.join(str(error).split())}") from error


def _parse(text: str) -> Override:
    try:
        return OverridesParser.create().parse_override(text)
    except HydraException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"cannot read {text!r}: write key=value or key=value,value ({reason})") from error


def _check_plugin(own: Sequence[str]) -> None:
    if any(text.startswith("hydra/launcher=submitit") for text in own) and find_spec(PLUGIN) is None:
        raise ConfigError("there is no submitit launcher here: pip install 'ludus[sweep]' brings it")


def _multirun(task: Callable[..., None], overrides: Sequence[str]) -> int:
    """Let Hydra launch its jobs; it reads its overrides from the command line, and from nowhere else."""
    before, sys.argv = sys.argv, ["ludus run", *overrides]
    task.__module__ = __name__  # Hydra asks where a task comes from; a partial does not say
    try:
        hydra.main(version_base="1.3", config_path="pkg://conf", config_name="sweep")(task)()
    finally:
        sys.argv = before
    return 0


# --- in each job ---------------------------------------------------------------------------------------------


def play(_: object, words: Sequence[str]) -> None:
    """Run the league of one job, in a process of its own."""
    mine = [text.removeprefix("++") for text in HydraConfig.get().overrides.task]
    command = [*words, *mine, *named(words, mine)]
    code = finish(start([sys.executable, "-m", "launch", "run", *command]))
    while code == INTERRUPTED and "SLURM_JOB_ID" in os.environ:
        signal.pause()  # Slurm told the league to end. What it preempts it requeues, unless that ends by itself
    if code:
        raise RuntimeError(f"`ludus run {' '.join(command)}` ended with exit code {code}")


def start(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a league that does not hear what Slurm tells submitit by a signal to every process of a job."""
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGUSR1, signal.SIGUSR2))
    try:
        return subprocess.Popen(command)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)


def finish(league: "subprocess.Popen[bytes]") -> int:
    """Wait for its end. If we are interrupted, it writes down what it has, and goes on when it is started again."""
    try:
        return league.wait()
    except KeyboardInterrupt:  # which it heard as well
        league.wait()
        raise
    except BaseException:  # submitit has requeued this job, or given it up, and leaves
        league.send_signal(signal.SIGINT)
        league.wait()
        raise


def named(common: Sequence[str], mine: Sequence[str]) -> list[str]:
    """Return the name of one league, unless the names are what is swept.

    >>> named(["name=try"], ["seed=1", "algo.lr=0.01"])
    ["name='try.seed=1,lr=0.01'"]
    """
    if any(text.startswith("name=") for text in mine):
        return []
    base = next((text.removeprefix("name=") for text in reversed(common) if text.startswith("name=")), Config().name)
    parts = [f"{key.rpartition('.')[2]}={value}" for key, _, value in (text.partition("=") for text in mine)]
    return [f"name='{base}.{re.sub(r'[^A-Za-z0-9_.+=,@-]', '-', ','.join(parts))}'"]
