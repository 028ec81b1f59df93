"""A packed player in PettingZoo's AEC loop: `python examples/packed_player_aec.py main.safetensors`.

The player comes from a league that played tic-tac-toe (`ludus pack RUN main`), in Ludus's own game or in PettingZoo's.
"""

import sys

from pettingzoo.classic import tictactoe_v3

import ludus


def main(file, episodes=20):
    """Let the player move first against random moves, and print what it returns on average."""
    player = ludus.load(file)
    env = tictactoe_v3.env()
    total = 0.0
    for episode in range(episodes):
        env.reset(seed=episode)
        player.reset()
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                total += env.rewards[agent] if agent == "player_1" else 0.0
                action = None
            elif agent == "player_1":
                action = player.act(observation, agent=agent)  # the action mask lies beside the observation
            else:
                action = env.action_space(agent).sample(observation["action_mask"])
            env.step(action)
    env.close()
    print(f"{player.card.player} returns {total / episodes:+.2f} in {episodes} games against random moves")


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[1:] else sys.exit(__doc__)
