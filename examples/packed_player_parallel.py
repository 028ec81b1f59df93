"""A packed player in PettingZoo's Parallel loop: `python examples/packed_player_parallel.py main.safetensors`.

The player comes from a league that played rock, paper, scissors: `ludus run env=pettingzoo env.id=classic/rps_v2`.
"""

import sys

from pettingzoo.classic import rps_v2

import ludus


def main(file, episodes=3):
    """Let the player play itself: one forward pass for both agents in every step."""
    player = ludus.load(file)
    env = rps_v2.parallel_env()
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for episode in range(episodes):
        observations, _ = env.reset(seed=episode)
        player.reset()
        while env.agents:
            actions = player.act_all(observations)
            observations, rewards, _, _, _ = env.step(actions)
            for agent, reward in rewards.items():
                returns[agent] += reward
    env.close()
    print(", ".join(f"{agent} returns {total / episodes:+.2f}" for agent, total in returns.items()))


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[1:] else sys.exit(__doc__)
