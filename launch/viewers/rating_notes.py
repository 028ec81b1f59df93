"""Notes under the standings: how well ratings fit the games, and where they mislead. Text only, from an appraisal."""

from collections.abc import Sequence

from league.appraisal import Appraisal, Misfit, worst_pairs
from league.ids import PlayerId
from league.ratings.bradley_terry import SCALE
from league.ratings.probes import Defect, Finding

NAMED = 6  # players that a note lists at most


def rating_notes(appraisal: Appraisal) -> list[str]:
    """Return what a reader of the ratings should know, the most important first."""
    notes = [_anchor(appraisal, found) for found in appraisal.found(Defect.ANCHOR)]
    notes += [_island(appraisal, found) for found in appraisal.found(Defect.ISLAND)]
    notes += _misfit(appraisal)
    notes += [_pair(appraisal, pair) for pair in worst_pairs(appraisal)]
    notes += _circle(appraisal)
    notes += [_seat(found) for found in appraisal.found(Defect.SEAT)]
    notes += [_clone(appraisal, found) for found in appraisal.found(Defect.CLONE)]
    return notes


def _anchor(appraisal: Appraisal, found: Finding) -> str:
    (i,) = found.players
    pin = appraisal.pinned()[i]
    return (
        f"{appraisal.players[i]} is pinned at {pin:.0f}, but its games say {pin + found.value:.0f} "
        f"±{2 * found.error:.0f}: it is rated by its games; calibrate it (ludus calibrate)"
    )


def _island(appraisal: Appraisal, found: Finding) -> str:
    return f"no games lead to an anchor, so there is no rating: {_names(appraisal, found.players)}"


def _misfit(appraisal: Appraisal) -> list[str]:
    dispersion = appraisal.fit.dispersion
    if dispersion.misfit is None:
        return []
    if not appraisal.found(Defect.MISFIT):
        return [f"misfit {dispersion.misfit:.1f}: ratings describe the games as well as chance allows"]
    apart = dispersion.spread**0.5
    much = f"{SCALE * apart:.0f} Elo" if appraisal.fit.by == "outcome" else f"{apart:.2g} a game"
    return [
        f"misfit {dispersion.misfit:.1f} (1 if ratings say all): pairs deviate from their ratings by {much}, "
        "and the intervals include that"
    ]


def _pair(appraisal: Appraisal, pair: Misfit) -> str:
    """Return one pair that contradicts its ratings; the stronger one is the first."""
    if appraisal.fit.by == "return":
        return (
            f"{pair.player} wins {pair.scored:.2g} a game from {pair.opponent} over {pair.games:.0f} games, the "
            f"ratings predict {pair.predicted:.2g}"
        )
    place = {player: i for i, player in enumerate(appraisal.players)}
    rating = appraisal.fit.ratings.rating
    apart = rating[place[pair.player]] - rating[place[pair.opponent]]
    return (
        f"{pair.player} scores {pair.scored:.0%} against {pair.opponent} over {pair.games:.0f} games, the scale "
        f"predicts {pair.predicted:.0%} ({apart:.0f} Elo above it)"
    )


def _circle(appraisal: Appraisal) -> list[str]:
    """Return a warning where ratings mislead: players beat each other in a circle."""
    if len(appraisal.top) < 3:
        return []
    return [
        f"{_names(appraisal, [appraisal.players.index(p) for p in appraisal.top])} beat each other in a circle: their "
        f"order by rating means nothing, see Nash and ludus payoff (cyclic part {appraisal.cyclic.strength:.0%})"
    ]


def _seat(found: Finding) -> str:
    seat = "first" if found.value > 0 else "second"
    return f"the {seat} seat is worth {abs(found.value):.0f} ±{2 * found.error:.0f} Elo; ratings are free of it"


def _clone(appraisal: Appraisal, found: Finding) -> str:
    return f"{_names(appraisal, found.players)} score the same against everybody: they may be the same player"


def _names(appraisal: Appraisal, players: Sequence[int]) -> str:
    names: list[PlayerId] = [appraisal.players[i] for i in players]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
