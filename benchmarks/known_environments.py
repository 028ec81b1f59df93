"""The environments that the sweep plays, and the packages that they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Known:
    """An environment of the list; `quick` ones are played in the fast tests, `alike` ones in the sweep only."""

    api: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False
    remark: str = ""
    alike: bool = False  # much like others, which the tests play


AEC, PARALLEL = "AEC", "Parallel"
FRAMES = "frames as they are: wrap it before you train"
STEPS = "env.max_steps"

KNOWN: dict[str, Known] = {
    "classic/chess_v6": Known(AEC),
    "classic/connect_four_v3": Known(AEC, quick=True, remark="native twin: `env=connect_four`"),
    "classic/go_v5": Known(AEC, {"board_size": 9}),
    "classic/hanabi_v5": Known(AEC, remark="co-operative; random play soon loses all lives, which pays nothing"),
    "classic/leduc_holdem_v4": Known(AEC, quick=True),
    "classic/rps_v2": Known(PARALLEL, quick=True, remark="native twin: `env=rock_paper_scissors`"),
    "classic/texas_holdem_no_limit_v6": Known(AEC, remark="an agent may be paid that never acts"),
    "classic/texas_holdem_v4": Known(AEC, quick=True, remark="an agent may be paid that never acts"),
    "classic/tictactoe_v3": Known(AEC, quick=True, remark="native twin: `env=tic_tac_toe`"),
    "butterfly/cooperative_pong_v6": Known(PARALLEL, remark="wrap it (resize) before you train: the picture is big"),
    "butterfly/knights_archers_zombies_v11": Known(
        PARALLEL, {"max_cycles": 200}, remark="leaks over resets: rebuilt for each episode"
    ),
    "butterfly/pistonball_v6": Known(PARALLEL, {"max_cycles": 30}, remark="wrap it (resize) before you train"),
    "sisl/multiwalker_v9": Known(PARALLEL),
    "sisl/pursuit_v5": Known(PARALLEL, {"max_cycles": 50}),
    "mpe2/collect_treasure_v1": Known(PARALLEL),
    "mpe2/simple_adversary_v3": Known(PARALLEL),
    "mpe2/simple_crypto_v3": Known(PARALLEL),
    "mpe2/simple_formation_v1": Known(PARALLEL),
    "mpe2/simple_line_v1": Known(PARALLEL),
    "mpe2/simple_push_v3": Known(PARALLEL),
    "mpe2/simple_reference_v3": Known(PARALLEL),
    "mpe2/simple_speaker_listener_v4": Known(PARALLEL, quick=True),
    "mpe2/simple_spread_v3": Known(
        PARALLEL,
        {"continuous_actions": True},
        quick=True,
        remark="or 5 discrete actions; these have a native twin: `env=simple_spread`",
    ),
    "mpe2/simple_tag_v3": Known(PARALLEL, quick=True, remark="native twin: `env=simple_tag`"),
    "mpe2/simple_v3": Known(PARALLEL),
    "mpe2/simple_world_comm_v3": Known(PARALLEL),
    "openspiel/go(board_size=9)": Known("OpenSpiel"),
    "openspiel/chess": Known("OpenSpiel"),
    "openspiel/connect_four": Known("OpenSpiel"),
    "openspiel/breakthrough(rows=6,columns=6)": Known("OpenSpiel"),
    "openspiel/backgammon": Known("OpenSpiel", remark="chance nodes"),
    "openspiel/kuhn_poker": Known("OpenSpiel", quick=True),
    "openspiel/leduc_poker(players=3)": Known("OpenSpiel"),
    "openspiel/liars_dice": Known("OpenSpiel"),
    "openspiel/goofspiel(num_cards=5,imp_info=true)": Known("OpenSpiel", quick=True, remark="simultaneous moves"),
    "openspiel/oshi_zumo": Known("OpenSpiel", remark="simultaneous moves"),
    "openspiel/hanabi": Known("OpenSpiel", remark="co-operative"),
    "atari/pong_v3": Known(PARALLEL, {"max_cycles": 40}, remark=FRAMES),
    "atari/boxing_v2": Known(PARALLEL, {"max_cycles": 40}, remark=FRAMES),
    "atari/warlords_v3": Known(PARALLEL, {"max_cycles": 40}, remark=FRAMES),
    "atari/quadrapong_v4": Known(PARALLEL, {"max_cycles": 40}, remark="two pairs; wrap it before you train"),
    "gymnasium_multi/Foraging-8x8-2p-1f-v3": Known("Gymnasium, tuples", quick=True, remark="Level-Based Foraging"),
    "gymnasium_multi/rware-tiny-2ag-v2": Known("Gymnasium, tuples", {"max_steps": 100}, remark="RWARE"),
    "gymnasium/CartPole-v1": Known("Gymnasium", quick=True),
    "gymnasium/Pendulum-v1": Known("Gymnasium"),
    "gymnasium/Acrobot-v1": Known("Gymnasium"),
    "gymnasium/MountainCarContinuous-v0": Known("Gymnasium"),
    "gymnasium/Blackjack-v1": Known("Gymnasium"),
    "gymnasium/Taxi-v4": Known("Gymnasium", remark="action mask in the info"),
    "ALE/Pong-v5": Known("Gymnasium", {"max_num_frames_per_episode": 2000}, remark="preprocessed as in papers"),
    "ALE/Breakout-v5": Known("Gymnasium", {"max_num_frames_per_episode": 2000}, remark="preprocessed as in papers"),
    "pgx/tic_tac_toe": Known("Pgx"),
    "pgx/connect_four": Known("Pgx"),
    "pgx/othello": Known("Pgx"),
    "pgx/hex": Known("Pgx"),
    "pgx/go_9x9": Known("Pgx", {STEPS: 60}),
    "pgx/backgammon": Known("Pgx", remark="dice"),
    "pgx/kuhn_poker": Known("Pgx"),
    "pgx/leduc_holdem": Known("Pgx"),
    "pgx/sparrow_mahjong": Known("Pgx"),
    "pgx/2048": Known("Pgx"),
}

ATARI = """
basketball_pong_v3 combat_plane_v2 combat_tank_v2 double_dunk_v3 entombed_competitive_v3 entombed_cooperative_v3
flag_capture_v2 foozpong_v3 ice_hockey_v2 joust_v3 mario_bros_v3 maze_craze_v3 othello_v3 space_invaders_v2
space_war_v2 surround_v2 tennis_v3 video_checkers_v4 volleyball_pong_v3 wizard_of_wor_v3
"""
OPENSPIEL = """
2048 amazons banqi bargaining battleship blackjack blotto bridge capture_the_flag catch checkers cliff_walking
clobber colored_trails coop_box_pushing crazy_eights dark_hex deep_sea dots_and_boxes dou_dizhu
einstein_wurfelt_nicht euchre first_sealed_auction gin_rummy go_fish gomoku havannah hearts hex hive laser_tag
latent_ttt lewis_signaling lines_of_action maedn mancala markov_soccer matching_pennies_3p matrix_bos
matrix_brps matrix_cd matrix_coordination matrix_mp matrix_pd matrix_rps matrix_rpsw matrix_sh
matrix_shapleys_game mnk nim nine_mens_morris oh_hell othello oware pathfinding pentago phantom_go phantom_ttt
pig quoridor repeated_leduc_poker sheriff skat snake solitaire spades tic_tac_toe tiny_bridge_2p tiny_bridge_4p
tiny_hanabi trade_comm twixt ultimate_tic_tac_toe universal_poker xiangqi y yacht
"""
LONG = "antichess chinese_checkers crazyhouse cursor_go dark_chess kriegspiel rbc shogi"  # OpenSpiel's, to be cut
GYMNASIUM = """
MountainCar-v0 LunarLander-v3 LunarLanderContinuous-v3 BipedalWalker-v3 BipedalWalkerHardcore-v3 CarRacing-v3
FrozenLake-v1 FrozenLake8x8-v1 CliffWalking-v1 CliffWalkingSlippery-v1
"""
PGX = """
animal_shogi gardner_chess go_19x19 chess shogi minatar-asterix minatar-breakout minatar-freeway
minatar-seaquest minatar-space_invaders
"""
KNOWN |= {f"atari/{id}": Known(PARALLEL, {"max_cycles": 40}, remark=FRAMES, alike=True) for id in ATARI.split()}
KNOWN |= {f"openspiel/{id}": Known("OpenSpiel", alike=True) for id in OPENSPIEL.split()}
KNOWN |= {
    f"openspiel/{id}": Known("OpenSpiel", {STEPS: 300}, remark=f"`{STEPS}=300` here", alike=True) for id in LONG.split()
}
KNOWN |= {f"gymnasium/{id}": Known("Gymnasium", alike=True) for id in GYMNASIUM.split()}
KNOWN |= {f"pgx/{id}": Known("Pgx", {STEPS: 60}, remark=f"`{STEPS}=60` here", alike=True) for id in PGX.split()}

PACKAGES = {
    "PettingZoo": "pettingzoo",
    "mpe2": "mpe2",
    "OpenSpiel": "open_spiel",
    "Gymnasium": "gymnasium",
    "ale-py": "ale-py",
    "multi-agent-ale-py": "multi-agent-ale-py",
    "lbforaging": "lbforaging",
    "rware": "rware",
    "Pgx": "pgx",
    "JAX": "jax",
}
"""What the sweep plays, as pip names it."""
