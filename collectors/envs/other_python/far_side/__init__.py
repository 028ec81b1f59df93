"""The far side of `env.python`: plays PettingZoo games for a collector that runs in another Python.

    python -E far_side CHANNEL LIFELINE PARENT HARD     # two file descriptors, a process id, 0 or 1

This directory runs on Python 3.8 to 3.14 and needs numpy and the game, of any PettingZoo since 1.20. So it imports
nothing of Ludus, and nothing else imports it; tests see that both sides agree. An order is a length and JSON. What a
tick needs is in memory that both sides share: actions in, observations, masks, rewards and endings out, all as
`[slot, agent]`.

    {"do": "open", "module": "pettingzoo.classic.rps_v2", "names": ["parallel_env", "env"], ...}     -> agents, spaces
    {"do": "seat", "slots": 32, "arrays": {"reward": [offset, shape, dtype], ...}, ...}              -> {}
    {"do": "start", "slots": [0, 1], "seeds": [7, 8], "drop": []}                                    -> {"faults": {}}
    {"do": "step"}                                                     -> nothing, or {"faults": ..., "infos": ...}
"""
