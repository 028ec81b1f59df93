"""Losses of off-policy actor-critics as slow loops, written from their papers; networks and minibatches for them."""

import math

import numpy as np
import torch

from league.policies.flat_policy import Observed
from league.policies.layout import PolicyConfig, initial
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.values import Minibatch

DECISIONS, INPUTS = 7, 3
REACH = EnvSpec("reach", ("a",), (Seat((0,)),), Array((INPUTS,), "float32"), actions=0, continuous=2)
CHOICE = EnvSpec("choice", ("a",), (Seat((0,)),), Array((INPUTS,), "float32"), actions=4)


def policy_for(config):
    deviation = "state" if config.head == "logits" else "constant"
    return PolicyConfig(hidden=[8], activation="relu", critic="none", head=config.head, deviation=deviation)


def small(config, spec, seed=0):
    """Return an algorithm whose networks and target networks all differ."""
    policy = policy_for(config)
    algorithm = make_algorithm(config, policy, spec, initial(policy, spec, seed))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in [*algorithm.network.parameters(), *algorithm.target.parameters()]:
            parameter += 0.4 * torch.randn(parameter.shape, generator=generator)
    return algorithm


def decisions(spec, seed=0):
    """Return a minibatch: some episodes end, some decisions weigh less, some options are illegal."""
    rng = np.random.default_rng(seed)

    def seen():
        mask = rng.random((DECISIONS, spec.actions)) < 0.5
        if spec.actions:
            mask[np.arange(DECISIONS), rng.integers(0, spec.actions, DECISIONS)] = True
        observation = rng.standard_normal((DECISIONS, INPUTS)).astype(np.float32)
        place = np.zeros(DECISIONS, np.int16)
        parts = {"observation": observation, "mask": mask, "place": place}
        return {name: torch.from_numpy(array) for name, array in parts.items()}

    before, after = seen(), seen()
    action = torch.from_numpy(rng.uniform(-1, 1, (DECISIONS, spec.continuous)).astype(np.float32))
    if spec.single:
        action = before["mask"].float().multinomial(1, generator=torch.Generator().manual_seed(seed))[:, 0]
    numbers = rng.standard_normal(DECISIONS), np.array([0.9, 0, 0.9, 0.81, 0.9, 0, 0.9]), rng.uniform(0.2, 1, DECISIONS)
    reward, discount, weight = (torch.from_numpy(number.astype(np.float32)) for number in numbers)
    return Minibatch(before, action, reward, discount, after, weight)


class OneByOne:
    """What the networks say of one decision, in Python's numbers."""

    def __init__(self, algorithm, seen, i):
        self.algorithm = algorithm
        self.seen = Observed(seen["observation"][i : i + 1])
        self.mask = seen["mask"][i].tolist()

    def critics(self, action=None, target=False):
        network = self.algorithm.target if target else self.algorithm.network
        inputs = () if action is None else (torch.tensor([action]),)
        with torch.no_grad():
            found = network.critics(self.seen, *inputs)[:, 0]
        return found.tolist() if action is None else [values[0] for values in found.tolist()]

    def outputs(self, target=False):
        network = self.algorithm.target if target else self.algorithm.network
        with torch.no_grad():
            return network.policy.outputs(self.seen)[0][0].tolist()

    def sampled(self, noise):
        """An action of a squashed Gaussian and its log density (Haarnoja et al. 2018, appendix C)."""
        outputs = self.outputs()
        mean, log_std = outputs[: len(noise)], [min(2.0, max(-5.0, one)) for one in outputs[len(noise) :]]
        action, density = [], 0.0
        for mu, log_sigma, xi in zip(mean, log_std, noise, strict=True):
            u = mu + math.exp(log_sigma) * xi
            gaussian = math.exp(-0.5 * xi**2) / (math.exp(log_sigma) * math.sqrt(2 * math.pi))
            action.append(math.tanh(u))
            density += math.log(gaussian) - math.log(1 - math.tanh(u) ** 2)
        return action, density

    def chances(self):
        """The probability of each option: a softmax over the legal ones."""
        logits = self.outputs()
        weights = [math.exp(logit) if legal else 0.0 for logit, legal in zip(logits, self.mask, strict=True)]
        return [weight / sum(weights) for weight in weights]


