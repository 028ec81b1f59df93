"""The durable side of a learner: it reads start snapshots and checkpoints, and writes candidates and checkpoints."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from league.ids import Hash, derive_seed
from league.per_player import PerPlayer
from league.policies.layout import FloatArray, PolicyConfig, describe, initial, plain_policy, policy_from
from league.policies.perturbation import NoiseTable, fixed_part, perturbed_part
from league.spec import EnvSpec
from league.store.snapshots import Manifest, SnapshotStore
from league.wire.messages import Assignment, Candidate
from learners.algorithms.algorithm import Algorithm, make_algorithm
from learners.algorithms.config import AlgoConfig
from learners.algorithms.replay_config import ReplayConfig
from learners.apart_trainee import ApartTrainee
from learners.checkpoint import REMEDY, Checkpoint, CheckpointError, load, save
from learners.config import LearnerConfig
from learners.distributed import ALONE, Alone, Group
from learners.player_settings import PlayerSettings
from learners.remote_replay import RemoteReplay, RemoteTrainee
from learners.replay import LocalReplay
from learners.replay_files import KeptReplay, ReplayFiles, told_size
from learners.trainee import Trainee
from learners.weight_average import WeightAverage
from learners.weight_check import WeightCheck
from learners.weight_exchange import make_exchange

log = logging.getLogger("ludus.learner")

MakeAlgorithm = Callable[[AlgoConfig, PolicyConfig, EnvSpec, FloatArray, Group], Algorithm]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraineeStore:
    """Creates trainees and writes their candidates.

    trainee = store.begin(assignment)       # from its checkpoint, else its start snapshot, else from scratch
    store.write(trainee)                    # a candidate and a checkpoint, durable when it returns
    """

    snapshots: SnapshotStore
    checkpoint_path: Callable[[str], Path]  # of a player
    spec: EnvSpec
    players: PerPlayer[PlayerSettings]
    seed: int
    algorithm: MakeAlgorithm = make_algorithm
    group: Group = ALONE
    config: LearnerConfig = field(default_factory=LearnerConfig)
    remote_replay: Callable[[], RemoteReplay] | None = (
        None  # makes the client of a replay elsewhere; None: replays are here
    )
    replay_files: ReplayFiles | None = None  # where replays of this process are kept; None: they are not

    def begin(self, assignment: Assignment, decisions: int = 0, spent: float = 0.0) -> Trainee:
        """Return the trainee of a roster's row.

        `decisions` is what earlier incarnations trained on, `spent` the share of the league's budget that is spent.
        """
        checkpoint = load(self.checkpoint_path(assignment.player))
        if checkpoint is not None:
            policy = plain_policy(self.players[assignment.player].policy)
            checkpoint.refuse_other(self._algorithm(assignment.player), policy, self.spec.signature)
            if checkpoint.incarnation == assignment.incarnation:
                return _begun(self._resume(checkpoint))
            decisions = max(decisions, checkpoint.decisions)
        trainee = self._trainee(assignment, self._start(assignment))
        trainee.decisions, trainee.parent, trainee.began = decisions, assignment.start, spent
        trainee.cpu_seconds = checkpoint.cpu_seconds if checkpoint is not None else 0.0  # of earlier incarnations
        return _begun(trainee)

    def write(self, trainee: Trainee) -> Candidate:
        """Write a candidate, then the checkpoint that names it."""
        state, average = trainee.algorithm.state(), trainee.average
        flat = state["flat"] if average is None else average.read(state["flat"])
        if average is not None:
            state |= average.state()
        manifest = Manifest(
            player=trainee.player,
            incarnation=trainee.incarnation,
            version=trainee.version,
            decisions=trainee.decisions,
            policy=plain_policy(self.players[trainee.player].policy),
            signature=self.spec.signature,
            parent=trainee.parent,
            versions={"numpy": np.__version__, "torch": str(torch.__version__)},
        )
        snapshot = self.snapshots.put({"flat": flat}, manifest)
        self.keep_replay(trainee)
        save(self.checkpoint_path(trainee.player), self._checkpoint(trainee, snapshot, state))
        trainee.parent = snapshot
        trainee.candidate = _candidate(trainee, snapshot)
        return trainee.candidate

    def keep_replay(self, trainee: Trainee) -> None:
        """Write the replay of this version, if replays are kept; a failure leaves the last one, and is logged."""
        replay = self._replay_of(trainee)
        if replay is None or self.replay_files is None:
            return
        try:
            size = self.replay_files.save(self._kept(trainee), replay, trainee.rng)
        except OSError as error:
            log.error("player %s: the replay of version %d is not kept: %s", trainee.player, trainee.version, error)
            return
        log.info("player %s: %s", trainee.player, told_size(size, replay))

    def drop_older_replays(self, trainee: Trainee) -> None:
        """Remove the replays of versions before the checkpoint, if this one was kept."""
        if self.replay_files is not None and self._replay_of(trainee) is not None:
            self.replay_files.forget_all_but(self._kept(trainee))

    def _restore_replay(self, trainee: Trainee) -> None:
        """Fill the replay of a player that goes on, if it was kept."""
        replay = self._replay_of(trainee)
        if replay is None or self.replay_files is None:
            return
        version = self.replay_files.load(self._kept(trainee), replay, trainee.rng)
        found = f"{replay.size:,} decisions of version {version}" if version is not None else "none was kept"
        log.info("player %s goes on with its replay: %s", trainee.player, found)

    def _replay_of(self, trainee: Trainee) -> LocalReplay | None:
        replay = None if trainee.elsewhere else getattr(trainee.algorithm, "replay", None)
        return replay if isinstance(replay, LocalReplay) else None

    def _kept(self, trainee: Trainee) -> KeptReplay:
        algo = self.players[trainee.player].algo
        assert isinstance(algo, ReplayConfig)
        return KeptReplay(
            player=trainee.player,
            incarnation=trainee.incarnation,
            version=trainee.version,
            settings=algo.kept_under(self.spec.signature, trainee.memory),
        )

    def _algorithm(self, player: str) -> str:
        """Return the name of the class that trains a player."""
        return self.players[player].algo.algorithm.rpartition(":")[2]

    def _trainee(self, assignment: Assignment, flat: FloatArray) -> Trainee:
        player, incarnation = assignment.player, assignment.incarnation
        algo, policy = self.players[player].algo, self.players[player].policy
        board = self.group.board
        among = self.group if board is None else Alone(device=self.group.device)  # whom it computes with, in step
        algorithm = self.algorithm(algo, policy, self.spec, flat, among)
        parts = (self.seed, "train", player, incarnation, *((self.group.rank,) if self.group.rank else ()))
        common: dict[str, Any] = {
            "player": player,
            "incarnation": incarnation,
            "algorithm": algorithm,
            "weights": algorithm.flat(),
            "memory": policy.state_size,
            "state": policy.sees_state,
            "noise": NoiseTable(perturbed_part(policy, self.spec)).offsets if algo.weight_noise else 0,
            "batcher": algo.new_batcher(incarnation, self.group.size),
            "rng": np.random.default_rng(derive_seed(*parts)),
            "group": among,
            "weight_check": WeightCheck(policy, self.spec, self.config),
            "average": WeightAverage(self.config.ema, describe(policy, self.spec)) if self.config.ema else None,
        }
        if board is not None:
            key, fixed = f"{player}/{incarnation}", fixed_part(policy, self.spec)
            exchange = partial(make_exchange, self.config.share, board, key, fixed=fixed)
            return ApartTrainee(**common, board=board, exchange=exchange)
        if self.remote_replay is None or not self.players[player].replays:
            return Trainee(**common)
        return RemoteTrainee(**common, replay=self.remote_replay())

    def _start(self, assignment: Assignment) -> FloatArray:
        policy = self.players[assignment.player].policy
        if assignment.start is None:
            seed = derive_seed(self.seed, "init", assignment.player, assignment.incarnation)
            return initial(policy, self.spec, seed)
        snapshot = self.snapshots.get(assignment.start)
        found = (policy_from(snapshot.manifest.policy), snapshot.manifest.signature)
        if found != (policy, self.spec.signature):
            raise ValueError(
                f"player {assignment.player!r} cannot start from snapshot {assignment.start}: it has policy "
                f"{found[0]} and environment signature {found[1]}, the config says {policy} and "
                f"{self.spec.signature}. Use the config that the snapshot was trained with."
            )
        flat: FloatArray = snapshot.arrays["flat"]
        return flat

    def _resume(self, checkpoint: Checkpoint) -> Trainee:
        assignment = Assignment(player=checkpoint.player, incarnation=checkpoint.incarnation)
        trainee = self._trainee(assignment, checkpoint.arrays["flat"])
        try:
            trainee.algorithm.restore(checkpoint.arrays)
            if trainee.average is not None:
                trainee.average.restore(checkpoint.arrays)
        except KeyError as error:
            raise CheckpointError(
                f"the checkpoint of player {checkpoint.player!r} lacks {error}: an older version of Ludus wrote it. "
                f"{REMEDY}"
            ) from error
        if self.group.rank == 0:  # every rank shuffles its own share with its own generator
            trainee.rng.bit_generator.state = checkpoint.rng
        trainee.version, trainee.decisions = checkpoint.version, checkpoint.decisions
        trainee.parent, trainee.began, trainee.spent = checkpoint.candidate, checkpoint.began, checkpoint.spent
        trainee.cpu_seconds = checkpoint.cpu_seconds
        if checkpoint.candidate in self.snapshots:
            trainee.candidate = _candidate(trainee, checkpoint.candidate)
        self._restore_replay(trainee)
        return trainee

    def _checkpoint(self, trainee: Trainee, snapshot: Hash, state: dict[str, Any]) -> Checkpoint:
        return Checkpoint(
            player=trainee.player,
            incarnation=trainee.incarnation,
            version=trainee.version,
            decisions=trainee.decisions,
            candidate=snapshot,
            algorithm=self._algorithm(trainee.player),
            policy=plain_policy(self.players[trainee.player].policy),
            signature=self.spec.signature,
            rng=dict(trainee.rng.bit_generator.state),
            arrays=state,
            began=trainee.began,
            spent=trainee.spent,
            cpu_seconds=trainee.cpu_seconds,
        )


def _begun(trainee: Trainee) -> Trainee:
    """Let ranks that do not wait begin alike."""
    if isinstance(trainee, ApartTrainee):
        trainee.begin()
    return trainee


def _candidate(trainee: Trainee, snapshot: Hash) -> Candidate:
    return Candidate(
        player=trainee.player,
        incarnation=trainee.incarnation,
        version=trainee.version,
        snapshot=snapshot,
        decisions=trainee.decisions,
    )
