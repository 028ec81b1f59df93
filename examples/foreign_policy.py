"""Weights of another project as a player: `python examples/foreign_policy.py my_weights.npz`.

A player needs a class with `act(observation, mask, rng)`, and nothing else. Here it is a small network with tanh
layers, kept in a .npz file with the arrays w0, b0, w1, b1 and so on, as many a project writes it. Name the class in a
league, and its rating is measured like any other's:

    FOREIGN_WEIGHTS=my_weights.npz ludus run name=foreign --allow foreign_policy \
        '+league.players.stranger={kind: scripted, bot: "foreign_policy:ForeignPolicy"}'
"""

import os
import sys
from itertools import pairwise

import numpy as np


class ForeignPolicy:
    """A network of another project. What it needs to know of the game, it must be told here."""

    def __init__(self, spec, path=None):
        path = path or os.environ.get("FOREIGN_WEIGHTS", "foreign_weights.npz")
        with np.load(path, allow_pickle=False) as arrays:  # never read pickles of strangers
            layers = sum(name.startswith("w") for name in arrays)
            self._layers = [(arrays[f"w{i}"], arrays[f"b{i}"]) for i in range(layers)]
        seen, chosen = self._layers[0][0].shape[0], self._layers[-1][0].shape[1]
        if (seen, chosen) != (spec.observation.size, spec.actions):
            raise ValueError(
                f"the weights in {path} go from {seen} numbers to {chosen} actions, but {spec.name} has "
                f"{spec.observation.size} and {spec.actions}"
            )

    def act(self, observation, mask, rng):
        """Return an action for each row, drawn by its probability, and the logarithm of that."""
        x = self.translate(observation)
        for number, (weights, bias) in enumerate(self._layers):
            x = x @ weights + bias
            if number + 1 < len(self._layers):
                x = np.tanh(x)
        logits = np.where(mask, x, -np.inf)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        actions = (log_probs + rng.gumbel(size=log_probs.shape)).argmax(axis=1)
        return actions.astype(np.int32), log_probs[np.arange(len(actions)), actions].astype(np.float32)

    def translate(self, observation):
        """Return what the network expects to see. Other projects order planes otherwise: change it here."""
        return observation.reshape(len(observation), -1).astype(np.float32)


def main(path):
    """Make weights, as the other project would have, and let them play a short league."""
    import ludus

    rng = np.random.default_rng(0)
    sizes = [3 * 3 * 2, 32, 9]  # tic-tac-toe
    shapes = list(pairwise(sizes))
    layers = {f"w{i}": rng.normal(0, 0.3, shape).astype(np.float32) for i, shape in enumerate(shapes)}
    layers |= {f"b{i}": np.zeros(shape[1], np.float32) for i, shape in enumerate(shapes)}
    np.savez(path, **layers)
    os.environ["FOREIGN_WEIGHTS"] = path
    stranger = "+league.players.stranger={kind: scripted, bot: 'foreign_policy:ForeignPolicy'}"
    quick = ["launch=inline", "league.budget.env_steps=20_000", "league.evaluation.final_games=50"]
    league = ludus.run(["env=tic_tac_toe", "name=foreign", "league=pfsp", stranger, *quick], allow=["foreign_policy"])
    for row in league.standings():
        print(row.place, row.player, row.rating)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "foreign_weights.npz")