def each(algorithm, data):
    """Yield decisions one by one, with what follows them."""
    for i in range(DECISIONS):
        numbers = [float(field[i]) for field in (data.reward, data.discount, data.weight)]
        yield OneByOne(algorithm, data.seen, i), OneByOne(algorithm, data.after, i), data.action[i].tolist(), *numbers


def mean(numbers):
    return sum(numbers) / len(numbers)


def tanh(outputs):
    return [math.tanh(output) for output in outputs]


def ddpg(algorithm, data):
    """Algorithm 1 of Lillicrap et al. 2016, with half of the squared error."""
    critic, policy = [], []
    for now, after, action, reward, discount, weight in each(algorithm, data):
        target = reward + discount * after.critics(tanh(after.outputs(target=True)), target=True)[0]
        critic.append(weight * 0.5 * (now.critics(action)[0] - target) ** 2)
        policy.append(-now.critics(tanh(now.outputs()))[0])
    return mean(critic), mean(policy)


def td3(algorithm, data, noise):
    """Algorithm 1 of Fujimoto et al. 2018, with half of the squared errors."""
    config, critic, policy = algorithm.config, [], []
    for (now, after, action, reward, discount, weight), xi in zip(each(algorithm, data), noise, strict=True):
        smoothed = []
        for mu, drawn in zip(tanh(after.outputs(target=True)), xi, strict=True):
            epsilon = min(config.smoothing_most, max(-config.smoothing_most, config.smoothing * drawn))
            smoothed.append(min(1.0, max(-1.0, mu + epsilon)))
        target = reward + discount * min(after.critics(smoothed, target=True))
        critic.append(weight * sum(0.5 * (value - target) ** 2 for value in now.critics(action)))
        policy.append(-now.critics(tanh(now.outputs()))[0])
    return mean(critic), mean(policy)


def sac(algorithm, data, noise_after, noise_now, temperature):
    """Equations 5, 9 and 18 of Haarnoja et al. 2018 (applications): losses of critics and policy, mean entropy."""
    critic, policy, entropy = [], [], []
    rows = zip(each(algorithm, data), noise_after, noise_now, strict=True)
    for (now, after, action, reward, discount, weight), xi_after, xi in rows:
        following, log_prob = after.sampled(xi_after)
        target = reward + discount * (min(after.critics(following, target=True)) - temperature * log_prob)
        critic.append(weight * sum(0.5 * (value - target) ** 2 for value in now.critics(action)))
        sampled, log_prob = now.sampled(xi)
        policy.append(temperature * log_prob - min(now.critics(sampled)))
        entropy.append(-log_prob)
    return mean(critic), mean(policy), mean(entropy)


def discrete_sac(algorithm, data, temperature, share):
    """Equations 10 to 12 of Christodoulou 2019, over legal options: as `sac`, and the mean entropy that is aimed at."""
    critic, policy, entropy, aim = [], [], [], []
    for now, after, action, reward, discount, weight in each(algorithm, data):
        judged, value = after.critics(target=True), 0.0
        for option, chance in enumerate(after.chances()):
            if chance:
                value += chance * (min(values[option] for values in judged) - temperature * math.log(chance))
        target = reward + discount * value
        values, loss, bits = now.critics(), 0.0, 0.0
        critic.append(weight * sum(0.5 * (each_one[action] - target) ** 2 for each_one in values))
        for option, chance in enumerate(now.chances()):
            if chance:
                loss += chance * (temperature * math.log(chance) - min(one[option] for one in values))
                bits -= chance * math.log(chance)
        policy.append(loss)
        entropy.append(bits)
        aim.append(share * math.log(sum(now.mask)))
    return mean(critic), mean(policy), mean(entropy), mean(aim)
