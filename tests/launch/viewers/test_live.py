import io
import json
from itertools import pairwise

from rich.console import Console

from launch.arguments import build_parser
from launch.viewers.live import LiveTable, candidate_lines, final_report, next_commands, plain_line, status_text
from launch.viewers.tables import candidate_scores, status_json
from launch.viewers.view import View
from league.rulebook import LeagueConfig
from league.state import FINAL, TRAINING, LeagueState
from league.wire.messages import Role, Worker


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def screen(terminal):
    return Console(file=io.StringIO(), width=80, force_terminal=terminal, legacy_windows=False)


def test_a_coordinator_that_cannot_write_is_told_of_in_one_line(view):
    assert status_json(view)["broken"] is None
    lines = status_text("first", view).plain.splitlines()
    view.broken = "the ledger cannot be written: the disk is full"
    assert [line for line in status_text("first", view).plain.splitlines() if line not in lines] == [view.broken]
    assert plain_line(view).startswith(f"{view.broken}; ")
    assert status_json(view)["broken"] == view.broken


def test_an_episode_that_does_not_end_is_shown_with_a_remedy(view):
    assert "has not ended" not in plain_line(view) + status_text("first", view).plain
    metrics = {"longest_episode": 1234.0, "episodes": 0.0, "env_steps_per_second": 7.0}
    view.workers = (Worker(name="collector-0", role=Role.COLLECTOR, age=1.0, metrics=metrics),)
    for shown in (plain_line(view), status_text("first", view).plain):
        assert "an episode has not ended in 1,234 steps, and does not count until it does. Give the env" in shown
    assert "env.max_steps=1000 (a batch" in plain_line(view)


def test_a_pause_is_shown_with_the_command_that_ends_it(view):
    assert "paused" not in plain_line(view) + status_text("first", view).plain
    view.state.paused = True
    for shown in (plain_line(view), status_text("first", view).plain):
        assert "(paused: ludus unpause)" in shown


def test_plain_lines_come_every_ten_seconds(view):
    clock, console = Clock(), screen(terminal=False)
    view.state.phase = TRAINING
    with LiveTable("first", console=console, clock=clock) as table:
        for _ in range(61):
            table.show(view)
            clock.now += 0.5
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 4  # at 0, 10, 20 and 30 seconds
    assert all("1:02:05 left" in line for line in lines)


def test_a_view_that_is_not_complete_shows_how_far_it_is_and_no_old_numbers(view, capsys):
    clock, consoles = Clock(), [screen(terminal=False), screen(terminal=True)]
    head, view.seq, view.head = view.seq, 3, view.seq
    for console in consoles:
        with LiveTable("first", console=console, clock=clock) as table:
            table.show(view)
            shown = console.file.getvalue()
            assert f"reading the ledger: event 3 of {head:,}" in shown
            assert "players" not in shown
            view.seq = head
            table.show(view)  # at once, however lately it showed something
            assert "players (" in console.file.getvalue()
            view.seq = head - 1  # what is new later is no reason to hide the rest
            clock.now += 20
            table.show(view)
        view.seq = 3
    with LiveTable("first", as_json=True, console=consoles[0], clock=clock) as table:
        table.show(view)
        assert capsys.readouterr().out == "", "a program reads whole numbers only"


def test_the_final_evaluation_is_announced_and_counted(finishing):
    clock, console = Clock(), screen(terminal=False)
    finishing.state.phase = TRAINING
    with LiveTable("first", console=console, clock=clock) as table:
        table.show(finishing)
        finishing.state.phase = FINAL
        for _ in range(3):
            table.show(finishing)
    told = " ".join(console.file.getvalue().split())
    status = status_json(finishing)
    games = f"{status['final_done']} of {status['final_wanted']} games"
    assert status["final_done"] >= 7
    assert status["final_wanted"] >= 40
    assert told.count("training ends (the budget is spent). What is left is the final evaluation, " + games) == 1
    assert "within 0:30 (league.evaluation.final_share)" in told
    assert plain_line(finishing).startswith(f"final: {games}, about 0:00 left; ")


def test_a_plain_line_tells_all_that_matters(view):
    assert "left" not in plain_line(view), "a league that is over has no time left"
    view.state.phase = TRAINING
    line = plain_line(view)
    assert "\n" not in line
    for part in (
        "training: 1:02:05 left",
        "24k steps/s",
        "collector wait 25% (of 1)",
        "learner wait 50%",
        "lag 1.2 (p95 2.0)",
        "NashConv of main 0.432",
    ):
        assert part in line
    assert f"{len(view.state.population)} players" in line
    assert "main Elo " in line
    assert "±" in line


