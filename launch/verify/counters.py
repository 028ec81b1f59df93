"""The counters of a league, by plain SQL over the ledger and by the fold: `ludus verify` compares the two.

    by_sql(ledger) == by_fold(state)       # but for zeros

Names are sentences for people: "env steps (train)", "main beat random (evaluate)".
"""

import sqlite3
from collections import Counter
from contextlib import closing

import msgspec
import numpy as np

from league.payoff import Payoff
from league.state import LeagueState
from league.store.ledger import Ledger

WINDOW = 20_000  # rows that SQL sees at a time, with the tickets that are open before them
_TABLE = "create table events(seq integer primary key, kind text, ticket integer, body text)"
_INDEX = "create index by_ticket on events(ticket, kind)"
_FORGET = """
delete from events where kind <> 'league_founded' and (kind <> 'ticket_issued' or ticket in
    (select ticket from events where kind in ('result_counted', 'ticket_voided', 'ticket_withdrawn')))
"""
_PLAYED = """
from events r join events i on i.kind = 'ticket_issued' and i.ticket = r.ticket
"""
_RESULTS = f"""
select json_extract(i.body, '$.ticket.purpose'), count(*), sum(json_array_length(r.body, '$.episodes')) {_PLAYED}
where r.kind = 'result_counted' and r.seq > :since group by 1
"""
_STEPS = f"""
select json_extract(i.body, '$.ticket.purpose'), sum(json_extract(e.value, '$[2]')) {_PLAYED}
join json_each(r.body, '$.episodes') e where r.kind = 'result_counted' and r.seq > :since group by 1
"""
_PAIRS = f"""
select json_extract(i.body, '$.ticket.purpose'), json_extract(a.value, '$[0]') me, json_extract(b.value, '$[0]') you,
       sum(json_extract(e.value, '$[0][' || a.key || ']') < json_extract(e.value, '$[0][' || b.key || ']')),
       sum(json_extract(e.value, '$[0][' || a.key || ']') = json_extract(e.value, '$[0][' || b.key || ']'))
{_PLAYED} join json_each(r.body, '$.episodes') e
join json_each(i.body, '$.ticket.entries') a join json_each(i.body, '$.ticket.entries') b
where r.kind = 'result_counted' and r.seq > :since and me <> you
    and json_extract(e.value, '$[0][' || a.key || ']') >= 0 and json_extract(e.value, '$[0][' || b.key || ']') >= 0
group by 1, 2, 3
"""  # a rank below 0: absent
_SIDES = """
select coalesce(json_extract(s.value, '$.side'), s.key) from events join json_each(body, '$.env.seats') s
where kind = 'league_founded' order by s.key
"""
# Where sides have several seats, two players meet once for each pair of sides.
_TEAMS = f"""
with sides as (
    select s.key seat, coalesce(json_extract(s.value, '$.side'), s.key) side
    from events join json_each(body, '$.env.seats') s where kind = 'league_founded'
), games as (
    select json_extract(i.body, '$.ticket.purpose') purpose,
           json_extract(a.value, '$[0]') me, json_extract(b.value, '$[0]') you,
           min(json_extract(e.value, '$[0][' || a.key || ']')) mine,
           min(json_extract(e.value, '$[0][' || b.key || ']')) yours
    {_PLAYED} join json_each(r.body, '$.episodes') e
    join json_each(i.body, '$.ticket.entries') a join json_each(i.body, '$.ticket.entries') b
    join sides x on x.seat = a.key join sides y on y.seat = b.key
    where r.kind = 'result_counted' and r.seq > :since and me <> you and x.side <> y.side
    group by r.ticket, e.key, x.side, y.side, me, you
)
select purpose, me, you, sum(mine < yours), sum(mine = yours) from games where mine >= 0 and yours >= 0 group by 1, 2, 3
"""
_KINDS = "select kind, count(*) from events where seq > :since group by kind"


def by_sql(ledger: Ledger) -> dict[str, int]:
    """Count the rows of the ledger, archived or not, without the fold."""
    counts: Counter[str] = Counter()
    with closing(sqlite3.connect(":memory:")) as window:
        window.execute(_TABLE)
        window.execute(_INDEX)
        since = 0
        while page := ledger.rows(since, WINDOW):
            window.executemany("insert into events values(?, ?, ?, ?)", page)
            counts.update(_counted(window, since))
            window.execute(_FORGET)
            since = page[-1][0]
    return dict(counts)


def _counted(window: sqlite3.Connection, since: int) -> dict[str, int]:
    """Count the rows of a window after `since`; those before it are open tickets."""

    def ask(query: str) -> list[tuple[object, ...]]:
        return window.execute(query, {"since": since}).fetchall()

    kinds = msgspec.convert(dict(ask(_KINDS)), dict[str, int])  # type: ignore[arg-type]
    counts = {
        "players": kinds.get("player_added", 0) + kinds.get("player_frozen", 0),
        "tickets": kinds.get("ticket_issued", 0),
        "void tickets": kinds.get("ticket_voided", 0),
    }
    for purpose, results, episodes in msgspec.convert(ask(_RESULTS), list[tuple[str, int, int]]):
        counts |= {f"results ({purpose})": results, f"episodes ({purpose})": episodes}
    for purpose, steps in msgspec.convert(ask(_STEPS), list[tuple[str, int]]):
        counts[f"env steps ({purpose})"] = steps
    sides = [side for (side,) in ask(_SIDES)]
    pairs = msgspec.convert(
        ask(_PAIRS if len(set(sides)) == len(sides) > 1 else _TEAMS), list[tuple[str, str, str, int, int]]
    )
    for purpose, me, you, wins, draws in pairs:
        counts |= {f"{me} beat {you} ({purpose})": wins, f"{me} drew with {you} ({purpose})": draws}
    return counts


def by_fold(state: LeagueState) -> dict[str, int]:
    """Return the same counters as the fold has them."""
    folded = {"players": len(state.population), "tickets": state.tickets, "void tickets": state.voids}
    for name, counter in (("results", state.results), ("episodes", state.episodes), ("env steps", state.steps)):
        folded |= {f"{name} ({purpose})": number for purpose, number in counter.items()}
    return folded | _pairs("train", state.training) | _pairs("evaluate", state.evaluation)


def _pairs(purpose: str, payoff: Payoff) -> dict[str, int]:
    """Return the raw wins and draws of every pair that met."""
    players, found = payoff.players, {}
    for field, verb in (("raw_wins", "beat"), ("raw_draws", "drew with")):
        table = payoff.matrix[field][: len(players), : len(players)]
        for i, j in np.argwhere(table).tolist():
            found[f"{players[i]} {verb} {players[j]} ({purpose})"] = int(table[i, j])
    return found
