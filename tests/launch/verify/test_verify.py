"""`verify` can fail: each of these tests plants one thing that is wrong, and sees it found."""

import json
import multiprocessing
import re
import shutil
import sqlite3
from contextlib import closing

import pytest
from spawned import hold

from launch.verify.audit import walk
from launch.verify.verify import CHECKS, is_served, verify
from launch.viewers.view import ViewError, read_rules
from league.events import OperatorActed, SnapshotPruned
from league.payoff import Payoff
from league.store.chain import to_text
from league.store.fold import read_fold, write_fold
from league.store.ledger import Ledger, open_copy
from league.store.snapshots import SnapshotStore


@pytest.fixture
def doctored():
    """Return the statements that doctored the ledger."""
    return []


@pytest.fixture
def told(run, capsys, doctored):
    """Return the exit code, the titles of the checks that failed, and all that was printed.

    Whatever is done to a row breaks the chain; what other checks say of it is what the tests are about.
    """

    def check(with_fold=False):
        if not with_fold:  # the checkpoint is of the ledger before it was doctored: one finding at a time
            run.fold.unlink(missing_ok=True)
        code = verify(run)
        text = capsys.readouterr().out
        wrong = [line[6:] for line in text.splitlines() if line.startswith("WRONG")]
        assert (title("check_chain") in wrong) == bool(doctored)
        return code, [found for found in wrong if found != title("check_chain")], text

    return check


@pytest.fixture
def sql(run, doctored):
    """Doctor the ledger behind everybody's back."""

    def execute(statement, *parameters):
        if not statement.startswith("select"):
            doctored.append(statement)
        with closing(sqlite3.connect(run.ledger)) as database, database:
            return database.execute(statement, parameters).fetchall()

    return execute


def title(check):
    return next(title for title, function in CHECKS.items() if function.__name__ == check)


def test_a_clean_run_is_clean(told):
    code, wrong, text = told(with_fold=True)
    assert (code, wrong) == (0, [])
    assert text.count("ok ") == len(CHECKS)
    assert "first: all is well" in text


def test_programs_get_the_problems_of_each_check(run, sql, capsys):
    assert verify(run, as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["run"], found["sound"], found["complete"]) == ("first", True, True)
    assert list(found["checks"]) == list(CHECKS)
    run.ledger.write_bytes(run.ledger.read_bytes()[:5000])
    assert verify(run, as_json=True) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["sound"], found["complete"]) == (False, False)
    assert any(found["checks"].values())


def test_a_missing_row_is_found(told, sql):
    ((seq,),) = sql("select seq from events where kind = 'term_began'")
    sql("delete from events where seq = ?", seq)
    code, wrong, text = told()
    assert code == 1
    assert wrong == [title("check_sequence")]
    assert f"start again at [{seq + 1}]" in text


def test_a_wrong_row_is_found(told, sql):
    ((seq, body),) = sql("select seq, body from events where kind = 'result_counted' order by seq limit 1")
    sql("update events set body = ? where seq = ?", body.replace('"attempt":0', '"attempt":7'), seq)
    code, wrong, text = told()
    assert code == 1
    assert title("check_tickets") in wrong
    assert f"event {seq}: the result of ticket" in text
    assert "is of attempt 7, not 0" in text


def test_a_row_that_is_no_event_is_found(told, sql):
    ((seq,),) = sql("select max(seq) from events")
    sql("""update events set body = '{"event":"gone"}' where seq = ?""", seq)
    code, wrong, text = told()
    assert (code, wrong) == (1, [title("check_readable")])
    assert f"event {seq} (phase_began) cannot be read" in text


def test_a_second_result_is_found(told, sql):
    sql("drop index one_result")
    ((ticket, body),) = sql("select ticket, body from events where kind = 'result_counted' order by seq limit 1")
    sql("insert into events select max(seq) + 1, 'result_counted', ?, ?, null from events", ticket, body)
    code, wrong, text = told()
    assert code == 1
    assert {title("check_results"), title("check_tickets"), title("check_readable")} <= set(wrong)
    assert f"ticket {ticket} has 2 results" in text
    assert f"a result of ticket {ticket}, which was settled before" in text


def test_a_result_of_no_ticket_is_found(told, sql):
    body = json.dumps({"event": "result_counted", "ticket": 9999, "attempt": 0, "episodes": []})
    sql("insert into events select max(seq) + 1, 'result_counted', 9999, ?, null from events", body)
    code, wrong, text = told()
    assert code == 1
    assert title("check_tickets") in wrong
    assert "a result of ticket 9999, which was never issued" in text


