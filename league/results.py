"""Results: how the episodes of a ticket enter the payoff of training and that of evaluation.

    train_match(state.training, players, sides, episodes)
    evaluate_match(state.evaluation, EvaluationMatch(ticket, rows, roles, sides), episodes)

`sides` has the side of each entry; ranks and returns of an episode are those of entries, whatever seats they had in it.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from league.evaluation_payoff import EvaluationPayoff, RatedGame
from league.events import DuelEpisode
from league.ids import PlayerId
from league.limits import ABSENT
from league.meetings import by_pair, mates, meetings
from league.payoff import Payoff, record_ranks
from league.ticket import Episode, Ticket, mean_return, side_seats

Played = Episode | DuelEpisode


class EvaluationMatch(NamedTuple):
    """A ticket of evaluation, with what its entries are in the league."""

    ticket: Ticket
    rows: Sequence[PlayerId | None]  # that the games of each entry belong to; None: they are not recorded
    roles: tuple[str, ...]
    sides: tuple[int, ...]


def train_match(table: Payoff, players: Sequence[PlayerId], sides: Sequence[int], episodes: Sequence[Episode]) -> None:
    """Record a training match: a game for each pair of entries that meet."""
    met = meetings(players, sides)
    record_ranks(table, players, [episode.ranks for episode in episodes], met=met)
    if table.by_return:
        returns = side_returns(sides, episodes)
        for (a, b), entries in by_pair(players, met).items():
            games = [
                (one, i, j)
                for one, game in zip(returns, episodes, strict=True)
                for i, j in entries
                if met_in(game, i, j)
            ]
            table.record_margins(a, b, [(one[i] - one[j]) / 2 for one, i, j in games])


def evaluate_match(table: EvaluationPayoff, match: EvaluationMatch, episodes: Sequence[Played]) -> None:
    """Record an evaluation match, turn by turn: a game for each pair of entries that meet."""
    ticket, rows, roles, sides = match
    players, turn = [entry.player for entry in ticket.entries], ticket.turn
    seats = side_seats(roles, sides)
    nothing: Sequence[float] = [0.0] * len(sides)
    kept = table.by_return or table.keeps_returns
    returns = side_returns(sides, episodes) if kept else [nothing] * len(episodes)
    for (a, b), met in by_pair(players, meetings(players, sides)).items():
        games = [
            _games(met, episode.ranks, returned, seats[number % len(seats)])
            for number, (episode, returned) in enumerate(zip(episodes, returns, strict=True))
        ]
        scores = [game.score for episode in games for game in episode]
        table.record_raw(a, b, *map(scores.count, (1.0, 0.5, 0.0)))
        mine, yours = (rows[entry] for entry in met[0])
        if mine is not None and yours is not None:
            starts = range(0, len(games), turn)
            rated = [list(chain(*games[start : start + turn])) for start in starts]
            table.record_turns(mine, yours, [games for games in rated if games])


def met_in(episode: Played, i: int, j: int) -> bool:
    """Return whether two entries both took part in an episode."""
    return ABSENT not in (episode.ranks[i], episode.ranks[j])


def _games(
    met: Sequence[tuple[int, int]], ranks: Sequence[int], returns: Sequence[float], seats: Sequence[int]
) -> list[RatedGame]:
    """Return the games of two players in one episode, as the first of each two entries sees them."""
    found = []
    for i, j in met:
        mine, yours = ranks[i], ranks[j]
        if ABSENT in (mine, yours):
            continue
        score = 1.0 if mine < yours else 0.0 if mine > yours else 0.5
        found.append(RatedGame(score, seats[i] < seats[j], (returns[i] - returns[j]) / 2, returns[i], returns[j]))
    return found


def evaluate_duel(table: EvaluationPayoff, match: EvaluationMatch, games: Sequence[Sequence[int]]) -> None:
    """Record an evaluation of one against one by outcome: the same as `evaluate_match`, at a third of the price."""
    lost = [0 if mine < yours else 2 if mine > yours else 1 for mine, yours in games]  # points of the other, twice
    counts = ([0, 0, 0], [0, 0, 0])  # wins, draws and losses of the first entry, from either seat
    seatings = side_seats(match.roles, match.sides)
    for number, seats in enumerate(seatings):
        here, found = lost[number :: len(seatings)], counts[seats[0] > seats[1]]
        won, fell = here.count(0), here.count(2)
        found[0] += won
        found[1] += len(here) - won - fell
        found[2] += fell
    (first, second), (a, b), (mine, yours) = counts, match.ticket.entries, match.rows
    table.record_raw(a.player, b.player, first[0] + second[0], first[1] + second[1], first[2] + second[2])
    if mine is not None and yours is not None:
        table.record_counts(mine, yours, first, second, _turn_means(lost, match.ticket.turn))


def _turn_means(lost: Sequence[int], turn: int) -> list[float]:
    """Return the mean score in each turn, given twice the points that were lost in each game."""
    if turn == 2 and not len(lost) % 2:  # nearly always
        return [(4 - one - two) / 4 for one, two in zip(lost[::2], lost[1::2], strict=True)]
    turns = [lost[start : start + turn] for start in range(0, len(lost), turn)]
    return [(2 * len(games) - sum(games)) / (2 * len(games)) for games in turns]


def side_returns(sides: Sequence[int], episodes: Sequence[Played]) -> list[Sequence[float]]:
    """Return the return of each entry's side in each episode: the mean of its seats."""
    members = {side: [i for i, where in enumerate(sides) if where == side] for side in set(sides)}
    found: list[Sequence[float]] = []
    for episode in episodes:
        assert isinstance(episode, Episode)  # only leagues by outcome are decoded without returns
        if len(members) < len(sides):
            means = {side: mean_return(episode, where) for side, where in members.items()}
            found.append([means[side] for side in sides])
        else:
            found.append(episode.returns)
    return found


def share_returns(
    table: Payoff,
    players: Sequence[PlayerId | None],
    sides: Sequence[int],
    episodes: Sequence[Episode],
    decay: float | None = None,
) -> None:
    """Record what team-mates earned together, a mean over the seats of their side; None plays, but is not recorded."""
    together = [(a, b, side) for a, b, side in mates(players, sides) if a is not None and b is not None]
    members = {side: [i for i, where in enumerate(sides) if where == side] for side in set(sides)}
    for episode in episodes:
        for a, b, side in together:
            if episode.ranks[members[side][0]] == ABSENT:
                continue
            table.record_return(a, b, mean_return(episode, members[side]), decay)
