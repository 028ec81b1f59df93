"""A small league to ask matchmakers about, and what they answer, summed up."""

from collections import Counter

import pytest

from league.ids import Hash, PlayerId
from league.matchmaking.asking import matchmaker
from league.matchmaking.config import MatchmakingConfig
from league.payoff import Payoff, PayoffConfig
from league.player import Player
from league.population import Population


def main(name, role=None):
    return Player(id=PlayerId(name), kind="main", role=role)


PARENTS = {"me": "main_exploiter", "le": "league_exploiter"}  # and the kinds of their pasts; all others are mains


def frozen(name, parent, role=None, anchor=None):
    kind = PARENTS.get(parent, "main")
    return Player(id=PlayerId(name), kind=kind, parent=PlayerId(parent), snapshot=Hash(name), role=role, anchor=anchor)


def league(*extra):
    """A main, a second main, both kinds of exploiters, and a scripted anchor."""
    return Population(
        [
            main("m"),
            main("n"),
            Player(id=PlayerId("me"), kind="main_exploiter"),
            Player(id=PlayerId("le"), kind="league_exploiter"),
            Player(id=PlayerId("random"), kind="scripted", bot="random", anchor=0.0),
            *extra,
        ]
    )


def scores(**by_pair):
    """A payoff in which `a__b=0.8` makes a score 0.8 against b (m_0 stands for m.0)."""
    payoff = Payoff(PayoffConfig(decay=1.0, prior_games=1e-9))
    for pair, score in by_pair.items():
        a, b = (PlayerId(name.replace("_", ".")) for name in pair.split("__"))
        for game in range(100):
            payoff.record(a, b, float(game < round(100 * score)))
    return payoff


def exact(**settings):
    """Settings under which a matchmaker answers by its formulas alone: no share is kept for a refresh."""
    return MatchmakingConfig(floor=0.0, **settings)


def ask(config, population, payoff, who, roles=None):
    return matchmaker(config)(population[PlayerId(who)], population, payoff, roles)


def shares(choices):
    """The probability of each opponent, live ones marked with a star."""
    total = Counter()
    for choice in choices:
        total[choice.opponent + ("*" if choice.live else "")] += choice.probability
    return {name: pytest.approx(share) for name, share in total.items()}


def reasons(choices):
    total = Counter()
    for choice in choices:
        total[choice.why] += choice.probability
    return {why: pytest.approx(share) for why, share in total.items()}


def foxes_and_hounds():
    population = Population([main("fox", "fox"), main("hound", "hound"), main("any")])
    for name, parent, role in (("fox.0", "fox", "fox"), ("hound.0", "hound", "hound"), ("any.0", "any", None)):
        population.add(frozen(name, parent, role))
    return population