@pytest.mark.parametrize(("found", "trained"), [("train", "random"), ("evaluate", "main")])
def test_a_ticket_that_trains_who_does_not_learn_in_it_is_found(told, sql, found, trained):
    rows = sql("select seq, body from events where kind = 'ticket_issued'")
    seq, issued = next(
        (seq, body) for seq, body in ((s, json.loads(b)) for s, b in rows) if body["ticket"]["purpose"] == found
    )
    issued["ticket"]["trains"] = [trained]
    sql("update events set body = ? where seq = ?", json.dumps(issued), seq)
    code, wrong, text = told()
    assert code == 1
    assert title("check_tickets") in wrong
    assert f"event {seq}: ticket {issued['ticket']['number']} trains players that do not learn in it" in text


def test_a_shortened_result_is_found(told, sql):
    ((seq, body),) = sql("select seq, body from events where kind = 'result_counted' order by seq limit 1")
    short = json.loads(body)
    short["episodes"] = short["episodes"][1:]
    sql("update events set body = ? where seq = ?", json.dumps(short), seq)
    code, wrong, text = told()
    assert code == 1
    assert title("check_tickets") in wrong
    assert "does not have" in text


def test_a_wrong_counter_is_found(told, sql):
    """The column and the body of a row disagree: SQL joins by the one, the fold by the other."""
    (seq, _), (_, other) = sql(
        """select r.seq, r.ticket from events r join events i on i.kind = 'ticket_issued' and i.ticket = r.ticket
           where r.kind = 'result_counted' group by json_extract(i.body, '$.ticket.purpose')"""
    )
    sql("drop index one_result")
    sql("update events set ticket = ? where seq = ?", other, seq)
    code, wrong, text = told()
    assert code == 1
    assert title("check_counters") in wrong
    assert "by SQL" in text
    assert f"event {seq} is filed as result_counted of ticket {other}" in text


def test_a_damaged_fold_checkpoint_is_found(told, run):
    run.fold.write_bytes(run.fold.read_bytes()[:-9])
    assert told(with_fold=True)[:2] == (1, [title("check_checkpoint")])


def test_a_wrong_counter_in_the_fold_checkpoint_is_found(told, run):
    rules = read_rules(run)
    state, seq = read_fold(run.fold, rules)
    state.results["train"] += 1
    with open_copy(run.ledger) as ledger:
        write_fold(run.fold, state, seq, ledger.mark(seq))
    assert told(with_fold=True)[:2] == (1, [title("check_checkpoint")])


def test_a_fold_that_forgets_games_is_found(told, monkeypatch):
    """Games of older candidates stay with the newest one: counters agree, the points of ratings do not."""
    monkeypatch.setattr("league.evaluation_payoff.EvaluationPayoff.succeed", lambda self, player: None)
    code, wrong, text = told()
    assert (code, wrong) == (1, [title("check_ratings")])
    assert "ratings are fitted to" in text


def test_a_fold_that_counts_twice_is_found(told, monkeypatch):
    once = Payoff.record_games
    monkeypatch.setattr(Payoff, "record_games", lambda *arguments: (once(*arguments), once(*arguments)))
    code, wrong, text = told()
    assert code == 1
    assert title("check_counters") in wrong
    assert re.search(r"beat .*: (\d+) by SQL, (\d+) by the fold", text)


def test_a_wrong_byte_in_a_snapshot_is_found(told, run, state):
    path = SnapshotStore(run.snapshots).path(state.population["main.0"].snapshot)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    code, wrong, text = told()
    assert (code, wrong) == (1, [title("check_snapshots")])
    assert "is damaged" in text


def test_a_missing_snapshot_is_found_unless_it_was_pruned(told, run):
    with open_copy(run.ledger) as ledger:
        audit = walk(ledger)
    candidate, frozen = min(audit.stored - audit.frozen), min(audit.frozen)

    def lose(snapshot):
        SnapshotStore(run.snapshots).remove(snapshot)

    def prune(snapshot):
        with Ledger.open(run.ledger) as ledger:
            ledger.commit([SnapshotPruned(snapshot=snapshot)])

    lose(candidate)
    assert told()[:2] == (1, [title("check_snapshots")])
    prune(candidate)
    assert told()[0] == 0
    lose(frozen)
    prune(frozen)  # nobody may prune a frozen one
    assert told()[:2] == (1, [title("check_snapshots")])


def test_a_result_that_only_a_journal_knows_is_found(told, run):
    (journal,) = run.journals.glob("*.jsonl")
    lines = journal.read_text().splitlines()
    assert json.loads(lines[20])["verdict"] == "accepted"
    with journal.open("a") as file:
        file.write(
            '{"ticket":9999,"attempt":0,"verdict":"accepted"}\n{"ticket":9999,"attempt":1,"verdict":"superseded"}\n'
        )
    code, wrong, text = told()
    assert (code, wrong) == (1, [title("check_journals")])
    assert "attempt 0 of ticket 9999 was accepted, but it has no result" in text
    assert "attempt 1" not in text
    with journal.open("a") as file:
        file.write('{"ticket":9999,"attempt":0,"verdict":"accepted"}\n' * 11)
    assert "and 7 more" in told()[2]


