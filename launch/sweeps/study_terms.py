"""The terms of a study: what all of its trials have in common, so that the best of them is the best.

terms = terms_of(asked.direction, asked.objective, spaces, common)     # algo.epochs=1,2  league.budget.env_steps=500
agree(optuna_study, terms)         # notes them with a new study, and refuses to go on with one that had others
"""

from collections.abc import Sequence
from typing import Any

from launch.config.config import ConfigError
from launch.sweeps.study_settings import PREFIX
from launch.sweeps.study_space import Suggest

TERMS = "terms"  # what Optuna's journal calls them
LOOKING_ON = ("track", "dashboard")  # settings that change no result


def terms_of(direction: str, objective: str, spaces: Sequence[Suggest], common: Sequence[str]) -> list[str]:
    """Return the terms as words of a command line, in an order that does not depend on that of the command.

    >>> terms_of("maximize", "", [Suggest("algo.epochs", ("1", "2"))], ["env=tic_tac_toe", "dashboard=true"])
    ['algo.epochs=1,2', 'env=tic_tac_toe', 'hydra.sweeper.direction=maximize']
    """
    goal = [f"{PREFIX}direction={direction}", *([f"{PREFIX}objective={objective}"] if objective else [])]
    shared = [word for word in common if word.lstrip("+~").partition("=")[0].partition(".")[0] not in LOOKING_ON]
    return sorted([*goal, *(space.word for space in spaces), *shared])


def agree(study: Any, terms: Sequence[str]) -> None:
    """Note the terms with a study that is new; raise ConfigError if it was begun with others."""
    begun = study.user_attrs.get(TERMS)
    if begun is None and not study.get_trials(deepcopy=False):
        study.set_user_attr(TERMS, list(terms))
        return
    remedy = f"choose another {PREFIX}study_name"
    if begun is None:
        raise ConfigError(f"the study {study.study_name} does not say what it is of, an older Ludus began it: {remedy}")
    then, now = [word for word in begun if word not in terms], [word for word in terms if word not in begun]
    said = [f"{how} {' '.join(words)}" for how, words in (("with", then), ("without", now)) if words]
    if said:
        raise ConfigError(
            f"the study {study.study_name} was begun {' and '.join(said)}: trials of both do not compare. "
            f"Use the same words again, or {remedy}"
        )
