"""(e) One PPO update alone, on data shaped like connect four: the highest rate at which it trains on decisions."""

import time

import numpy as np
import torch

from benchmarks.measure import Measure, Slice, emit, summarise, timed
from collectors.envs.native.connect_four import SPEC
from league.ids import PlayerId
from league.policies.layout import PolicyConfig, initial
from league.segment import CUT, TERMINATED, Segments
from league.spec import EnvSpec
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch, Batcher

TICKS = 32  # decisions in a segment
EPISODE = 11  # decisions of one player in an episode


def made_up(decisions: int, rng: np.random.Generator, spec: EnvSpec = SPEC) -> Batch:
    """Return a batch of random boards, or images: what an update costs does not depend on what it learns."""
    steps = (decisions // TICKS, TICKS, 1)
    lanes = steps[0]
    end = np.zeros(steps, np.uint8)
    end[:, EPISODE - 1 :: EPISODE] = TERMINATED
    end[:, -1] = CUT
    seen, dtype = spec.observation.shape, spec.observation.dtype
    segments = Segments(
        player=PlayerId("main"),
        incarnation=0,
        observation=rng.integers(0, 2, (*steps, *seen), np.uint8).astype(dtype),
        mask=np.ones((*steps, spec.actions), np.bool_),
        action=rng.integers(0, spec.actions, steps).astype(np.int32),
        log_prob=np.full(steps, -np.log(spec.actions), np.float32),
        reward=np.where(end == TERMINATED, rng.choice([-1.0, 1.0], steps), 0.0).astype(np.float32),
        end=end,
        present=np.ones(steps, np.bool_),
        length=np.full(lanes, TICKS, np.int32),
        version=np.zeros(lanes, np.int32),
        tail_lane=np.arange(lanes, dtype=np.int32),
        tail_tick=np.full(lanes, TICKS - 1, np.int32),
        tail_agent=np.zeros(lanes, np.int32),
        tail_observation=rng.integers(0, 2, (lanes, *seen), np.uint8).astype(dtype),
        tail_mask=np.ones((lanes, spec.actions), np.bool_),
    )
    return Batch(segments, np.zeros(decisions, np.int64), {"collector": decisions})


def update_reference(network: str = "mlp") -> Measure:
    """Return the function that measures updates of the default PPO: 4096 decisions, minibatch 512, 4 epochs."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    config, policy = PPOConfig(batch=4096, minibatch=512, epochs=4), PolicyConfig(name=network)
    algorithm = PPO(config, policy, SPEC, initial(policy, SPEC, 0))
    batch = made_up(config.batch, rng)

    def learn(until: float) -> int:
        decisions = 0
        while time.perf_counter() < until:
            algorithm.update(batch, rng)
            decisions += batch.decisions
        return decisions

    def measure(seconds: float) -> Slice:
        return timed(learn, seconds)

    return measure


MESSAGES = 4  # segments messages that make up a batch


def pieces_of(batch: Batch) -> list[Segments]:
    """Return a batch as the messages that it came in."""
    lanes = len(batch.segments.length)
    return [_lanes(batch.segments, part) for part in np.array_split(np.arange(lanes), MESSAGES)]


def _lanes(segments: Segments, lanes: np.ndarray) -> Segments:
    arrays = segments.arrays()
    tails = np.isin(arrays["tail_lane"], lanes)
    picked = {name: array[tails if name.startswith("tail") else lanes] for name, array in arrays.items()}
    picked["tail_lane"] = np.searchsorted(lanes, picked["tail_lane"]).astype(np.int32)
    return Segments(segments.player, segments.incarnation, **picked)


def assembly(network: str, rounds: int) -> None:
    """Tell which share of a learner's time it takes to put a batch together: what another thread could save at most."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    config, policy = PPOConfig(batch=4096, minibatch=512, epochs=4), PolicyConfig(name=network)
    algorithm = PPO(config, policy, SPEC, initial(policy, SPEC, 0))
    parts = pieces_of(made_up(config.batch, rng))
    assembling = learning = 0.0
    for _ in range(rounds + 1):
        batcher = Batcher(incarnation=0, batch=config.batch, max_lag=0)
        for part in parts:
            batcher.add(part, "collector", version=0)
        began = time.process_time()
        batch = batcher.take(version=0)
        assembled = time.process_time()
        algorithm.update(batch, rng)
        assembling, learning = assembling + assembled - began, learning + time.process_time() - assembled
    share = assembling / (assembling + learning)
    emit(f"e: assembly of a batch, {network}", share=share, milliseconds=1000 * assembling / (rounds + 1))


def run(seconds: float, rounds: int) -> None:
    """Measure both networks; steps are decisions, counted once, however many epochs there are."""
    for network in ("mlp", "board_conv"):
        measure = update_reference(network)
        measure(0.2)
        summarise(f"e: PPO update, {network}", [measure(seconds) for _ in range(rounds)])
        assembly(network, rounds)
