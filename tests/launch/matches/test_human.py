"""`ludus play`: a human is an ordinary player, with a rating; its games are tickets, and nobody else plays them."""

import re

import msgspec
import pytest

from coordinator.challenges import CHALLENGES
from coordinator.challenging import HUMANS
from coordinator.coordinator import Coordinator
from launch.matches.human import play_human
from launch.verify.verify import verify
from launch.viewers.tables import all_standings
from launch.viewers.view import ViewError, open_view
from league.events import ResultCounted, TicketIssued, TicketWithdrawn
from league.ids import PlayerId
from league.store.ledger import Ledger, LedgerError, open_copy
from league.wire.messages import Challenge, Orders, Refused, Report, Role


class Hand:
    """Types the first legal move, after the lines that are given."""

    def __init__(self, *lines):
        self.lines, self.prompts = list(lines), []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if self.lines:
            return self.lines.pop(0)
        return re.search(r"(?:moves:|among) (\d+)", prompt).group(1)


def events(run, kind):
    with open_copy(run.ledger) as ledger:
        return [event for _, event in ledger.events() if isinstance(event, kind)]


def test_games_of_a_human_are_counted_and_rated(run, capsys):
    hand = Hand("help", "99")
    assert play_human(run, "main", name="ada", games=2, read=hand) == 0
    text = capsys.readouterr().out
    assert "ada, a human" in text
    assert "plays 0" in text
    assert re.search(r"ada: Elo -?\d+ ±\d+ over 2 games", text)
    assert hand.prompts[1].startswith("'help' is not among 0 1 2")
    state = open_view(run).state
    ada = state.population[PlayerId("ada")]
    assert ada.kind == "human"
    assert sum(state.evaluation.raw(ada.id, PlayerId("main"))) == 2
    first, second = [event.ticket for event in events(run, TicketIssued)][-2:]
    assert [[e.player for e in t.entries].index("ada") for t in (first, second)] == [0, 1], "both seats in turn"
    assert verify(run) == 0


def test_a_game_of_a_human_can_be_replayed(run, capsys):
    from launch.matches.playing import replay

    play_human(run, "random", read=Hand())
    number = events(run, ResultCounted)[-1].ticket
    assert replay(run, f"{number}.0", delay=0) == 0
    assert "the same outcome as recorded" in capsys.readouterr().out


@pytest.mark.parametrize("end", ["q", EOFError(), KeyboardInterrupt()])
def test_who_quits_loses_nothing(run, end, capsys):
    before = len(events(run, ResultCounted))

    def read(prompt):
        if isinstance(end, BaseException):
            raise end
        return end

    assert play_human(run, "main", read=read) == 0
    assert "nobody wins" in capsys.readouterr().out
    assert len(events(run, ResultCounted)) == before
    state = open_view(run).state
    assert not state.open
    assert "human" not in [row.player for row in all_standings(state)], "nobody has seen it play"
    assert verify(run) == 0


def test_without_a_terminal_nobody_is_asked_and_nobody_joins(run):
    before = len(open_view(run).state.population)
    with pytest.raises(ViewError, match="standard input is no terminal"):
        play_human(run, "main")
    assert len(open_view(run).state.population) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponent": "maine"}, "did you mean 'main'"),
        ({"opponent": "main", "name": "random"}, "no human: choose another --name"),
        ({"opponent": "main", "name": "main.7"}, "no name for a player"),
        ({"opponent": "main", "role": "goalkeeper"}, "has the roles"),
    ],
)
def test_a_challenge_that_cannot_be_taken_up_is_refused(run, options, message):
    with pytest.raises(ViewError, match=message):
        play_human(run, read=Hand(), **options)


def test_without_a_coordinator_the_ledger_must_be_free(run):
    with Ledger.open(run.ledger), pytest.raises(LedgerError):
        play_human(run, "main", read=Hand())


def challenge(**options):
    return Challenge(request=1, session="h", name=PlayerId("ada"), opponent=PlayerId("random"), **options)


