"""Small poker games of OpenSpiel as arrays: every ending with its probability under any two policies, exactly."""

from dataclasses import dataclass

import numpy as np
import pyspiel


@dataclass(frozen=True)
class Poker:
    """All endings of a game of two, and all choices that lead to them.

    A policy is one probability for each choice (an information state and an action); `none` is a choice that is always
    taken. `path[player]` has the choices of a player before each ending.
    """

    deal: np.ndarray  # [ending] the private cards, numbered
    chance: np.ndarray  # [ending] probability of all that chance did
    won: np.ndarray  # [ending] what the first seat gets
    path: tuple[np.ndarray, np.ndarray]  # [ending, most choices] by player
    state: np.ndarray  # [choice] its information state
    action: np.ndarray  # [choice] its action
    bets: np.ndarray  # [choice] whether it is the most aggressive of its state

    @property
    def none(self):
        return len(self.state)

    def policy(self, logits):
        """Return the policy with these logits of choices."""
        weight = np.exp(logits - logits.max())
        return weight / np.bincount(self.state, weight)[self.state]

    def reach(self, player, policy):
        """Return the probability with which a player does its part of each ending."""
        return np.append(policy, 1.0)[self.path[player]].prod(axis=1)

    def endings(self, first, second):
        """Return the probability of each ending."""
        return self.chance * self.reach(0, first) * self.reach(1, second)

    def values(self, player, policy, other):
        """Return what each choice of a player is worth to it, counted from the root."""
        sign = 1.0 if player == 0 else -1.0
        worth = sign * self.won * self.endings(*((policy, other) if player == 0 else (other, policy)))
        sums = np.zeros(self.none + 1)
        np.add.at(sums, self.path[player], worth[:, None])
        return sums[:-1] / policy


def poker(name):
    """Return a game of OpenSpiel as arrays."""
    found, choices = [], {}

    def walk(state, chance, deal, paths):
        if state.is_terminal():
            found.append((deal, chance, state.returns()[0], paths))
        elif state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                dealt = (*deal, outcome) if len(deal) < 2 else deal
                walk(state.child(outcome), chance * probability, dealt, paths)
        else:
            player, seen = state.current_player(), state.information_state_string()
            for action in state.legal_actions():
                last = action == max(state.legal_actions())
                choice = choices.setdefault((seen, action), (len(choices), last))[0]
                both = list(paths)
                both[player] = (*both[player], choice)
                walk(state.child(action), chance, deal, tuple(both))

    walk(pyspiel.load_game(name).new_initial_state(), 1.0, (), ((), ()))
    deals = {deal: number for number, deal in enumerate(sorted({ending[0] for ending in found}))}
    states = {seen: number for number, seen in enumerate(dict.fromkeys(seen for seen, _ in choices))}
    longest = max(len(path) for ending in found for path in ending[3])
    path = np.full((2, len(found), longest), len(choices))
    for row, ending in enumerate(found):
        for player in (0, 1):
            path[player, row, : len(ending[3][player])] = ending[3][player]
    return Poker(
        deal=np.array([deals[ending[0]] for ending in found]),
        chance=np.array([ending[1] for ending in found]),
        won=np.array([ending[2] for ending in found]),
        path=(path[0], path[1]),
        state=np.array([states[seen] for seen, _ in choices]),
        action=np.array([action for _, action in choices]),
        bets=np.array([last for _, last in choices.values()]),
    )
