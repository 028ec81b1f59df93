"""A ledger whose events do not fit one another, in a whole hash chain: one clear line, and never a traceback."""

import json
import random
import shutil
import sqlite3
from dataclasses import dataclass

import pytest

from launch.cli import main
from league.store.ledger import NOTHING, Ledger, TableRows

NUMBERS = (-1, 0, 1, 2, 3, 7, 255, 256, 1 << 31, 1 << 53, -(1 << 63), 1 << 63, 1 << 64, -0.5, 1e9, -1e308, 1e308)
TEXTS = (
    "nobody",
    "",
    "main",
    "main.0",
    "exploiter",
    "random",
    "over",
    "train",
    "evaluate",
    "x" * 5000,
    "../../etc",
    "\x1b[2J",
)


ENV = {"name": "toy", "agents": ["a"], "seats": [{"agents": [0]}], "observation": {"shape": [1], "dtype": "int8"}}


@dataclass
class Row:
    kind: str
    ticket: int | None
    body: str


def rows_of(run):
    with Ledger.open(run.ledger) as ledger:
        return [Row(kind, ticket, body) for _, kind, ticket, body in ledger.rows()]


def rewrite(run, rows):
    """Write a ledger with these rows, and with hashes that fit; return whether SQLite takes them."""
    for path in (run.ledger, run.fold):
        path.unlink(missing_ok=True)
    shutil.rmtree(run.journals)
    run.journals.mkdir()
    columns = [range(1, len(rows) + 1), [row.kind for row in rows], [row.ticket for row in rows]]
    lines = "".join(f"{row.body}\n" for row in rows).encode()
    with Ledger.open(run.ledger) as ledger:
        try:
            ledger._write(TableRows(columns, lines, 1), NOTHING, {})
        except (sqlite3.Error, OverflowError):
            return False
    return True


