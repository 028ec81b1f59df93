"""A hunt with known answers: tigers return 50 and their skill less that of the deer, so the tiger always wins."""

from league.events import LeagueFounded, PlayerAdded, ResultCounted, TicketIssued
from league.ids import PlayerId
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket

HUNT = EnvSpec("hunt", ("t", "d"), (Seat((0,), "tiger"), Seat((1,), "deer")), Array((1,), "float32"), actions=2)
SKILL = {"tiger_a": 2.0, "tiger_b": -1.0, "deer_a": 3.0, "deer_b": -2.0, "random": 0.0}
MEAN_OF_TIGER_A = 50 + 2 - (3 - 2 + 0) / 3


def player(name):
    role = name.partition("_")[0] if "_" in name else None
    if role is None:
        return Player(id=name, kind="scripted", bot="random", anchor=0.0)
    return Player(id=name, kind="scripted", bot=name, role=role)


def founding(env, names, payoff="return", returns=True):
    added = [PlayerAdded(player=player(name)) for name in names]
    return [LeagueFounded(seed=1, config="c", env=env, payoff=payoff, returns=returns), *added]


def match(number, entries, *returns):
    """Return the events of a ticket of evaluation: an episode for each list of returns of the entries."""
    seats = tuple(Entry(PlayerId(name), bot="x") for name in entries)
    episodes = tuple(
        Episode(tuple(sum(other > mine for other in values) for mine in values), tuple(values), 3) for values in returns
    )
    ticket = Ticket(number=number, purpose=Purpose.EVALUATE, entries=seats, episodes=len(episodes))
    return [TicketIssued(ticket=ticket), ResultCounted(ticket=number, attempt=0, episodes=episodes)]


def hunt_events(payoff="return"):
    """Return a league in which every tiger hunted every deer."""
    events, number = founding(HUNT, SKILL, payoff), 0
    for tiger in ("tiger_a", "tiger_b", "random"):
        for deer in ("deer_a", "deer_b", "random"):
            if tiger != deer:
                number += 1
                mine, yours = 50 + SKILL[tiger] - SKILL[deer], SKILL[deer] - SKILL[tiger]
                events += match(number, (tiger, deer), *[(mine + noise, yours - noise) for noise in (1.0, -1.0) * 20])
    return events


def folded(events):
    state = LeagueState(LeagueConfig())
    for event in events:
        apply(state, event)
    return state
