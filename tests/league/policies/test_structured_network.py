"""`policy=structured` on a Dict observation with an image, a vector and choices; tests/conformance has the rest."""

import numpy as np
import pytest
from bound_networks import SPEC, rows
from practising import ratio_of
from structured_practice import practice_on

from league.policies.binding import bind
from league.policies.blueprint import NetworkError
from league.policies.layout import PolicyConfig, describe, initial
from league.policies.network_actor import make_actor
from league.policies.rehearsal import rehearse


def structured(spec=SPEC, **kwargs):
    return bind(PolicyConfig(name="structured", kwargs=kwargs), spec, [])


def test_it_keeps_the_contract_without_any_permission():
    rehearse(structured(), SPEC)
    rehearse(structured(agent_id=True, width=8), SPEC)


@pytest.mark.parametrize("part", range(3))
def test_every_part_matters(part):
    policy, (seen, _) = structured(), rows(20)
    other = seen.copy()
    piece = SPEC.observation.structure[part]
    columns = slice(piece.begin, piece.begin + piece.size)
    other[:, columns] = rows(20, seed=1)[0][:, columns]
    actor = make_actor(policy, SPEC, initial(policy, SPEC, 0))
    assert np.abs(actor.outputs(seen) - actor.outputs(other)).max() > 1e-5


def test_play_starts_almost_uniform_and_seeds_differ():
    policy, (seen, _) = structured(), rows(20)
    assert np.abs(make_actor(policy, SPEC, initial(policy, SPEC, 0)).outputs(seen)).max() < 0.15
    assert (initial(policy, SPEC, 0) != initial(policy, SPEC, 1)).any()
    assert describe(policy, SPEC).size == initial(policy, SPEC, 0).size


def test_a_misspelt_setting_is_refused():
    with pytest.raises(NetworkError, match="has no setting 'filter'; did you mean 'filters'"):
        describe(structured(filter=[]), SPEC)


def test_the_ratio_is_one_until_weights_change():
    ratio = ratio_of(practice_on("Glyphs", "structured", slots=16))
    assert float((ratio - 1).abs().max()) < 1e-4


@pytest.mark.slow
def test_it_reads_a_picture_that_a_flat_network_does_not():
    earned = {name: practice_on("Glyphs", name).until(16_000).mean_return(100) for name in ("structured", "mlp")}
    assert earned["structured"] > 6, "of 8; random play has 2"
    assert earned["mlp"] < 4
