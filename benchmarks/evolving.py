"""Practice of an evolving player: the loop of benchmarks.curves with weights that differ from episode to episode."""

import numpy as np

from benchmarks.curves import HERO, Practice
from collectors.perturber import Perturber
from league.ids import derive_seed
from league.per_player import PerPlayer


class EvolvingPractice(Practice):
    """A player in all seats of one role that learns from the returns of perturbed weights."""

    def __post_init__(self):
        super().__post_init__()
        spec, slots = self.env.spec, self.env.slots
        self.perturber = Perturber(spec, slots, self.actors, PerPlayer(self.algo.weight_noise))
        self.perturber.update(HERO, 0, self.algorithm.flat())
        self.recorder.assign(np.arange(slots, dtype=np.int32), [[None] * len(spec.seats)], [slots], 0.0)
        self.numbers = np.tile(self.actor, (slots, 1))
        self.episodes = 0
        self._perturb(range(slots))

    def _perturb(self, slots):
        """Give both signs of the same noise to the next two episodes."""
        for slot in slots:
            for entry in np.unique(self.entry[self.mine]).tolist():
                pair, odd = divmod(self.episodes, 2)
                seed = derive_seed(self.seed, "noise", pair)
                number = self.perturber.perturb(slot, entry, (HERO, 0), seed, -1 if odd else 1)
                self.numbers[slot, self.entry == entry] = number
                self.episodes += 1

    def tick(self):
        rows = self.env.rows()
        acted = self.acting.act(rows, self.numbers[rows.slot, rows.agent])
        self.perturber.decide(rows, self.entry[rows.agent])
        self.earned[rows.slot, rows.agent] += rows.reward
        ends = self.env.step(acted.actions)
        assert not ends.faults, ends.faults
        self.earned[ends.slot, ends.agent] += ends.reward
        self.perturber.end(ends, self.entry[ends.agent])
        if len(ends.over):
            self.perturber.finish(ends.over)
            self.returns += self.earned[ends.over][:, self.mine].mean(axis=1).tolist()
            self.earned[ends.over] = 0
            self._start(ends.over)
            self._perturb(ends.over.tolist())
        return ends.over

    def collect(self):
        while not self.batcher.full:
            self.tick()
            for fitness in self.perturber.take(0.0, 1, 1e9):
                self.batcher.add(fitness, "practice", version=0)
        return self.batcher.take(version=0)

    def update(self):
        metrics = super().update()
        self.perturber.update(HERO, 0, self.versions[0])
        return metrics
