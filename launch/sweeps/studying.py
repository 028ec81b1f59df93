"""`ludus run -m hydra/sweeper=optuna`: a study. Optuna suggests values, a league tries them, and poor ones end early.

    study(["hydra/sweeper=optuna", "algo.lr=tag(log,interval(1e-4,1e-2))", "algo.epochs=range(1,5)"])

Hydra's own sweeper of this name needs Optuna 2; this one takes the same words (choice, range, interval, tag(log, ...)).
A trial is a `ludus run`. While it plays, its score is read from its ledger, as any viewer does.
"""

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from launch.config.compose import compose
from launch.config.config import Config, ConfigError
from launch.spawn.exit_code import INTERRUPTED, REFUSED
from launch.sweeps.comparing import RETURN, SCORE, figures
from launch.sweeps.run_names import run_names, settings
from launch.sweeps.study_settings import SWEEPER, StudySettings, settings_of_study
from launch.sweeps.study_space import Suggest, spaces_of
from launch.sweeps.study_terms import agree, terms_of
from launch.sweeps.summary import PRUNED, SweptLeague, conclude, exit_file, outcome
from launch.sweeps.sweeping import league_command, new_directory, split, start
from launch.viewers.view import View, open_view
from league.errors import LudusError
from league.ids import derive_seed
from league.store.files import publish
from league.store.run_directory import SWEEPS, RunDirectory

ENDED = "ended"  # mark of a trial whose league has ended, or was ended
JOURNAL = "study.log"  # in the directory of the study: Optuna's journal, lines of JSON

Plan = Callable[[Sequence[str]], tuple[SweptLeague, str]]  # overrides -> their league, and why its config is wrong


def is_study(overrides: Sequence[str]) -> bool:
    """Return whether a sweep is a study.

    >>> is_study(["seed=1,2"]), is_study(["hydra/sweeper=optuna", "algo.lr=interval(0.1,1)"])
    (False, True)
    """
    return SWEEPER in overrides


def study(
    overrides: Sequence[str], options: Sequence[str] = (), allow: Sequence[str] = (), config_dir: Path | None = None
) -> int:
    """Try values until there were enough trials, and compare them; return an exit code as a sweep does."""
    swept, own, common = split(overrides)
    asked = settings_of_study(own)
    if find_spec("optuna") is None:
        raise ConfigError("there is no Optuna here: pip install 'ludus-league[optuna]' brings it")
    spaces = sorted(spaces_of(swept), key=lambda space: space.name)  # names of runs do not depend on their order
    config = compose([*common, *(space.first for space in spaces)], allow, config_dir)
    if config.league.budget.env_steps is None and config.league.budget.minutes is None:
        raise ConfigError("a study compares leagues at equal budgets: give league.budget.env_steps or minutes")
    sweeps = Path(config.runs).resolve() / SWEEPS
    place = sweeps / asked.study_name if asked.study_name else new_directory(sweeps)
    place.mkdir(parents=True, exist_ok=True)
    named = [word for package in allow for word in ("--allow", package)]
    named += ["--config-dir", str(config_dir)] if config_dir else []
    terms = terms_of(asked.direction, asked.objective, spaces, common)

    def planned(mine: Sequence[str]) -> tuple[SweptLeague, str]:
        try:
            return swept_league(compose([*common, *mine], allow, config_dir), mine, place.name), ""
        except ConfigError as error:
            return swept_league(config, mine, place.name), str(error)

    return _Study(asked, place, [*options, *named, *common], terms, planned).run(spaces, options)


def swept_league(config: Config, mine: Sequence[str], study: str) -> SweptLeague:
    """Return the league of a trial; its name has that of the study, as other studies may try the same values."""
    (name,) = run_names([config.name], [[f"study={study}", *mine]])
    told = settings(mine, config.name)
    return SweptLeague(name=name, runs=config.runs, seed=config.seed, settings=told, overrides=tuple(mine))


