"""One whole league by return: pairs of evaluation games share a deal, and every recorded one can be replayed."""

import pytest

from collectors.envs.config import make_environment
from collectors.episode import difference, outcome_of, replay
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.verify.verify import verify
from league.events import ResultCounted, TicketIssued
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.ticket import Purpose, episode_seeds

pytest.importorskip("pyspiel")
SMALL = ("launch=inline", "policy.hidden=[8]", "league.budget.env_steps=4000", "league.evaluation.final_games=4")


def test_a_league_of_kuhn_poker_goes_by_return(tmp_path):
    config = compose(["env=openspiel", "env.id=kuhn_poker", "league=pfsp", "league.payoff=return", *SMALL])
    run = RunDirectory(tmp_path / "run").create()
    run.write_config(to_plain(config))
    state = play(config, run)
    assert (state.payoff_by, state.env.returns, state.training.scale) == ("return", (-2.0, 2.0), 2.0)
    assert state.training.margin("main", "main.0") is not None
    counts = state.evaluation.game_counts([player.id for player in state.population])
    assert counts.margins.any()
    assert verify(run) == 0
    with Ledger.open(run.ledger) as ledger:
        events = [event for _, event in ledger.events()]
    tickets = {event.ticket.number: event.ticket for event in events if isinstance(event, TicketIssued)}
    env, played = make_environment(config.env, 1), 0
    for result in [event for event in events if isinstance(event, ResultCounted)]:
        ticket = tickets[result.ticket]
        if ticket.purpose == Purpose.EVALUATE and played < 20:
            seeds = episode_seeds(state.seed, ticket, result.attempt, range(ticket.episodes))
            assert seeds[0::2] == seeds[1::2], "both seats have the same cards"
            for number, recorded in enumerate(result.episodes):
                frames = replay(env, ticket, result.attempt, number, recorded.actions, state.seed)
                assert difference(recorded, outcome_of(frames)) == ""
                played += 1
    assert played >= 20
