"""DAgger (Ross, Gordon and Bagnell 2011): imitation where the player itself goes, and not only where an expert would.

A clone that errs gets into positions that its data set lacks, and errs again. Here the player acts, an expert says what
it would have done at each of these decisions, and the player learns from all that was said so far, with the loss of
behaviour cloning. A data set of games (`algo.data`), the paper's first round in which the expert acts, may come first.

Legend of shapes: see learners.decisions.
"""

from collections.abc import Callable

import numpy as np

from league.metrics import ROLLBACKS
from league.policies.layout import FloatArray, PolicyConfig
from league.segment import not_finite
from league.spec import EnvSpec
from learners.algorithms.algorithm import nothing
from learners.algorithms.bc import BC
from learners.algorithms.dagger_config import DAggerConfig
from learners.batcher import Batch
from learners.distributed import ALONE, Group
from learners.expert import Expert
from learners.lessons import Lessons, relabelled


class DAgger(BC):
    """Imitates an expert on its own games."""

    config: DAggerConfig

    def __init__(
        self,
        config: DAggerConfig,
        policy: PolicyConfig,
        spec: EnvSpec,
        flat: FloatArray,
        group: Group = ALONE,
        *,
        expert: Expert,
    ) -> None:
        super().__init__(config, policy, spec, flat, group)
        self._expert = expert
        self._data = self._lessons.newest  # the data set, if there is one

    @property
    def _capacity(self) -> int:
        return -(-self.config.capacity // self._group.size)

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Let the expert label the batch, and learn from a sample of all lessons; a rollback forgets all labels."""
        segments = batch.segments
        wrong = not_finite(segments.arrays())
        if self._group.total(bool(wrong)):
            self.trouble = ", ".join(wrong) or "another rank"
            return {ROLLBACKS: 1.0}
        self._lessons.add(relabelled(segments, self._expert.label(segments, rng)))
        metrics = super().update(batch, rng, between)
        if metrics[ROLLBACKS]:
            self._lessons = Lessons(self._capacity)
            if self._data is not None:
                self._lessons.add(self._data)
        return metrics
