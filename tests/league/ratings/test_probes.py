"""Probes: what they name. How often they fire, on their own league and elsewhere, is in test_coverage."""

import numpy as np
import pytest
from simulated_league import PLANTED, SIZE, SimulatedLeague

from league.ratings.anchoring import Anchored, fit_anchored
from league.ratings.probes import Defect, find_defects
from league.ratings.return_ratings import fit_returns


def findings(league, seed=0):
    counts = league.play(np.random.default_rng(seed))
    anchored = fit_anchored(counts, league.anchors, league.predecessors)
    return {finding.defect: finding for finding in find_defects(counts, anchored, league.predecessors)}


def planted(name, seed=0):
    return findings(PLANTED[name](np.random.default_rng(seed)), seed)


def test_a_finding_names_the_players_it_is_about():
    assert planted("island")[Defect.ISLAND].players == (SIZE, SIZE + 1)
    assert planted("clone")[Defect.CLONE].players == (3, SIZE)
    assert planted("wrong anchor")[Defect.ANCHOR].players == (2,)
    improved = planted("improving player")[Defect.IMPROVING]
    assert improved.players == (SIZE, 3)
    assert improved.value == pytest.approx(60, abs=4 * improved.error)


def test_a_finding_says_how_much():
    seat = planted("favoured seat")[Defect.SEAT]
    assert seat.value == pytest.approx(100, abs=4 * seat.error)
    assert planted("overdispersion")[Defect.PAIRING].value == pytest.approx(1.5, rel=0.15)
    assert planted("many draws")[Defect.DRAWS].value > 0.2
    assert planted("misfit")[Defect.MISFIT].value > 2
    assert planted("few games")[Defect.FEW_GAMES].value < 30
    anchor = planted("wrong anchor")[Defect.ANCHOR]
    assert anchor.value == pytest.approx(-100, abs=4 * anchor.error)


def test_nothing_is_found_where_nothing_is_wrong():
    assert planted("nothing") == {}


def test_players_that_met_only_each_other_are_no_clones():
    assert Defect.CLONE not in findings(SimulatedLeague(np.zeros(2), pairs=5000, nu=50.0))


def test_by_return_probes_of_outcomes_are_silent():
    league = PLANTED["favoured seat"](np.random.default_rng(1))
    counts = league.play(np.random.default_rng(1))
    found = {finding.defect for finding in find_defects(counts, Anchored(fit_returns(counts, {0: 0.0})))}
    assert not found & {Defect.SEAT, Defect.DRAWS, Defect.PAIRING, Defect.CLONE}
