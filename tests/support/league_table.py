"""Short ways to play at the table of `tests/coordinator/conftest.py`."""

from league.wire.messages import Verdict

ACCEPTED, DUPLICATE, SUPERSEDED, UNKNOWN = Verdict
BOT = {"kind": "scripted", "bot": "random", "anchor": 0.0}


def take(league, session="c0/1", count=1):
    tickets = league.report(session, want=count).tickets
    assert len(tickets) == count
    return tickets if count > 1 else tickets[0]


def kinds(league, kind):
    return [event for _, event in league.ledger.events() if isinstance(event, kind)]


def budgeted(bench, config, final_games=5, **budget):
    rules = config()
    for name, value in budget.items():
        setattr(rules.budget, name, value)
    rules.evaluation.final_games = final_games
    league = bench(config=rules)
    league.write()
    return league


def roles_taken(tickets, roles):
    taken = {}
    for ticket in tickets:
        assert len(ticket.entries) == len(roles)
        for entry, role in zip(ticket.entries, roles, strict=True):
            taken.setdefault(entry.player, set()).add(role)
    return taken
