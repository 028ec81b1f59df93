"""Losses of actor-critics as slow loops, written from their papers."""

import math

import torch

from league.policies.flat_policy import Observed
from league.segment import CONTINUES, CUT, TERMINATED

ENTROPY = 0.03


LANES, TICKS = 6, 7


class Told:
    """What a network says of the decisions of one lane, one at a time, in Python's numbers."""

    def __init__(self, algorithm, segments, lane):
        self.segments, self.lane = segments, lane
        with torch.no_grad():
            observation = torch.from_numpy(segments.observation[lane, :, 0])
            actions, values = algorithm.policy(Observed(observation), torch.from_numpy(segments.mask[lane, :, 0]))
            tail = torch.from_numpy(segments.tail_observation[lane : lane + 1])
            self.tail = float(algorithm.policy.values(Observed(tail))[0][0])
        self.log_probs, self.values = actions.log_probs.tolist(), values.tolist()
        self.actions = segments.action[lane, :, 0].tolist()
        self.log_prob = [row[action] for row, action in zip(self.log_probs, self.actions, strict=True)]
        self.ratio = [math.exp(new - old) for new, old in zip(self.log_prob, self.decided, strict=True)]
        self.entropy = [-sum(math.exp(p) * p for p in row if p > -1e8) for row in self.log_probs]

    @property
    def decided(self):
        return self.segments.log_prob[self.lane, :, 0].tolist()

    def reward(self, t):
        return float(self.segments.reward[self.lane, t, 0])

    def end(self, t):
        return self.segments.end[self.lane, t, 0]

    def following(self, t, values):
        """What comes after decision t, if these are the values of all of them."""
        return {TERMINATED: 0.0, CUT: self.tail}.get(self.end(t)) if self.end(t) != CONTINUES else values[t + 1]


def n_step(told, gamma):
    """Returns until the end of the episode or of the segment (Mnih et al. 2016, algorithm S3)."""
    returns = [0.0] * TICKS
    for t in range(TICKS):
        total, discount, here = 0.0, 1.0, t
        while True:
            total += discount * told.reward(here)
            discount *= gamma
            if told.end(here) != CONTINUES:
                break
            here += 1
        returns[t] = total + discount * told.following(here, None)
    return returns


def v_trace(told, config, lambda_):
    """Equation 1 of Espeholt et al. 2018, with its lambda of remark 2, and the advantages of section 4.2."""
    rho = [min(config.rho_max, ratio) for ratio in told.ratio]
    c = [lambda_ * min(config.c_max, ratio) for ratio in told.ratio]
    targets = []
    for s in range(TICKS):
        target, weight = told.values[s], 1.0
        for t in range(s, TICKS):
            error = rho[t] * (told.reward(t) + config.gamma * told.following(t, told.values) - told.values[t])
            target += weight * error
            weight *= config.gamma * c[t]
            if told.end(t) != CONTINUES:
                break
        targets.append(target)
    after = [told.following(t, targets) for t in range(TICKS)]
    return targets, [rho[t] * (told.reward(t) + config.gamma * after[t] - told.values[t]) for t in range(TICKS)]


def lambda_return(told, t, gamma, lambda_):
    """Return the lambda-return of decision t: R = r + gamma ((1 - lambda) V' + lambda R') (Sutton and Barto, 12.2)."""
    after = told.following(t, told.values)
    if told.end(t) == CONTINUES:
        after = (1 - lambda_) * after + lambda_ * lambda_return(told, t + 1, gamma, lambda_)
    return told.reward(t) + gamma * after


def upgoing_return(told, t, gamma):
    """Return the upgoing return of decision t (Vinyals et al. 2019, methods), Q being one reward and a value."""
    if told.end(t) != CONTINUES:
        return told.reward(t) + gamma * told.following(t, told.values)
    quality = told.reward(t + 1) + gamma * told.following(t + 1, told.values)
    better = quality >= told.values[t + 1]
    return told.reward(t) + gamma * (upgoing_return(told, t + 1, gamma) if better else told.values[t + 1])


def loss_of(algorithm, segments):
    data = algorithm.prepare(segments)
    actions, values = algorithm.policy(data.seen, data.mask)
    return algorithm.loss(actions, values, data, ENTROPY)[0].detach()


def mean(numbers):
    return sum(numbers) / len(numbers)


def total(policy_terms, errors, lanes, config):
    entropy = mean([h for told in lanes for h in told.entropy])
    return -mean(policy_terms) + config.value_coef * 0.5 * mean(errors) - ENTROPY * entropy


def es_ascent(noise, signs, returns, sigma):
    """The gradient of evolution strategies, one episode and one weight at a time (Salimans et al. 2017, algorithm 1).

    Returns are replaced by their ranks, from -0.5 to 0.5; equal returns share the mean of their ranks.
    """
    count = len(returns)
    total = [0.0] * len(noise[0])
    for episode in range(count):
        below = sum(other < returns[episode] for other in returns)
        equal = sum(other == returns[episode] for other in returns)
        rank = below + (equal - 1) / 2
        utility = rank / (count - 1) - 0.5
        for weight in range(len(total)):
            total[weight] += utility * signs[episode] * noise[episode][weight]
    return [number / (count * sigma) for number in total]
