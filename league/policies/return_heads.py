"""Networks that output distributions of returns: what an option is worth is the mean of its distribution. No torch.

With `policy.head=atoms` (Bellemare et al. 2017) an option has a logit for each of some fixed returns, with
`policy.head=quantiles` (Dabney et al. 2018) its outputs are returns that are equally likely, counted from the middle of
`policy.support` in units of half its width: 0 is the middle, 1 its upper end, and they may leave it. With
`policy.duelling` the value head has a distribution of the state, to which each option adds its advantage (Wang et al.
2016); here the mean that is subtracted is that over all options, legal or not, so that no mask is needed.

The twin in torch is league.policies.torch_return_heads.
"""

import numpy as np

from league.policies.layout import FloatArray, PolicyConfig


def atom_returns(config: PolicyConfig) -> FloatArray:
    """Return the returns that atoms stand for.

    >>> atom_returns(PolicyConfig(head="atoms", atoms=3, support=[-1, 1])).tolist()
    [-1.0, 0.0, 1.0]
    """
    low, high = config.support
    returns: FloatArray = np.linspace(low, high, config.atoms, dtype=np.float32)
    return returns


def middle_and_unit(config: PolicyConfig) -> tuple[float, float]:
    """Return which return an output of 0 of the quantiles head means, and by how much an output of 1 exceeds it.

    >>> middle_and_unit(PolicyConfig(head="quantiles", support=[0, 100]))
    (50.0, 50.0)
    """
    low, high = config.support
    return (low + high) / 2, (high - low) / 2


def expected_returns(config: PolicyConfig, outputs: FloatArray, state: FloatArray | None) -> FloatArray:
    """Return what each option is worth [rows, options], from the outputs of the policy head and of the value head."""
    each = outputs.reshape(len(outputs), -1, config.atoms)
    if config.duelling and state is not None:
        each = state[:, None] + each - each.mean(axis=1, keepdims=True)
    if config.head == "quantiles":
        middle, unit = middle_and_unit(config)
        means: FloatArray = np.float32(middle) + np.float32(unit) * each.mean(axis=2)
        return means
    chances = np.exp(each - each.max(axis=2, keepdims=True))
    chances /= chances.sum(axis=2, keepdims=True)
    worth: FloatArray = chances @ atom_returns(config)
    return worth