def test_a_terminal_is_repainted_twice_a_second(view):
    clock, console = Clock(), screen(terminal=True)
    sizes = []
    with LiveTable("first", console=console, clock=clock) as table:
        for _ in range(8):
            table.show(view)
            sizes.append(len(console.file.getvalue()))
            clock.now += 0.25
    painted = [after > before for before, after in pairwise(sizes)]
    assert painted == [False, True] * 3 + [False]
    text = console.file.getvalue()
    assert "exploiter" in text
    assert "silent: learner-0" in text


def test_plain_wins_over_a_terminal(view):
    console = screen(terminal=True)
    with LiveTable("first", plain=True, console=console, clock=Clock()) as table:
        table.show(view)
    assert console.file.getvalue().count("\n") == 1


def test_quiet_shows_nothing_but_what_went_wrong(view, capsys):
    with LiveTable("first", quiet=True, clock=Clock()) as table:
        table.show(view)
        table.note("3 processes start")
        table.warn("collector-0 died [again]")
    assert capsys.readouterr() == ("", "collector-0 died [again]\n")
    with LiveTable("first", clock=Clock()) as table:
        table.note("3 processes start")
        table.warn("collector-0 died [again]")
    assert capsys.readouterr() == ("3 processes start\ncollector-0 died [again]\n", "")


def test_json_lines_are_for_programs_and_words_for_people(view, capsys):
    clock = Clock()
    with LiveTable("first", as_json=True, clock=clock) as table:
        for _ in range(21):
            table.show(view)
            clock.now += 0.5
        table.note("collector-0 died")
    final_report(view.state, "first", as_json=True)
    said = capsys.readouterr()
    assert said.err == "collector-0 died\n"
    first, second, last = map(json.loads, said.out.splitlines())
    assert first == second == status_json(view)
    assert last["standings"][0]["place"] == 1


def test_a_league_that_has_not_begun_can_be_shown():
    view = View(LeagueConfig())
    assert "no collector plays now" in plain_line(view)
    assert "0:00 played" in status_text("first", view).plain


def test_the_report_tells_every_last_candidate_with_its_interval(state):
    score, low, high, games = candidate_scores(state, "main")["random"]
    assert games >= 16
    console = screen(terminal=False)
    final_report(state, "first", console)
    text = " ".join(console.file.getvalue().split())
    assert f"main: its last candidate scores {score:.1%} against random over {games} games" in text
    assert f"(95 % interval {low:.1%} to {high:.1%})" in text
    assert "first is over: the budget of 3,000 env steps is spent" in text
    assert max(map(len, console.file.getvalue().splitlines())) <= 80


def test_the_commands_of_the_report_are_commands(state):
    commands = next_commands(state, "first")
    assert len(commands) == 6
    for command in commands:
        parsed = build_parser().parse_args(command.partition("#")[0].split()[1:])
        assert parsed.run == "first"
    assert "ludus watch first main random" in commands


def test_the_commands_of_the_report_are_allowed_what_the_run_was(state):
    commands = next_commands(state, "first", ["mine", "games"])
    assert "ludus watch first main random --allow mine --allow games" in commands
    assert "ludus matches first      # then: ludus replay first TICKET --allow mine --allow games" in commands
    for command in commands:
        for one in command.split("      # then: "):
            parsed = build_parser().parse_args(one.split()[1:])
            assert getattr(parsed, "allow", ["mine", "games"]) == ["mine", "games"]
    console = screen(terminal=False)
    final_report(state, "first", console, allow=["mine"])
    assert "ludus watch first main random --allow mine" in console.file.getvalue()


def test_a_league_without_results_has_a_report():
    state = LeagueState(LeagueConfig())
    assert candidate_lines(state) == ["no main has met an anchor since its last candidate"]
    assert next_commands(state, "empty") == ["ludus standings empty", "ludus verify empty", "ludus dashboard empty"]
    final_report(state, "empty", screen(terminal=False))


def test_alarms_are_printed_once_when_they_ring(view):
    console, now = screen(terminal=False), [0.0]
    view.state.voids, view.live = 2, True
    table = LiveTable("first", plain=True, console=console, clock=lambda: now[0])
    for _ in range(4):
        table.show(view)
        now[0] += 60.0
    printed = console.file.getvalue()
    assert printed.count("alarm: 2 tickets are void.") == 1
    assert "ludus check-env" in printed
