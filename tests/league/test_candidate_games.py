"""Games since each candidate: differences of totals, few starts, and what survives a checkpoint."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from league.candidate_games import CandidateGames
from league.sequential import kept_starts, surely_above


def test_games_since_each_start_are_differences_of_totals():
    games = CandidateGames()
    games.note({"old": (5, 1, 4)})
    games.note({"old": (9, 1, 5), "new": (1, 0, 0)})
    counts, starts = games.since(["old", "new", "unknown"], {"old": (20, 2, 6), "new": (4, 0, 1)})
    assert starts == [0, 1]
    assert counts.tolist() == [[[15, 1, 2], [11, 1, 1]], [[4, 0, 1], [3, 0, 1]], [[0, 0, 0], [0, 0, 0]]]
    games.clear()
    assert games.since(["old"], {"old": (20, 2, 6)})[0].shape == (1, 0, 3)


@given(st.integers(1, 300))
def test_starts_are_those_that_the_rule_keeps_and_survive_a_checkpoint(count):
    games = CandidateGames()
    for won in range(count):
        games.note({"target": (won, 0, 0)})
    counts, starts = games.since(["target"], {"target": (count, 0, 0)})
    assert starts == kept_starts(count - 1)
    assert counts[0, :, 0].tolist() == [count - start for start in starts]
    again = CandidateGames.from_dict(json.loads(json.dumps(games.to_dict())))
    assert again.to_dict() == games.to_dict()
    assert again.since(["target"], {"target": (count, 0, 0)})[1] == starts


def test_a_player_that_improves_is_promoted_by_its_recent_games():
    rng, games, totals = np.random.default_rng(3), CandidateGames(), np.zeros(3, int)
    for score in np.linspace(0.4, 0.95, 60):
        games.note({"target": tuple(totals.tolist())})
        won = int(rng.binomial(30, score))
        totals += [won, 0, 30 - won]
        counts, starts = games.since(["target"], {"target": tuple(totals.tolist())})
        if surely_above(counts, 0.7, starts).all():
            break
    assert 0.75 < score < 0.95
    assert totals[0] / totals.sum() < 0.7  # all games since the freeze would not have shown it
