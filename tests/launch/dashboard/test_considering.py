import numpy as np
import pytest

from collectors.envs.config import EnvConfig, make_environment
from launch.dashboard.considering import Considering
from league.ids import PlayerId, TicketNumber
from league.ticket import Entry, Member, Purpose, Ticket


@pytest.fixture
def env():
    env = make_environment(EnvConfig(name="tic_tac_toe"), 1)
    env.start(np.arange(1), np.zeros(1, np.int64))
    yield env
    env.close()


def decision(run, env, entry):
    ticket = Ticket(
        number=TicketNumber(1),
        purpose=Purpose.EVALUATE,
        entries=(entry, Entry(PlayerId("b"), None, "random")),
        episodes=1,
    )
    ((found),) = Considering(run, env.spec, ticket, 0).decisions(env.rows(), [4])
    return found


def test_a_snapshot_has_probabilities_and_a_value(played, env):
    run, state = played
    found = decision(run, env, state.contestant(PlayerId("main")))
    assert found["legal"] == list(range(9))
    assert sum(found["probabilities"]) == pytest.approx(1, abs=1e-3)
    assert found["value"] is not None
    assert (found["chosen"], found["why"]) == (4, "")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (Entry(PlayerId("a"), None, "random"), "random is a script"),
        (Entry(PlayerId("a")), "its live weights were not kept"),
        (Entry(PlayerId("a"), "0" * 64), "its snapshot cannot be used"),
        (Entry(PlayerId("a"), members=(Member(PlayerId("b"), 1.0, None, "random"),)), "a mixture: one of its members"),
    ],
)
def test_without_a_snapshot_it_says_why(played, env, entry, why):
    found = decision(played[0], env, entry)
    assert found["probabilities"] is None
    assert why in found["why"]