def leaves(value, path=()):
    """Yield the places of all values in nested JSON."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from leaves(inner, (*path, key))


def altered(row, rng):
    """Return an event with one value replaced, left out, or doubled."""
    plain = json.loads(row.body)
    path = rng.choice([path for path in leaves(plain) if path != ("event",)])
    home = plain
    for key in path[:-1]:
        home = home[key]
    old = home[path[-1]]
    choice = rng.randrange(10)
    if choice == 0:
        del home[path[-1]]
    elif choice == 1 and isinstance(old, list):
        old += old[:1] or [0]
    elif choice == 2 and isinstance(old, list):
        old.clear()
    elif choice == 3:
        home[path[-1]] = rng.choice([None, True, [], {}, [[]], 5, "5"])
    elif isinstance(old, str):
        home[path[-1]] = rng.choice(TEXTS)
    else:
        home[path[-1]] = rng.choice(NUMBERS)
    ticket = plain.get("ticket") if isinstance(plain.get("ticket"), int) else row.ticket
    if isinstance(plain.get("ticket"), dict):
        ticket = plain["ticket"].get("number", ticket)
    return Row(row.kind, ticket if isinstance(ticket, int) else row.ticket, json.dumps(plain))


def mutated(rows, rng):
    """Return rows of which one is altered, left out, doubled, or changes places with another."""
    rows = list(rows)
    kinds = sorted({row.kind for row in rows})
    kind = rng.choice(kinds)  # rare kinds are as interesting as tickets
    place = rng.choice([place for place, row in enumerate(rows) if row.kind == kind])
    choice = rng.randrange(8)
    if choice == 0:
        del rows[place]
    elif choice == 1:
        rows.insert(place, rows[place])
    elif choice == 2:
        other = rng.randrange(len(rows))
        rows[place], rows[other] = rows[other], rows[place]
    else:
        rows[place] = altered(rows[place], rng)
    return rows


def commands(run, out):
    name = str(run.root)
    return {
        "standings": ["standings", name],
        "standings --json": ["standings", name, "--json"],
        "payoff": ["payoff", name],
        "status": ["status", name],
        "matches": ["matches", name, "--limit", "9999"],
        "explain": ["explain", name, "main"],
        "list": ["list", str(run.root.parent)],
        "export": ["export", name, "--to", "csv", "--out", str(out)],
    }


def outcome(words, capsys):
    """Run a command; return its exit code, its output, and what is wrong with it."""
    try:
        code = main(words)
    except Exception as error:
        return None, "", f"{type(error).__name__}: {error}"
    printed = capsys.readouterr()
    lines = printed.err.strip().splitlines()
    wrong = "" if code in (0, 1) or len(lines) == 1 else f"exit code {code}, {len(lines)} lines of errors"
    return code, printed.out + printed.err, wrong


def tried(run, rows, wanted, capsys):
    """Return what went wrong with one ledger."""
    if not rewrite(run, rows):
        return []
    found = {name: outcome(words, capsys) for name, words in wanted.items()}
    code, _, wrong = outcome(["verify", str(run.root)], capsys)
    problems = [f"{name}: {wrong}" for name, (_, _, wrong) in found.items() if wrong]
    problems += [f"verify: {wrong}"] if wrong else []
    refused = [name for name, (exit_code, _, _) in found.items() if exit_code == 2]
    if refused and code not in (1, 2):
        problems.append(f"verify finds nothing, but {refused[0]} says: {found[refused[0]][1].strip()}")
    return problems


@pytest.mark.parametrize("seed", range(4))
def test_altered_events_give_one_line_and_no_traceback(seed, run, tmp_path, capsys):
    rng, rows = random.Random(seed), rows_of(run)
    some = dict(list(commands(run, tmp_path / "out").items())[seed::4])
    for _ in range(4):
        assert tried(run, mutated(rows, rng), some, capsys) == []


def test_an_error_that_nobody_foresaw_is_explained_by_the_event_that_does_not_fit(run, capsys):
    rows = rows_of(run)
    place = max(place for place, row in enumerate(rows) if row.kind == "result_counted")
    plain = json.loads(rows[place].body)
    for episode in plain["episodes"]:
        episode[1] = []  # the returns, which the fold of a league by outcome skips
    rows[place].body = json.dumps(plain)
    assert rewrite(run, rows)
    assert main(["matches", str(run.root)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert f"event {place + 1} has a result whose episodes do not have 2 entries" in said


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_many_altered_ledgers_give_one_line_and_no_traceback(run, tmp_path, capsys, figure):
    rows, wrong, count = rows_of(run), [], 60
    wanted = commands(run, tmp_path / "out")
    for seed in range(count):
        if seed % 10 == 0:
            wanted["report"] = ["report", str(run.root), "--out", str(tmp_path / "report")]
        wrong += [
            f"seed {seed}: {problem}" for problem in tried(run, mutated(rows, random.Random(seed)), wanted, capsys)
        ]
        wanted.pop("report", None)
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert wrong == []
    figure(f"{count} ledgers with an altered event and fitting hashes, {len(wanted) + 1} commands each: 0 tracebacks")


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("league_founded", {"env": {**ENV, "actions": 0}}, "founds a league in an environment without"),
        ("league_founded", {"env": {**ENV, "agents": [], "seats": []}}, "founds a league in which nobody plays"),
        ("player_frozen", {"player": {"parent": "nobody"}}, "names a player that does not exist: 'nobody'"),
        ("candidate_written", {"player": "nobody"}, "names a player that does not exist: 'nobody'"),
        ("candidate_written", {"incarnation": 77}, "incarnation 77 of"),
        ("ticket_issued", {"ticket": {"trains": ["random"]}}, "says that 'random' learns"),
        ("ticket_issued", {"ticket": {"entries": [["who"], ["main"]]}}, "names a player that does not exist: 'who'"),
        ("ticket_issued", {"ticket": {"entries": [["main"]]}}, "a ticket for 1 entries"),
        ("result_counted", {"attempt": 5}, "the result of attempt 5 of ticket"),
        ("result_counted", {"episodes": []}, "a result with 0 episodes"),
        ("result_counted", {"ticket": 1 << 40}, "is about ticket 1099511627776, which is not open"),
        ("player_added", {"player": {"anchor": 1e300}}, "impossible rating"),
    ],
)  # fmt: skip
def test_verify_and_views_name_the_event(kind, change, reason, run, capsys):
    rows = rows_of(run)
    place = max(place for place, row in enumerate(rows) if row.kind == kind)
    plain = json.loads(rows[place].body)
    for key, value in change.items():
        plain[key] = {**plain[key], **value} if isinstance(value, dict) else value
    ticket = plain["ticket"] if kind == "result_counted" else rows[place].ticket
    rows[place] = Row(kind, ticket, json.dumps(plain))
    assert rewrite(run, rows)
    assert main(["verify", str(run.root)]) == 1
    said = capsys.readouterr().out
    assert f"event {place + 1} does not follow from those before it: it " in said
    assert reason in said
