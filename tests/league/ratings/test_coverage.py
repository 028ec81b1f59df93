"""Are ratings honest? Leagues with known strengths and one planted property each: intervals cover, probes fire.

`pytest tests/league/ratings/test_coverage.py -m slow` prints the table of docs/ratings.md.
"""

import numpy as np
import pytest
from simulated_league import (
    PLANTED,
    PLANTED_BY_RETURN,
    SIZE,
    SimulatedLeague,
    SimulatedReturns,
    antisymmetric,
    bound_to_roles,
    rated,
    spaced,
    wrong_anchor,
)

from league.ratings.anchoring import Anchored, fit_anchored
from league.ratings.probes import Defect, find_defects
from league.ratings.return_ratings import fit_returns

SURE = {"few games", "island"}  # these probes count, and are never wrong
BY_RETURN = {"few games", "misfit", "improving player", "island"}  # probes of ratings by return


def trial(make, leagues, seed):
    """Return the share of intervals that cover the truth, and how often each probe fires."""
    rng, inside, fired = np.random.default_rng(seed), [], dict.fromkeys(Defect, 0)
    for _ in range(leagues):
        league = make(rng)
        counts = league.play(rng)
        anchored = fit_anchored(counts, league.anchors, league.predecessors)
        for found in {finding.defect for finding in find_defects(counts, anchored, league.predecessors)}:
            fired[found] += 1
        inside.append(covered(anchored.fit, league.strength))
    return float(np.mean(inside)), {name: count / leagues for name, count in fired.items()}


def covered(fit, truth):
    """Return the share of players with an interval that has the truth inside; players of an island have none."""
    free = [i for i in np.flatnonzero(fit.joined).tolist() if i not in fit.anchors]
    return ((fit.ratings.low <= truth) & (truth <= fit.ratings.high))[free].mean()


@pytest.mark.parametrize("planted", PLANTED)
def test_intervals_cover_and_only_the_probe_of_what_was_planted_fires(planted):
    leagues = 12 if planted == "clone" else 40
    coverage, fired = trial(PLANTED[planted], leagues, 1)
    assert 0.90 < coverage <= 1.0
    for name, rate in fired.items():
        if name == planted:
            assert rate >= 0.8, f"{name} was planted"
        else:
            assert rate <= 0.1, f"{name} was not planted"


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED)
def test_intervals_cover_93_to_98_per_cent(planted, figure):
    leagues = 200 if planted == "clone" else 1000
    coverage, fired = trial(PLANTED[planted], leagues, 2)
    alarms = {name: rate for name, rate in fired.items() if name != planted}
    worst = max(alarms, key=alarms.__getitem__)
    own = "" if planted == "nothing" else f"its probe fires in {fired[Defect(planted)]:.1%}; "
    figure(f"{planted}: {coverage:.1%} of 95 % intervals cover; {own}most false alarms {alarms[worst]:.1%} ({worst})")
    assert 0.93 <= coverage <= 0.98
    assert planted == "nothing" or fired[Defect(planted)] >= 0.9
    assert alarms[worst] <= 0.03
    assert all(alarms[name] == 0 for name in alarms if name in SURE)


OTHER = {
    "a cycle of 50 Elo": lambda rng: SimulatedLeague(spaced(SIZE, rng), residual=antisymmetric(SIZE, 50.0, rng)),
    "a cycle of 150 Elo": lambda rng: SimulatedLeague(spaced(SIZE, rng), residual=antisymmetric(SIZE, 150.0, rng)),
    "a cycle of 100 Elo, 4 to 200 pairs": lambda rng: SimulatedLeague(
        spaced(SIZE, rng), residual=antisymmetric(SIZE, 100.0, rng), pairs=uneven(rng)
    ),
    "an anchor pinned wrongly by 200 Elo": lambda rng: wrong_anchor(rng, 200.0),
}


def uneven(rng):
    upper = np.triu(rng.choice([4, 20, 200], (SIZE, SIZE)), 1)
    return upper + upper.T


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_intervals_cover_where_the_planted_property_is_stronger_or_weaker(name, figure):
    coverage, _ = trial(OTHER[name], 1000, 3)
    figure(f"{name}: {coverage:.1%} of 95 % intervals cover")
    assert 0.93 <= coverage <= 0.98


@pytest.mark.slow
def test_a_pin_that_is_wrong_by_too_little_to_be_refuted_costs_coverage(figure):
    """The limit of what games can tell: stated in docs/ratings.md."""
    coverage, fired = trial(lambda rng: wrong_anchor(rng, 40.0), 1000, 4)
    figure(
        f"an anchor pinned wrongly by 40 Elo: {coverage:.1%} of intervals cover; named in {fired[Defect.ANCHOR]:.0%}"
    )
    assert 0.75 < coverage < 0.95


def test_a_role_that_wins_more_is_no_strength_and_intervals_cover(figure):
    """Roles bind players to one seat each; the first player has both, so that the role can be told from strength."""
    rng, inside, off, seats = np.random.default_rng(8), [], [], []
    for _ in range(100):
        strength, counts = bound_to_roles(rng)
        fit = fit_anchored(counts, {0: 0.0}, asymmetric=True).fit
        inside.append(covered(fit, strength))
        off.append((fit.ratings.rating - strength)[1:].reshape(2, -1).mean(axis=1))
        seats.append(fit.seat.value)
        assert fit.dispersion.freedom == pytest.approx(24 - 9, abs=0.2), "24 cells, less 8 ratings and the role"
    figure(f"a role worth 200 Elo: {np.mean(inside):.1%} of 95 % intervals cover; it is found as {np.mean(seats):.0f}")
    assert 0.93 <= np.mean(inside) <= 0.98
    assert np.abs(np.mean(off, axis=0)).max() < 15
    assert np.mean(seats) == pytest.approx(200, abs=15)


