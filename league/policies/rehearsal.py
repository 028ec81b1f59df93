"""The rehearsal of a network of another package, before a league starts: whether it keeps its contract in this game.

rehearse(bind(config, spec, allow), spec)       # NetworkError: names the class, what is wrong, and the remedy
"""

from dataclasses import replace

import torch
from torch import Tensor

from league.policies.blueprint import NetworkBlueprint, NetworkError
from league.policies.flat_policy import Answers, Lanes, Observed
from league.policies.layout import BoundPolicy
from league.policies.module_policy import ModulePolicy
from league.policies.network import NetworkOutput, leaves_of
from league.spec import EnvSpec
from league.wire.sockets import SEGMENTS_LIMIT

ROWS = 6
TOLERANCE = 1e-3  # of outputs that depend on the order of rows only by rounding


def rehearse(policy: BoundPolicy, spec: EnvSpec, slots: int = 1) -> None:
    """Raise NetworkError if the network cannot be built, returns what cannot be used, or is too large to send.

    `slots` is the number of episodes that one collector plays: their memories may travel in one message.
    """
    blueprint = policy.blueprint
    assert isinstance(blueprint, NetworkBlueprint)
    _check_size(blueprint, slots * len(spec.agents))
    network = ModulePolicy(policy, spec)
    network.write(blueprint.initial(seed=0))
    seen = _positions(blueprint, spec)
    _check_output(blueprint, network, seen)
    with torch.no_grad():
        whole = network.answers(seen)
        _check_finite(blueprint, whole)
        _check_rows(blueprint, network, seen, whole)
        _check_buffers(blueprint, network, seen)
    _check_gradient(blueprint, network, seen)


def _check_size(blueprint: NetworkBlueprint, agents: int) -> None:
    weights = ("weights take", blueprint.layout.size, "Make the network smaller")
    memory = (f"memory of {agents} agents takes", agents * blueprint.memory_size, "Lower collector.slots")
    for what, size, remedy in (weights, memory):
        if 4 * size > SEGMENTS_LIMIT:
            raise NetworkError(
                f"{blueprint.name}: its {what} {4 * size / 2**20:.0f} MiB, but a message may have "
                f"{SEGMENTS_LIMIT >> 20} MiB. {remedy}"
            )