def test_a_living_coordinator_hands_the_ticket_to_the_human_alone(state, run):
    coordinator = Coordinator(open_view(run).state, ["learner-0"])
    orders = coordinator.handle(Role.COLLECTOR, challenge(), 0.0)
    assert isinstance(orders, Orders)
    (ticket,) = orders.tickets
    coordinator.state.config.budget.env_steps = None
    coordinator.reopen()
    others = coordinator.handle(None, Report(request=1, name="c", session="c/1", want=4), 1.0)
    assert ticket.number not in [t.number for t in others.tickets]
    coordinator.tick(1000.0)
    assert ticket.number in coordinator.state.open, "a human may think"
    coordinator.tick(2000.0)
    assert ticket.number not in coordinator.state.open
    assert TicketWithdrawn(ticket=ticket.number) in coordinator.take(), "nobody else could play it"


def test_only_the_key_of_a_human_may_challenge(run):
    coordinator = Coordinator(open_view(run).state, ["learner-0"])
    assert isinstance(coordinator.handle(Role.VIEWER, challenge(), 0.0, "viewer"), Refused)
    assert isinstance(coordinator.handle(Role.COLLECTOR, challenge(), 0.0, "collector-0"), Refused)
    assert isinstance(coordinator.handle(Role.COLLECTOR, challenge(), 0.0, "human"), Orders)


def test_a_human_has_one_game_at_a_time_and_humans_are_bounded(run):
    coordinator = Coordinator(open_view(run).state, ["learner-0"])
    games = [coordinator.handle(None, challenge(), 0.0).tickets[0].number for _ in range(3)]
    assert [number for number in games if number in coordinator.state.open] == games[-1:]
    assert len(coordinator.leases) == 1
    for number in range(HUMANS - 1):
        named = msgspec.structs.replace(challenge(), name=f"human{number}")
        assert isinstance(coordinator.handle(None, named, number), Orders)
    refused = coordinator.handle(None, msgspec.structs.replace(challenge(), name="late"), HUMANS)
    assert "no more may join" in refused.reason
    assert isinstance(coordinator.handle(None, challenge(), HUMANS), Orders), "those who did still play"


def test_a_flood_of_challenges_does_not_fill_the_ledger(run):
    coordinator = Coordinator(open_view(run).state, ["learner-0"])
    before = coordinator.state.tickets
    answers = [coordinator.handle(None, challenge(), number / 1000) for number in range(10_000)]
    assert coordinator.state.tickets - before == sum(isinstance(one, Orders) for one in answers)
    assert coordinator.state.tickets - before <= 13 * CHALLENGES
    assert "try again" in answers[-1].reason
    assert isinstance(coordinator.handle(None, challenge(), 20.0), Orders)


def test_a_human_that_went_away_does_not_hold_up_the_end(run):
    coordinator = Coordinator(open_view(run).state, learners=[])
    coordinator.reopen()
    coordinator.handle(None, challenge(), 0.0)
    coordinator.phases.finish("enough", 1.0)
    coordinator.tick(1.0)
    assert coordinator.state.phase == "over"
    assert not coordinator.state.open


def test_moves_of_several_numbers_are_refused_with_another_way(run):
    plain = run.read_config()
    run.write_config(plain | {"env": plain["env"] | {"name": "gymnasium", "id": "Pendulum-v1"}})
    with pytest.raises(
        ViewError, match=r"a move in Pendulum-v1 is not one choice.* Look on instead: ludus watch first main"
    ):
        play_human(run, "main", read=lambda prompt: "q")


def test_a_human_sees_the_board_as_the_environment_draws_it(run, capsys):
    plain = run.read_config()
    run.write_config(plain | {"env": plain["env"] | {"name": "pettingzoo", "id": "classic/chess_v6"}})
    assert play_human(run, "random", read=lambda prompt: "q") == 0
    assert "R N B Q K B N R" in capsys.readouterr().out