def test_a_lost_tail_of_the_ledger_is_found_by_the_journals(told, sql):
    """The last rows may vanish without a gap; collectors that saw them still know."""
    ((seq,),) = sql("select max(seq) from events where kind = 'result_counted'")
    sql("delete from events where seq >= ?", seq)
    assert told()[:2] == (1, [title("check_journals")])


def test_a_journal_that_a_crash_cut_is_no_problem(told, run):
    (journal,) = run.journals.glob("*.jsonl")
    with journal.open("a") as file:
        file.write('{"ticket":9999,"att')
    assert told()[0] == 0
    with journal.open("a") as file:
        file.write("\n")
    assert told()[:2] == (1, [title("check_journals")])


@pytest.mark.parametrize("page", range(1, 6))
def test_a_damaged_file_is_found(run, page, capsys):
    data = bytearray(run.ledger.read_bytes())
    data[4096 * page : 4096 * (page + 1)] = b"\xff" * 4096
    run.ledger.write_bytes(data)
    assert verify(run) == 1
    *_, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"first: (its ledger cannot be read, so that not all 10 checks were made|\d+ of 10 .*)", last)


def test_a_ledger_that_cannot_be_read_is_no_number_of_failed_checks(run, capsys):
    run.ledger.write_bytes(b"no database" * 400)
    assert verify(run) == 1
    title, why, last = capsys.readouterr().out.splitlines()
    assert title == "WRONG the ledger can be read"
    assert "file is not a database" in why
    assert last == "first: its ledger cannot be read, so that not all 10 checks were made"


def test_a_living_run_is_left_alone(run):
    assert not is_served(run.ledger)
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    process = context.Process(target=hold, args=(run.ledger, ready, release))
    process.start()
    try:
        assert ready.wait(60)
        assert is_served(run.ledger)
        with pytest.raises(ViewError, match="is alive: stop it first, or copy its directory"):
            verify(run)
    finally:
        release.set()
        process.join(60)
    assert verify(run) == 0


def test_an_evaluation_with_all_winners_swapped_is_found(told, sql):
    """Every counter and rating follows from the swapped rows as well: the chain alone knows that they were others."""
    seq, body = sql(
        """select r.seq, r.body from events r join events i on i.kind = 'ticket_issued' and i.ticket = r.ticket
           where r.kind = 'result_counted' and i.body like '%"evaluate"%' order by r.seq limit 1"""
    )[0]
    result = json.loads(body)
    result["episodes"] = [[ranks[::-1], *rest] for ranks, *rest in result["episodes"]]
    sql("update events set body = ? where seq = ?", json.dumps(result, separators=(",", ":")), seq)
    code, wrong, text = told()
    assert (code, wrong) == (1, [])
    named = re.search(r"event (\d+)(?: to (\d+))?: .*changed", text)
    assert int(named[1]) <= seq <= int(named[2] or named[1])


def test_an_older_ledger_in_its_place_is_found_by_the_journals(told, run):
    """The older one is whole in itself; collectors know that there was more."""
    shutil.copy(run.ledger, run.root / "older.sqlite")
    with Ledger.open(run.ledger) as ledger:
        ledger.commit([OperatorActed(action="pause")])
        head = to_text(ledger.end)
    (journal,) = run.journals.glob("*.jsonl")
    with journal.open("a") as file:
        ticket = json.loads(journal.read_text().splitlines()[0])
        file.write(json.dumps(ticket | {"head": head}) + "\n")
    assert told()[:2] == (0, [])
    shutil.copy(run.root / "older.sqlite", run.ledger)
    code, wrong, text = told()
    assert (code, wrong) == (1, [title("check_journals")])
    assert "its end was lost, or it is an older one" in text
    with Ledger.open(run.ledger) as ledger:
        ledger.commit([OperatorActed(action="resume")])
    code, wrong, text = told()
    assert (code, wrong) == (1, [title("check_journals")])
    assert "it was changed, or another one was put in its place" in text


def test_collectors_note_the_hash_of_the_ledger(run):
    (journal,) = run.journals.glob("*.jsonl")
    heads = [head for line in journal.read_text().splitlines() if (head := json.loads(line).get("head"))]
    with open_copy(run.ledger) as ledger:
        assert all(ledger.mark(int(seq)) == digest for seq, digest in map(str.split, heads))
    assert len(heads) > 20


@pytest.mark.parametrize("statement", ["drop index one_result", "delete from meta where key = 'elapsed'"])
def test_a_changed_database_is_found(told, sql, statement):
    sql(statement)
    assert told()[0] == 1
