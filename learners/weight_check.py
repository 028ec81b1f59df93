"""The check of new weights: those out of bounds are never published.

check = WeightCheck(policy, spec, config)
check.sample_observations(batch)            # to try weights on
why = check.fault(new, before)              # empty: publish; else roll back to the last good weights

Algorithms check that their numbers are finite. This check is the same for every algorithm, and also finds weights that
are finite but absurd: after one step with a learning rate of 1e12 a network gives numbers, and plays nonsense.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from league.policies.layout import LARGEST, FloatArray, PolicyConfig, describe
from league.policies.network_actor import Bystanders, HasValues, make_actor
from league.segment import Segments
from league.spec import EnvSpec
from learners.batcher import Batch
from learners.config import LearnerConfig

ROWS = 16  # observations of the last batch that weights are tried on
GUARD = "guard divisions, logarithms, and softmax over nothing"  # as the rehearsal before a league advises


@dataclass(slots=True)
class WeightCheck:
    """Checks the weights of one player before they are published."""

    policy: PolicyConfig
    spec: EnvSpec
    config: LearnerConfig = field(default_factory=LearnerConfig)
    _seen: npt.NDArray[Any] | None = None

    def sample_observations(self, batch: Batch) -> None:
        """Take observations from a batch. With a buffer process there is none: then zeros and ones are used."""
        if not isinstance(batch.data, Segments):
            return  # of an evolving player no observation travels
        segments = batch.segments
        self._seen = segments.observation[segments.present][:ROWS]

    def fault(self, flat: FloatArray, before: FloatArray) -> str:
        """Return why weights must not follow those of the last good version; empty if they may."""
        largest, allowed = self._largest(flat), self.config.max_weight
        if not largest <= allowed:
            return f"the largest weight is {largest:.2g}, and learner.max_weight={allowed:g}"
        allowed = self.config.max_growth * max(1.0, self._largest(before))
        if not largest <= allowed:
            return f"the largest weight is {largest:.2g}, and learner.max_growth allows {allowed:.2g} in this version"
        output = self._largest_output(flat)
        if not output < LARGEST:
            return f"its network gives {output:.2g} for a recent observation"
        return ""

    def network_fault(self, flat: FloatArray, batch: Batch) -> str:
        """Return that the network itself fails on observations of a batch, though its weights are good; else ""."""
        if not isinstance(batch.data, Segments):
            return ""
        segments = batch.segments
        seen, mask = segments.observation[segments.present], segments.mask[segments.present]
        actor, place, beside = make_actor(self.policy, self.spec, flat), np.zeros(len(seen), np.intp), Bystanders(mask)
        with np.errstate(all="ignore"):
            found = {"outputs": actor.outputs(seen, place, None, beside)}
            if isinstance(actor, HasValues):
                found["value"] = actor.values(seen, place, None, beside)[:, None]
        for name, numbers in found.items():
            if wrong := int((~np.isfinite(numbers)).any(axis=1).sum()):
                return (
                    f"the network {self.policy.name} returns NaN or infinity in `{name}` for {wrong:,} of "
                    f"{len(seen):,} observations of this game, with finite weights: {GUARD}"
                )
        return ""

    def _largest(self, flat: FloatArray) -> float:
        """Return the largest absolute trained weight; NaN if any is NaN."""
        layout = describe(self.policy, self.spec)
        trained = [view for name, view in layout.views(flat).items() if name not in layout.untrained]
        return float(np.max([np.abs(view).max(initial=0) for view in trained]))

    def _largest_output(self, flat: FloatArray) -> float:
        seen = self._seen
        if seen is None or not len(seen):
            shape = (1, *self.spec.observation.shape)
            seen = np.concatenate([np.zeros(shape), np.ones(shape)]).astype(self.spec.observation.dtype)
        with np.errstate(all="ignore"):
            outputs = make_actor(self.policy, self.spec, flat).outputs(seen)
        return float(np.abs(outputs).max(initial=0))