class _Study:
    """A study under way: trials, the leagues that play them, and Optuna's journal."""

    def __init__(
        self, asked: StudySettings, place: Path, words: Sequence[str], terms: Sequence[str], plan: Plan
    ) -> None:
        self._asked, self._place, self._words, self._plan = asked, place, words, plan
        self._optuna = open_study(asked, place)
        agree(self._optuna, terms)
        self._jobs: dict[str, SweptLeague] = {}

    def run(self, spaces: Sequence[Suggest], options: Sequence[str]) -> int:
        """Play the trials that are left; then conclude."""
        interrupted = False
        try:
            self._go_on(spaces)
            while (number := self._done() + 1) <= self._asked.n_trials:
                self._try(self._optuna.ask(), spaces, number)
        except KeyboardInterrupt:
            interrupted = True
            name = self._place.name
            sys.stderr.write(f"ludus: the same command with hydra.sweeper.study_name={name} goes on with this study\n")
        concluded = conclude(list(self._jobs.values()), self._place, options, self._told()) if self._jobs else 0
        self._say_best()
        return INTERRUPTED if interrupted else concluded

    def _go_on(self, spaces: Sequence[Suggest]) -> None:
        """Remember the leagues of earlier starts, and try again what was interrupted."""
        from optuna.trial import TrialState

        for trial in self._optuna.get_trials(deepcopy=False):
            whole = all(space.name in trial.params for space in spaces)  # else a kill came before its last value
            if whole:
                job, _ = self._plan([space.told(trial.params) for space in spaces])
                self._jobs[job.name] = job
            if trial.state == TrialState.RUNNING:
                self._optuna.tell(trial.number, state=TrialState.FAIL)
                if whole:
                    self._optuna.enqueue_trial(trial.params)

    def _done(self) -> int:
        return sum(ENDED in trial.user_attrs for trial in self._optuna.get_trials(deepcopy=False))

    def _try(self, trial: Any, spaces: Sequence[Suggest], number: int) -> None:
        """Play one trial, and tell Optuna; a league that fails is listed in the end, and the study goes on."""
        from optuna.trial import TrialState

        job, wrong = self._plan([space.suggest(trial) for space in spaces])
        self._jobs[job.name] = job
        sys.stderr.write(f"ludus: trial {number} of {self._asked.n_trials}: {job.name}\n")
        code, file = REFUSED if wrong else self._play(trial, job), exit_file(self._place, job.name)
        publish_code(file, code)
        found = outcome(job, file).figures
        figure = found.get(self._objective(found))
        trial.set_user_attr(ENDED, True)
        if code == PRUNED or figure is None:
            self._optuna.tell(trial, state=TrialState.PRUNED if code == PRUNED else TrialState.FAIL)
        else:
            self._optuna.tell(trial, figure.value)
        said = f"{figure.value:.4g}" if figure else "pruned" if code == PRUNED else self._without(found, wrong)
        sys.stderr.write(f"ludus: trial {number}: {said}\n")

    def _without(self, found: Mapping[str, Any], wrong: str) -> str:
        """Return why a trial has no score."""
        if not found:
            return f"failed: {wrong}" if wrong else "failed"
        return f"no {self._objective(found)}: set hydra.sweeper.objective to one of {', '.join(found)}"

    def _play(self, trial: Any, job: SweptLeague) -> int:
        """Play the league of a trial, and end it early if it does worse than others did by then."""
        league = start(league_command([*self._words, *job.overrides, f"name='{job.name}'"]))
        run, reported = RunDirectory(Path(job.runs) / job.name), -1
        try:
            while True:
                try:
                    return league.wait(self._asked.poll_seconds)
                except subprocess.TimeoutExpired:
                    step, value = self._look(run)
                if value is not None and step > reported:
                    trial.report(value, step)
                    reported = step
                    if trial.should_prune():
                        league.send_signal(signal.SIGINT)
                        league.wait()
                        return PRUNED
        except KeyboardInterrupt:  # which the league got as well
            league.wait()
            raise

    def _look(self, run: RunDirectory) -> tuple[int, float | None]:
        """Return the percentage of the budget that a league has spent, and its score; None: it has none yet."""
        try:
            view = open_view(run)
        except (LudusError, OSError):
            return 0, None  # it has not begun
        found = figures(view.state, None)
        figure = found.get(self._objective(found))
        return spent(view), None if figure is None else figure.value

    def _objective(self, found: Mapping[str, Any]) -> str:
        """Return the name of the figure to optimise: by default the strength of the first main."""
        return self._asked.objective or next(
            (name for name in found if not name.startswith((SCORE, "charts/"))), RETURN
        )

    def _told(self) -> dict[str, Any]:
        trials = self._optuna.get_trials(deepcopy=False)
        done = [trial for trial in trials if trial.state.name == "COMPLETE"]
        return {
            "objective": self._asked.objective or "the strength of the first main",
            "direction": self._optuna.direction.name.lower(),
            "pruned": sum(trial.state.name == "PRUNED" for trial in trials),
            "trials": [
                {"number": t.number, "state": t.state.name.lower(), "value": t.value, **t.params} for t in trials
            ],
            "best": dict(self._optuna.best_trial.params) | {"value": self._optuna.best_value} if done else None,
        }

    def _say_best(self) -> None:
        told = self._told()
        if told["best"] is not None:
            values = " ".join(f"{key}={value}" for key, value in told["best"].items() if key != "value")
            sys.stderr.write(
                f"ludus: best of {len(told['trials'])} trials ({told['pruned']} pruned): {values} "
                f"({told['best']['value']:.4g}). Compare them: ludus compare {self._place}\n"
            )


def open_study(asked: StudySettings, place: Path) -> Any:
    """Return Optuna's study in a directory: a new one, or that of an earlier start."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = JournalStorage(JournalFileBackend(str(place / JOURNAL)))
    pruner: optuna.pruners.BasePruner = optuna.pruners.NopPruner()
    if asked.pruner == "median":
        pruner = optuna.pruners.MedianPruner(asked.n_startup_trials, asked.warmup)
    found = optuna.create_study(
        storage=storage, study_name=place.name, pruner=pruner, direction=asked.direction, load_if_exists=True
    )
    # With the same seed again a study that goes on would suggest what it tried first.
    seed = derive_seed(asked.seed, "study", len(found.get_trials(deepcopy=False))) % (1 << 32)
    found.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=asked.n_startup_trials)
    return found


def publish_code(file: Path, code: int) -> None:
    """Write the exit code of a league where the summary looks for it."""
    file.parent.mkdir(exist_ok=True)
    publish(file, f"{code}\n".encode())


def spent(view: View) -> int:
    """Return the percentage of its budget that a league has spent."""
    budget = view.state.config.budget
    shares = [view.state.env_steps / budget.env_steps] if budget.env_steps else []
    shares += [view.elapsed / (60 * budget.minutes)] if budget.minutes else []
    return min(100, int(100 * max(shares, default=0.0)))
