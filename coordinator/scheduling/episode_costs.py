"""What a training episode of each learning player costs, in the unit that the rates of players are shares of."""

from collections.abc import Mapping, Sequence

from league.ids import PlayerId
from league.player import Player
from league.rulebook import BY_CPU, BY_EPISODES
from league.state import LeagueState


def episode_costs(
    state: LeagueState, players: Sequence[Player], cpu_seconds: Mapping[PlayerId, float]
) -> dict[PlayerId, float]:
    """Return the mean cost of an episode of each player: 1, its env steps, or the CPU seconds that its learner spends.

    Where it is not known yet it is the mean of the others, or 1 if none is known.
    """
    by, episodes = state.config.rate_by, state.trained_episodes
    if by == BY_EPISODES:
        return {player.id: 1.0 for player in players}
    if by == BY_CPU:
        known = {player.id: cpu_seconds[player.id] for player in players if player.id in cpu_seconds}
    else:
        steps = state.trained_steps
        known = {player.id: steps[player.id] / episodes[player.id] for player in players if steps[player.id]}
    usual = sum(known.values()) / len(known) if known else 1.0
    return {player.id: known.get(player.id, usual) for player in players}
