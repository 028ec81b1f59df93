"""Data sets of games, made of segments: each lane is an episode of its own."""

import numpy as np

from league.segment import CONTINUES, CUT
from league.store.game_file import Games, GamesCard, write_games


def games_of(segments, spec, players=("expert",), action=None):
    """Return the decisions of segments as games; lane n is played by player n modulo their number."""
    lane, _, place = segments.present.nonzero()
    here, lanes = segments.present, len(segments.length)
    none = np.zeros((lanes, len(spec.seats)))
    end = segments.end[here]
    return Games(
        card=GamesCard(run="r", env={"name": spec.name}, spec=spec, players=players, snapshots=("",) * len(players)),
        episode=lane.astype(np.int32),
        agent=np.array(spec.seats[0].agents, np.int16)[place],
        player=(lane % len(players)).astype(np.int32),
        observation=segments.observation[here],
        mask=segments.mask[here],
        action=segments.action[here] if action is None else action,
        reward=segments.reward[here],
        last=end != CONTINUES,
        truncated=end == CUT,
        ticket=np.arange(lanes),
        number=np.zeros(lanes, np.int32),
        training=np.zeros(lanes, np.bool_),
        players=none.astype(np.int32),
        returns=none.astype(np.float32),
        ranks=none.astype(np.int16),
    )


def write_data(folder, games):
    """Write a data set of one file, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_games(folder / "games-00000.safetensors", games)
    return str(folder)
