"""The fold checkpoint gives the same state as the ledger, or nothing."""

import numpy as np
import pytest

from coordinator.opening import refold
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from league.events import OperatorActed
from league.ratings.elo import Elo
from league.store.fold import encode_fold, read_fold, write_fold
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    overrides = [
        "experiment=tic_tac_toe",
        "launch=inline",
        "league.budget.minutes=null",
        "league.budget.env_steps=6000",
    ]
    overrides += ["collector.slots=32", "policy.hidden=[16]", "algo.batch=256", "algo.minibatch=128"]
    overrides += ["learner.candidate_decisions=500", "league.promotion.min_decisions=500", "launch.collectors=1"]
    overrides += ["league.promotion.max_decisions=1000", "league.evaluation.final_games=16"]
    config = compose(overrides)
    run = RunDirectory(tmp_path_factory.mktemp("fold") / "run").create()
    run.write_config(to_plain(config))
    play(config, run)
    return config.league, run


def test_closing_a_league_leaves_a_checkpoint_that_equals_the_fold(played):
    rules, run = played
    with Ledger.open(run.ledger) as ledger:
        state, seq = read_fold(run.fold, rules)
        assert seq == ledger.head
        assert encode_fold(state, seq) == encode_fold(refold(ledger, rules), seq)


def test_going_on_from_any_checkpoint_gives_the_same_state(played, tmp_path):
    rules, run = played
    with Ledger.open(run.ledger) as ledger:
        whole = encode_fold(refold(ledger, rules), 0)
        for stop in range(1, ledger.head, max(1, ledger.head // 9)):
            state, _ = _fold_until(ledger, rules, stop)
            write_fold(tmp_path / "fold", state, stop, ledger.mark(stop))
            assert encode_fold(refold(ledger, rules, tmp_path / "fold"), 0) == whole


def _fold_until(ledger, rules, stop):
    from league.state import LeagueState, apply

    state = LeagueState(rules)
    for seq, event in ledger.events():
        if seq > stop:
            break
        apply(state, event)
    return state, stop


def test_a_damaged_checkpoint_is_not_trusted(played, tmp_path):
    rules, run = played
    data = bytearray(run.fold.read_bytes())
    for position in range(0, len(data), max(1, len(data) // 50)):
        flipped = bytearray(data)
        flipped[position] ^= 1
        (tmp_path / "fold").write_bytes(flipped)
        assert read_fold(tmp_path / "fold", rules) is None


def test_a_checkpoint_of_other_rules_is_not_used(played):
    rules, run = played
    before, rules.payoff.decay = rules.payoff.decay, 0.5
    try:
        assert read_fold(run.fold, rules) is None
    finally:
        rules.payoff.decay = before


def test_a_checkpoint_ahead_of_its_ledger_is_not_used(played, tmp_path):
    rules, run = played
    with Ledger.open(tmp_path / "ledger.sqlite") as empty:
        assert refold(empty, rules, run.fold).tickets == 0


def test_an_older_ledger_in_its_place_is_noticed(played, tmp_path, caplog):
    """As long as it is shorter, and also when it has grown past the checkpoint with another history."""
    rules, run = played
    with Ledger.open(tmp_path / "ledger.sqlite") as other, Ledger.open(run.ledger) as ledger:
        for _, event in ledger.events():
            if other.head == 200:
                break
            other.commit([event])
        before = encode_fold(refold(other, rules), 0)
        assert encode_fold(refold(other, rules, run.fold), 0) == before
        assert "it is of another ledger" in caplog.text
        other.commit([OperatorActed(action="pause")] * ledger.head)
        assert refold(other, rules, run.fold).paused
    assert caplog.text.count("it is of another ledger") == 2


def test_the_same_last_row_is_not_the_same_history(tmp_path):
    """The hash is of all events up to a row, not of the row."""
    marks = []
    for i, action in enumerate(("unpause", "pause")):
        with Ledger.open(tmp_path / f"{i}.sqlite") as ledger:
            ledger.commit([OperatorActed(action=action), OperatorActed(action="drain")])
            marks.append(ledger.mark(2))
            assert ledger.mark(1) != ledger.mark(2) != ledger.mark(3) == ""
    assert marks[0] != marks[1]


def spoil_matrix(state):
    state.evaluation.matrix["wins"][:] = np.nan


def spoil_elo(state):
    state.elo = Elo.from_dict(state.elo.to_dict() | {"initial": float("inf")})


@pytest.mark.parametrize("spoil", [spoil_matrix, spoil_elo])
def test_a_checkpoint_with_nan_or_infinity_is_not_used(played, tmp_path, spoil):
    rules, run = played
    state, seq = read_fold(run.fold, rules)
    write_fold(tmp_path / "fold", state, seq)
    assert read_fold(tmp_path / "fold", rules) is not None
    spoil(state)
    write_fold(tmp_path / "fold", state, seq)
    assert read_fold(tmp_path / "fold", rules) is None
