"""Which evaluation match next: the half-width of the five best players, by the old rule and by what a match tells.

    python -m benchmarks.evaluating --players 20,60 --tickets 1200 --seeds 6

A league grows by one player every six tickets, each a little stronger than the one before it (ladder), or of any
strength (normal); two anchors are random (0) and one_ply (562). Results are sampled from the true ratings; the real
scheduler chooses matches from the real state. Prints a JSON line for each league: the mean half-width of the 95 %
intervals of the five that are truly best, and of all players, by the rule "fewest games" and by what a match tells; how
many times as many games the first rule needs for the five; and what the choice of a ticket costs.
"""

import argparse
import time

import numpy as np

from benchmarks.measure import emit
from coordinator.scheduling.evaluation import LEAST_KNOWN, EvaluationTickets
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats
from league.events import LeagueFounded, PlayerAdded, PlayerFrozen, ResultCounted, TicketIssued
from league.ids import Hash, PlayerId, TicketNumber
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.ticket import Episode

ANCHORS = {PlayerId("random"): 0.0, PlayerId("one_ply"): 562.0}
EVERY, BEST = 6, 5
ENV = EnvSpec("game", ("a", "b"), (Seat((0,)), Seat((1,))), Array((1,), "float32"), actions=2)
OLD, NEW = "fewest games", "what it tells"
RULES = {OLD: 1.0, NEW: LEAST_KNOWN}


def strengths(league: str, players: int, rng: np.random.Generator) -> np.ndarray:
    if league == "ladder":
        return np.linspace(50, 850, players) + rng.normal(0, 30, players)
    return rng.normal(450, 180, players)


class GrowingLeague:
    def __init__(self, truth: np.ndarray, seed: int, least_known: float) -> None:
        self.rng, self.truth = np.random.default_rng(seed), dict(ANCHORS)
        self.state = LeagueState(LeagueConfig())
        apply(self.state, LeagueFounded(seed=seed, config="", env=ENV))
        for name, anchor in ANCHORS.items():
            apply(self.state, PlayerAdded(player=Player(id=name, kind="scripted", bot="random", anchor=anchor)))
        apply(self.state, PlayerAdded(player=Player(id=PlayerId("main"), kind="main")))
        self.waiting = list(truth)
        self.tickets = EvaluationTickets(self.state, Seats(self.state), RestingPairs(), least_known)
        self.seconds = 0.0

    def join(self) -> None:
        count = len(self.truth) - len(ANCHORS)
        parent = PlayerId(f"main.{count - 1}" if count else "main")
        name, snapshot = PlayerId(f"main.{count}"), Hash(f"{count:064x}")
        frozen = Player(id=name, kind="main", parent=parent, snapshot=snapshot)
        apply(self.state, PlayerFrozen(player=frozen, decisions=count, why="it joins"))
        self.truth[name] = self.waiting.pop(0)

    def play(self) -> None:
        number = TicketNumber(self.state.tickets + 1)
        if self.waiting and number % EVERY == 1:
            self.join()
        begun = time.perf_counter()
        ticket = self.tickets.next(number, np.random.default_rng([self.state.seed, number]), 0.0)
        self.seconds += time.perf_counter() - begun
        assert ticket is not None
        a, b = (self.truth[entry.player] for entry in ticket.entries)
        won = self.rng.random(ticket.episodes) < 1 / (1 + 10 ** ((b - a) / 400))
        episodes = tuple(Episode((0, 1) if win else (1, 0), (0.0, 0.0), 10) for win in won)
        apply(self.state, TicketIssued(ticket=ticket))
        apply(self.state, ResultCounted(ticket=number, attempt=0, episodes=episodes))

    def half_widths(self) -> tuple[float, float]:
        """Half-widths from the Fisher information of all games at the true ratings, anchors pinned."""
        truth = np.array(list(self.truth.values()))
        points = self.state.evaluation.points(list(self.truth))
        chance = 1 / (1 + 10 ** ((truth[None, :] - truth[:, None]) / 400))
        weight = (points + points.T) * chance * (1 - chance)
        information = (np.diag(weight.sum(axis=1) + 1e-9) - weight)[len(ANCHORS) :, len(ANCHORS) :]
        reach = 1.96 * 400 / np.log(10) * np.sqrt(np.diag(np.linalg.inv(information)))
        best = np.argsort(truth[len(ANCHORS) :])[-BEST:]
        return float(reach[best].mean()), float(reach.mean())


def grown(league: str, players: int, seed: int, rule: str) -> GrowingLeague:
    return GrowingLeague(strengths(league, players, np.random.default_rng(seed)), seed, RULES[rule])


def measure(league: str, players: int, tickets: int, seeds: int) -> None:
    old, new, times, micros = [], [], [], []
    for seed in range(seeds):
        one, other = grown(league, players, seed, OLD), grown(league, players, seed, NEW)
        for _ in range(tickets):
            one.play()
            other.play()
        old.append(one.half_widths())
        new.append(other.half_widths())
        micros.append([1e6 * both.seconds / tickets for both in (one, other)])
        count = tickets
        while one.half_widths()[0] > new[-1][0] and count < 20 * tickets:
            count += 25
            for _ in range(25):
                one.play()
        times.append(count / tickets)
    figures = dict(zip(("five", "all"), np.mean(old, axis=0), strict=True))
    told = dict(zip(("five_new", "all_new"), np.mean(new, axis=0), strict=True))
    cost = dict(zip(("us", "us_new"), np.mean(micros, axis=0), strict=True))
    emit(f"{league}, {players} players", tickets=tickets, **figures, **told, times=float(np.mean(times)), **cost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--players", default="20,60")
    parser.add_argument("--tickets", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=6)
    arguments = parser.parse_args()
    for league in ("ladder", "normal"):
        for players in map(int, arguments.players.split(",")):
            measure(league, players, arguments.tickets, arguments.seeds)


if __name__ == "__main__":
    main()