def _positions(blueprint: NetworkBlueprint, spec: EnvSpec) -> Observed:
    """Return rows of zeros, of ones and of noise, with a memory if the network has one."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.rand(ROWS, *spec.observation.shape, generator=generator)
    noise[0], noise[1] = 0, 1
    mask = torch.rand(ROWS, spec.actions, generator=generator) < 0.5
    begin = 0
    for options in spec.heads:
        mask[:, begin] = True
        begin += options
    step = torch.ones(ROWS, 1, 1, dtype=torch.bool)
    memory = torch.zeros(ROWS, 1, blueprint.memory_size)
    return Observed(
        noise.to(getattr(torch, spec.observation.dtype)),
        place=torch.arange(ROWS) % blueprint.shape.agents,
        lanes=Lanes(step, ~step, memory) if blueprint.memory_size else None,
        mask=mask,
        team=torch.ones(ROWS, blueprint.shape.agents, dtype=torch.bool),
    )


def _check_output(blueprint: NetworkBlueprint, network: ModulePolicy, seen: Observed) -> None:
    """Call the module itself, and check what it returns."""
    try:
        with torch.no_grad():
            output = network.try_once(seen)
    except Exception as error:
        raise NetworkError(
            f"{blueprint.name}.forward() fails on observations of this game ({type(error).__name__}: {error}). "
            "`shape` in its constructor has the sizes"
        ) from error
    if not isinstance(output, NetworkOutput):
        raise NetworkError(f"{blueprint.name}.forward() returned {type(output).__name__}: return a NetworkOutput")
    _check_shape(blueprint, "outputs", output.outputs, (ROWS, blueprint.shape.outputs), "a logit for each option")
    _check_shape(blueprint, "value", output.value, (ROWS,), "one number for each decision")
    declared, after = leaves_of(blueprint.memory), leaves_of(output.memory)
    if [(ROWS, *leaf.shape) for leaf in declared] != [tuple(getattr(leaf, "shape", ())) for leaf in after]:
        raise NetworkError(
            f"{blueprint.name}: forward() returned a memory of shapes {[list(leaf.shape) for leaf in after]}, but "
            f"memory() declares {[list(leaf.shape) for leaf in declared]}, before which comes the batch of {ROWS}"
        )
    for name, extra in output.extras.items():
        if not isinstance(extra, Tensor) or len(extra) != ROWS:
            raise NetworkError(f"{blueprint.name}: the extra output {name!r} must have a row for each decision")


def _check_shape(blueprint: NetworkBlueprint, name: str, found: object, shape: tuple[int, ...], meaning: str) -> None:
    if not isinstance(found, Tensor) or tuple(found.shape) != shape:
        is_now = list(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise NetworkError(
            f"{blueprint.name}.forward() returned `{name}` of shape {is_now}; for {ROWS} decisions here it must "
            f"be {list(shape)}: {meaning}"
        )


def _check_finite(blueprint: NetworkBlueprint, answers: Answers) -> None:
    for name in ("outputs", "value", "memory"):
        found = getattr(answers, name)
        if found is not None and not bool(found.isfinite().all()):
            raise NetworkError(
                f"{blueprint.name}.forward() returned NaN or infinity in `{name}`, for observations of zeros, ones and "
                "noise, and random masks: guard divisions, logarithms, and softmax over nothing"
            )


def _check_rows(blueprint: NetworkBlueprint, network: ModulePolicy, seen: Observed, whole: Answers) -> None:
    """Rows must not influence one another, and the same row must always give the same."""
    again = network.answers(seen)
    if not _same(whole, again, torch.arange(ROWS)):
        raise NetworkError(
            f"{blueprint.name}.forward() gives another result for the same input: it must not draw random numbers"
        )
    for chosen, what in ((torch.arange(ROWS).flip(0), "on the order of rows"), (torch.tensor([2]), "on other rows")):
        if not _same(whole, network.answers(_some(seen, chosen)), chosen):
            raise NetworkError(
                f"{blueprint.name}.forward() depends {what} in the batch: every row must be computed on its own, with "
                "the running statistics of eval() mode"
            )


def _check_buffers(blueprint: NetworkBlueprint, network: ModulePolicy, seen: Observed) -> None:
    """Refuse a network that changes itself while it plays: actors and learners would not have the same weights."""
    before = network.flat.detach().clone()
    network.answers(seen)
    if not torch.equal(before, network.flat.detach()):
        raise NetworkError(
            f"{blueprint.name}.forward() changes its buffers: they may change in train() mode only, as those of "
            "batch normalisation do"
        )


def _same(whole: Answers, part: Answers, rows: Tensor) -> bool:
    pairs = ((whole.outputs, part.outputs), (whole.value, part.value), (whole.memory, part.memory))
    return all(
        torch.allclose(one[rows], other, rtol=TOLERANCE, atol=TOLERANCE)
        for one, other in pairs
        if one is not None and other is not None
    )


def _some(seen: Observed, rows: Tensor) -> Observed:
    assert seen.place is not None
    assert seen.mask is not None
    assert seen.team is not None
    lanes = None if seen.lanes is None else seen.lanes[rows]
    return replace(
        seen, observation=seen.observation[rows], place=seen.place[rows], mask=seen.mask[rows], team=seen.team[rows],
        lanes=lanes,
    )  # fmt: skip


def _check_gradient(blueprint: NetworkBlueprint, network: ModulePolicy, seen: Observed) -> None:
    """Refuse outputs and values that cannot be trained: the network would never learn."""
    answers = network.answers(seen)
    for name, found in (("outputs", answers.outputs), ("value", answers.value)):
        if not found.requires_grad:
            raise NetworkError(
                f"{blueprint.name}.forward() returned `{name}` without a gradient: it must follow from trained "
                "parameters, without detach(), no_grad() or numpy"
            )
