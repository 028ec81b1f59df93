"""`policy=entities`: any number of entities in any order; tests/conformance has the rest."""

import numpy as np
import pytest
import torch
from practising import ratio_of
from structured_practice import practice_on

from league.policies.binding import bind
from league.policies.blueprint import NetworkError
from league.policies.layout import PolicyConfig
from league.policies.network import NetworkInput
from league.policies.rehearsal import rehearse
from league.spec import Array, EnvSpec, ObservationPart, Seat

UNITS, FLAGS, CLOCK = ("units",), ("flags",), ("clock",)
PARTS = (ObservationPart(CLOCK, 0, (), (3,)), ObservationPart(FLAGS, 3, (4,)), ObservationPart(UNITS, 7, (4, 2)))
SPEC = EnvSpec("crowd", ("a", "b", "c", "d"), (Seat((0, 1, 2, 3)),), Array((15,), "float32", PARTS), actions=6)


def entities(spec=SPEC, **kwargs):
    return bind(PolicyConfig(name="entities", kwargs={"width": 16, **kwargs}), spec, [])


def module_of(**kwargs):
    """Return a network whose heads are not small, so that differences show."""
    module = entities(**kwargs).blueprint.module()
    with torch.no_grad():
        for head in (module.policy, module.point):
            if head is not None:
                head.weight.mul_(100)
    return module


def position(rows=5):
    torch.manual_seed(0)
    return {
        "clock": torch.randint(3, (rows,)),
        "flags": (torch.rand(rows, 4) < 0.5).float(),
        "units": torch.rand(rows, 4, 2),
    }


def answer(module, observation, present=None, agent=0):
    rows = len(observation["clock"])
    present = torch.ones(rows, 4, dtype=torch.bool) if present is None else present
    with torch.no_grad():
        return module(NetworkInput(observation, torch.ones(rows, 6) > 0, torch.full((rows,), agent), present))


@pytest.mark.parametrize("presence", ["rows", "agents", "flags"])
@pytest.mark.parametrize("pointing", [False, True])
def test_it_keeps_the_contract(presence, pointing):
    rehearse(entities(presence=presence, pointing=pointing), SPEC)


@pytest.mark.parametrize("presence", ["rows", "flags"])
def test_the_order_of_entities_changes_only_the_order_of_their_options(presence):
    module, seen, order = module_of(presence=presence, pointing=True), position(), torch.tensor([2, 0, 3, 1])
    mixed = {**seen, "units": seen["units"][:, order], "flags": seen["flags"][:, order]}
    if presence == "rows":
        mixed["flags"] = seen["flags"]  # then it is a vector like any other
    one, other = answer(module, seen), answer(module, mixed)
    torch.testing.assert_close(one.outputs[:, order], other.outputs[:, :4])
    torch.testing.assert_close(one.outputs[:, 4:], other.outputs[:, 4:])
    torch.testing.assert_close(one.value, other.value)
    assert (one.outputs[:, 0] - one.outputs[:, 1]).abs().max() > 1e-3


def test_an_absent_entity_influences_nobody():
    seen, present = position(), torch.tensor([[True, True, False, True]] * 5)
    other = {**seen, "units": seen["units"].clone()}
    other["units"][:, 2] = 9.0
    flagged = {"flags": present.float()}
    for presence, more in (("agents", {}), ("flags", flagged)):
        module = module_of(presence=presence)
        one, two = answer(module, {**seen, **more}, present), answer(module, {**other, **more}, present)
        torch.testing.assert_close(one.outputs, two.outputs)
        there = answer(module, {**other, **more, **({"flags": torch.ones(5, 4)} if more else {})})
        assert (there.outputs - two.outputs).abs().max() > 1e-3


def test_rows_of_zeros_are_absent_so_any_number_of_entities_is_the_same_position():
    wider = EnvSpec("crowd", ("a",), (Seat((0,)),), Array((9, 2), "float32"), actions=3)
    narrow = EnvSpec("crowd", ("a",), (Seat((0,)),), Array((4, 2), "float32"), actions=3)
    modules = [entities(spec).blueprint.module() for spec in (wider, narrow)]
    modules[1].load_state_dict(modules[0].state_dict())
    units = torch.zeros(2, 9, 2)
    units[0, 1:4] = torch.rand(3, 2)  # and nobody at all in the other row
    mask, agent, present = torch.ones(2, 3) > 0, torch.zeros(2, dtype=torch.long), torch.ones(2, 1) > 0
    with torch.no_grad():
        found = [
            module(NetworkInput(seen, mask, agent, present))
            for module, seen in zip(modules, (units, units[:, :4]), strict=True)
        ]
    torch.testing.assert_close(found[0].outputs, found[1].outputs)
    assert found[0].outputs.isfinite().all()


def test_an_agent_knows_its_own_row():
    module, seen = module_of(presence="agents"), position()
    assert (answer(module, seen, agent=0).outputs - answer(module, seen, agent=1).outputs).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"entities": "unit"}, "entities must name a part with a row for each entity, not 'unit'; .*here: units"),
        ({"presence": "clock"}, "presence must name a part with a number for each of 4 entities, not 'clock'.*flags"),
        ({"width": 10, "heads": 4}, "width 10 must be a multiple of heads 4"),
    ],
)
def test_settings_that_do_not_fit_are_refused(kwargs, message):
    with pytest.raises(NetworkError, match=message):
        entities(**kwargs).blueprint.module()


def test_games_that_do_not_fit_are_refused():
    board = EnvSpec("board", ("a",), (Seat((0,)),), Array((6, 7, 2), "int8"), actions=3)
    with pytest.raises(NetworkError, match="such parts here: no part"):
        entities(board).blueprint.module()
    rows = EnvSpec("rows", ("a",), (Seat((0,)),), Array((6, 2), "int8"), actions=3)
    with pytest.raises(NetworkError, match="pointing=true needs an option for each of 6 entities; there are 3"):
        entities(rows, pointing=True).blueprint.module()
    with pytest.raises(NetworkError, match="presence=agents needs a row for each of 1 agents of a seat, not 6"):
        entities(rows, presence="agents").blueprint.module()


def test_the_ratio_is_one_until_weights_change():
    ratio = ratio_of(practice_on("Crowd", "entities", slots=16, pointing=True))
    assert float((ratio - 1).abs().max()) < 1e-4


@pytest.mark.slow
def test_it_learns_to_point_where_a_flat_network_does_not():
    attending = practice_on("Crowd", "entities", pointing=True, width=32, blocks=1).until(16_000).mean_return(100)
    flat = practice_on("Crowd", "mlp").until(16_000).mean_return(100)
    assert attending > flat + 2, "of 8; random play has 0.8"
    assert np.isfinite(flat)
