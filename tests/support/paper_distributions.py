"""Losses over distributions of returns, as slow loops written from their papers."""

import math


def softmax(logits):
    odds = [math.exp(one - max(logits)) for one in logits]
    return [one / sum(odds) for one in odds]


def mean_of_atoms(logits, atoms):
    return sum(chance * atom for chance, atom in zip(softmax(logits), atoms, strict=True))


def categorical_target(reward, discount, chances, atoms):
    """Bellemare et al. 2017, algorithm 1: each atom's return is moved, clipped, and shared by its two neighbours."""
    gap, found = atoms[1] - atoms[0], [0.0] * len(atoms)
    for chance, atom in zip(chances, atoms, strict=True):
        moved = min(max(reward + discount * atom, atoms[0]), atoms[-1])
        place = (moved - atoms[0]) / gap
        low, high = math.floor(place), math.ceil(place)
        if low == high:
            found[low] += chance
            continue
        found[low] += chance * (high - place)
        found[high] += chance * (place - low)
    return found


def cross_entropy(target, logits):
    """The loss of algorithm 1, and the KL divergence by which Rainbow prioritises."""
    chances = softmax(logits)
    loss = -sum(t * math.log(p) for t, p in zip(target, chances, strict=True))
    return loss, loss + sum(t * math.log(t) for t in target if t > 0)


def quantile_huber(quantiles, targets, kappa):
    """Dabney et al. 2018, algorithm 1: the sum over quantiles of the mean over the target's quantiles."""
    total = 0.0
    for i, quantile in enumerate(quantiles):
        tau = (2 * i + 1) / (2 * len(quantiles))
        for target in targets:
            u = target - quantile
            huber = 0.5 * u * u if abs(u) <= kappa else kappa * (abs(u) - 0.5 * kappa)
            total += abs(tau - (1.0 if u < 0 else 0.0)) * huber / kappa / len(targets)
    return total
