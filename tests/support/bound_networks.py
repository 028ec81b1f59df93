"""The networks of `foreign_networks`, bound to a small game."""

import foreign_networks
import numpy as np

from league.policies.binding import bind
from league.policies.layout import PolicyConfig
from league.spec import Array, EnvSpec, ObservationPart, Seat

PARTS = (
    ObservationPart(("clock", 0), 0, (), (3,)),
    ObservationPart(("clock", 1), 3, (2,), (2, 3)),
    ObservationPart(("units",), 8, (4, 2)),
)
SPEC = EnvSpec("units", ("a", "b", "c"), (Seat((0, 1)), Seat((2,))), Array((16,), "float32", PARTS), actions=4)
NAMES = [network.__name__ for network in foreign_networks.NETWORKS]


def bound(name, spec=SPEC, module="foreign_networks", **settings):
    """Return the config of a network with its code."""
    return bind(PolicyConfig(name=f"{module}:{name}", **settings), spec, [module])


def rows(count, seed=0, spec=SPEC):
    """Return observations with valid choices, and masks."""
    rng = np.random.default_rng(seed)
    seen = rng.random((count, *spec.observation.shape)).astype(np.float32)
    for part in spec.observation.structure:
        begin = part.begin
        for options in part.choices:
            seen[:, begin : begin + options] = np.eye(options)[rng.integers(0, options, count)]
            begin += options
    mask = rng.random((count, spec.actions)) < 0.6
    mask[:, 0] = True
    return seen, mask