def newest(rng, gain, pairs):
    """A candidate above the one before it by some gain, with few games of its own."""
    strength = spaced(SIZE, rng)
    met = np.full((SIZE + 1, SIZE + 1), 50)
    met[SIZE] = met[:, SIZE] = pairs
    met[3, SIZE] = met[SIZE, 3] = 0
    return SimulatedLeague(np.append(strength, strength[3] + gain), pairs=met, predecessors={SIZE: 3})


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "pairs"), [(0, 5), (30, 5), (100, 5), (30, 20), (100, 20)])
def test_a_candidate_that_improves_is_covered_from_its_first_games_on(gain, pairs, figure):
    rng, inside, off = np.random.default_rng(6), [], []
    for _ in range(600):
        league = newest(rng, float(gain), pairs)
        found = fit_anchored(league.play(rng), league.anchors, league.predecessors).fit.ratings
        inside.append(found.low[SIZE] <= league.strength[SIZE] <= found.high[SIZE])
        off.append(found.rating[SIZE] - league.strength[SIZE])
    games = 2 * pairs * (SIZE - 1)
    figure(f"{gain} Elo above the last, {games} games: {np.mean(inside):.1%} cover, off by {np.mean(off):.0f} Elo")
    assert 0.92 <= np.mean(inside) <= 0.985
    assert abs(np.mean(off)) < 25


def trial_by_return(make, leagues, seed):
    """Return the share of intervals that cover the truth, and how often each probe fires."""
    rng, inside, fired = np.random.default_rng(seed), [], dict.fromkeys(Defect, 0)
    for _ in range(leagues):
        league = make(rng)
        counts = league.play(rng)
        fit = fit_returns(counts, {0: 0.0}, league.predecessors)
        for found in {finding.defect for finding in find_defects(counts, Anchored(fit), league.predecessors)}:
            fired[found] += 1
        inside.append(covered(fit, league.rating))
    return float(np.mean(inside)), {name: count / leagues for name, count in fired.items()}


@pytest.mark.parametrize("planted", PLANTED_BY_RETURN)
def test_by_return_intervals_cover_and_only_the_probe_of_what_was_planted_fires(planted):
    coverage, fired = trial_by_return(PLANTED_BY_RETURN[planted], 40, 1)
    assert 0.90 < coverage <= 1.0
    for name, rate in fired.items():
        if name == planted and name in BY_RETURN:
            assert rate >= 0.8, f"{name} was planted"
        else:
            assert rate <= 0.1, f"{name} was not planted"


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED_BY_RETURN)
def test_by_return_intervals_cover_93_to_98_per_cent(planted, figure):
    coverage, fired = trial_by_return(PLANTED_BY_RETURN[planted], 1000, 2)
    alarms = {name: rate for name, rate in fired.items() if name != planted}
    own = f"its probe fires in {fired[Defect(planted)]:.1%}; " if planted in BY_RETURN else ""
    figure(f"by return, {planted}: {coverage:.1%} of intervals cover; {own}false alarms {max(alarms.values()):.1%}")
    assert 0.93 <= coverage <= 0.98
    assert planted not in BY_RETURN or fired[Defect(planted)] >= 0.9
    assert max(alarms.values()) <= (0.05 if planted == "few games" else 0.03)  # variances from 2 pairs are rough
    assert all(alarms[name] == 0 for name in alarms if name in SURE)


@pytest.mark.slow
@pytest.mark.parametrize(("deviation", "pairs"), [(0.5, 60), (0.5, 300)])
def test_intervals_by_return_cover_where_pairs_have_a_style(deviation, pairs, figure):
    def league(rng):
        return SimulatedReturns(rated(rng), pairs=pairs, residual=antisymmetric(SIZE, deviation, rng))

    coverage, _ = trial_by_return(league, 1000, 5)
    figure(f"by return, {pairs} pairs that deviate by {deviation}: {coverage:.1%} of 95 % intervals cover")
    assert 0.93 <= coverage <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "pairs"), [(0.0, 0), (0.3, 2), (0.3, 20)])
def test_a_candidate_by_return_starts_at_the_one_before_and_its_interval_covers(gain, pairs, figure):
    rng, inside, off = np.random.default_rng(7), [], []
    met = np.full((SIZE + 1, SIZE + 1), 60)
    met[SIZE] = met[:, SIZE] = pairs
    met[3, SIZE] = met[SIZE, 3] = 0
    for _ in range(300):
        rating, change = rated(rng), rng.normal(gain, 0.3)  # as much as ratings differ
        truth = np.append(rating, rating[3] + change)
        found = fit_returns(SimulatedReturns(truth, pairs=met).play(rng), {0: 0.0}, {SIZE: 3}).ratings
        inside.append(found.low[SIZE] <= truth[SIZE] <= found.high[SIZE])
        off.append(found.rating[SIZE] - truth[SIZE])
    games = 2 * pairs * (SIZE - 1)
    figure(f"by return, {gain} above the last, {games} games: {np.mean(inside):.1%} cover, off by {np.mean(off):.2f}")
    assert np.mean(inside) > 0.92
    assert abs(np.mean(off)) < (0.25 if pairs < 20 else 0.1)
