"""Whatever a name or a reason holds, no control character of it reaches the terminal."""

import json
import subprocess
import sys

import pytest
from evil_text import EVIL, shown

from launch.cli import main
from launch.matches.human import _ask_move
from launch.processes.local import LeagueWarnings
from launch.terminal.clean import Clean, clean, cleaned, show_error
from launch.viewers.live import LiveTable, final_report
from league.events import OperatorActed, PhaseBegan, PlayerAdded, TicketIssued, TicketVoided
from league.player import Player
from league.state import OVER
from league.store.ledger import Ledger
from league.ticket import Entry, Purpose, Ticket


def test_a_text_is_cleaned_as_json_writes_it():
    assert clean("a\x1b[2J\x7f\u202e\n\tb\xe9") == "a\\u001b[2J\\u007f\\u202e\n\tb\xe9"
    assert json.loads(f'"{clean(EVIL)}"') == EVIL
    assert shown(clean("".join(map(chr, range(0x3000))))) == []


def test_standard_streams_take_clean_text_only(capsys):
    before = sys.stdout
    with cleaned(), cleaned():
        sys.stdout.write(EVIL)
        sys.stderr.writelines([EVIL, "\n"])
        print(EVIL, file=sys.stderr)
        assert isinstance(sys.stdout, Clean)
        assert sys.stdout.encoding == before.encoding
    assert sys.stdout is before
    out, err = capsys.readouterr()
    assert clean(EVIL) == out
    assert err == f"{out}\n{out}\n"


def test_an_error_that_nobody_caught_is_clean(capsys):
    try:
        raise RuntimeError(EVIL)
    except RuntimeError as error:
        show_error(type(error), error, error.__traceback__)
    told = capsys.readouterr().err
    assert "Traceback (most recent call last)" in told
    assert shown(told) == []


def test_the_live_table_and_its_lines_are_clean(state, capsys):
    with LiveTable(EVIL, plain=True) as table:
        table.note(EVIL)
    final_report(state, EVIL)
    out = capsys.readouterr().out
    assert clean("\x1b]0;owned") in out
    assert shown(out) == []


def test_a_prompt_is_clean():
    asked = []
    _ask_move(EVIL, [0], lambda prompt: asked.append(prompt) or "0")
    assert shown(asked[0]) == []


@pytest.fixture
def evil(run, state):
    """A run whose ledger has names and reasons that steer terminals."""
    bot = Player(id=EVIL, kind="scripted", bot="random", role=None)
    ticket = Ticket(number=1 << 40, purpose=Purpose.EVALUATE, entries=(Entry(EVIL, None, "random"),) * 2, episodes=1)
    with Ledger.open(run.ledger) as ledger:
        ledger.commit(
            [
                PlayerAdded(player=bot),
                TicketIssued(ticket=ticket),
                TicketVoided(ticket=1 << 40, why=EVIL),
                OperatorActed(action="drain"),
                PhaseBegan(phase=OVER, why=EVIL),
            ]
        )
    run.log("collector", 0).write_text(f"{EVIL}\n")
    return run


WORDS = {
    "status": [], "standings": [], "payoff": [], "matches": [], "logs": [], "verify": [],
    "status --json": ["--json"], "standings --json": ["--json"], "matches --json": ["--json"],
    "explain": [EVIL], "watch": [EVIL, "random", "--delay", "0"], "duel": [EVIL, "random", "--games", "2"],
    "report": [], "export": ["--to", "csv"], "replay": [EVIL], "scale": [EVIL],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Glyph")  # matplotlib has no picture of an escape character
def test_no_command_shows_what_steers_a_terminal(evil, capsys, figure):
    for command, words in WORDS.items():
        main([command.split()[0], str(evil.root), *words])
        told = "".join(capsys.readouterr())
        assert told, command
        assert shown(told) == [], command
    figure(f"0 control characters in the output of {len(WORDS)} commands")


@pytest.mark.parametrize(
    "words", [["run", f"env={EVIL}"], ["standings", EVIL], ["check-env", EVIL], ["run", f"{EVIL}=1"]]
)
def test_no_complaint_repeats_what_steers_a_terminal(words, capsys):
    assert main(words) in (1, 2)
    assert shown("".join(capsys.readouterr())) == []


def test_void_tickets_say_why_in_clean_text(state, capsys):
    warnings = LeagueWarnings()
    warnings(1, TicketVoided(ticket=1, why=EVIL), state)
    with LiveTable("x", plain=True) as table:
        warnings.show(table.note)
    out = capsys.readouterr().out
    assert "ticket 1 is void" in out
    assert shown(out) == []


def test_a_process_logs_clean_text():
    """What a child writes into its log is what somebody reads on a terminal later."""
    code = (
        "import sys, logging\nfrom launch.terminal.clean import cleaned\nwith cleaned():\n"
        "    logging.basicConfig(stream=sys.stderr)\n"
        "    logging.error('%s', sys.argv[1].encode().decode('unicode_escape'))\n"
    )
    word = EVIL.encode("unicode_escape").decode()
    done = subprocess.run([sys.executable, "-P", "-c", code, word], capture_output=True, text=True, check=True)
    assert "evil" in done.stderr
    assert shown(done.stderr) == []
