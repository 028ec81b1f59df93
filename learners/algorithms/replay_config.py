"""The settings that algorithms with a replay have in common."""

from dataclasses import dataclass
from typing import Any, ClassVar

from league.policies.layout import PolicyConfig
from league.segment import Segments
from learners.algorithms.config import AlgoConfig
from learners.replay import LocalReplay, RateLimit, Replay
from learners.steps import Steps, decisions_of, lanes_of

WAITING_SHARE = 4  # of the size of a replay, that may wait beside it
SEES = ("cnn", "resnet")  # networks with convolutions that CURL can train


@dataclass(kw_only=True, slots=True)
class ReplayConfig(AlgoConfig):
    """Learning from a replay."""

    remembers: ClassVar[bool] = False
    normalises: ClassVar[bool] = False
    central_critic: ClassVar[bool] = False
    replays: ClassVar[bool] = True
    explores: ClassVar[str] = ""  # what the rate of `exploration` is called; "": the policy itself is random enough
    batch: int = 1024  # new decisions for each version of the weights, at least
    minibatch: int = 256  # decisions for each gradient step, sampled from the replay
    replay: int = 100_000  # decisions that the replay holds; the oldest are forgotten first
    warmup: int = 2000  # decisions that it must hold before learning begins
    samples_per_insert: float = 8.0  # how often each decision is learned from, on average
    priority: float = 0.6  # sample a decision in proportion to this power of its error; 0: uniformly
    correction: float = 0.4  # power of the importance weights that make up for it, at first; 1 after anneal_decisions
    n_step: int = 3  # rewards that are summed before the rest is estimated
    target_steps: int = 100  # gradient steps after which the target network moves
    tau: float = 1.0  # how far it then moves towards the network; 1: it becomes the network
    curl: float = 0.0  # weight of CURL's contrastive loss, for pictures; 0: none
    curl_shift: int = 4  # pixels by which its crops are moved, at most
    curl_size: int = 50  # numbers of its codes
    max_grad_norm: float = 10.0  # longer gradients are shortened to this
    max_lag: int = 1000  # segments decided by weights more versions old than this are dropped

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        AlgoConfig.__post_init__(self)
        for name in ("batch", "minibatch", "warmup"):
            if self.replay < getattr(self, name):
                raise ValueError(
                    f"algo.replay: a replay of {self.replay} decisions is smaller than algo.{name}, which is "
                    f"{getattr(self, name)}. Make algo.replay larger or algo.{name} smaller."
                )
        if min(self.minibatch, self.n_step, self.target_steps) < 1 or self.samples_per_insert <= 0:
            raise ValueError("algo: minibatch, n_step and target_steps must be at least 1, samples_per_insert positive")
        if self.curl < 0 or min(self.curl_shift, self.curl_size) < 1:
            raise ValueError("algo: curl must not be negative, curl_shift and curl_size at least 1")
        if not all(0 <= rate <= 1 for rate in (self.priority, self.correction, self.tau)) or not self.tau:
            raise ValueError("algo: priority and correction must be between 0 and 1, and so must tau, which is not 0")

    def refuse(self, policy: PolicyConfig) -> None:
        """Raise ValueError if this algorithm cannot train such a network."""
        AlgoConfig.refuse(self, policy)
        if self.curl and policy.name not in SEES:
            raise ValueError(
                f"algo.curl={self.curl:g} trains the convolutions of policy={' and '.join(SEES)}, not {policy.name}: "
                "set algo.curl=0, or choose one of these"
            )

    @property
    def may_wait(self) -> int:
        """How many decisions may wait: a replay has use for old ones, so none are dropped for coming all at once."""
        return self.replay // WAITING_SHARE

    def steps_of(self, segments: Segments) -> Steps:
        """Return the cells of the replay: the decisions of every agent on its own; with a memory, its lanes."""
        cut = decisions_of if segments.memory is None else lanes_of
        return cut(segments, self.n_step, self.gamma)

    def kept_under(self, signature: str, memory: int) -> dict[str, Any]:
        """Return the settings that a kept replay must have been made under, with those of the game and the network."""
        settings = {f"algo.{name}": getattr(self, name) for name in ("replay", "priority", "n_step", "gamma")}
        return {**settings, "environment signature": signature, "memory": memory}

    def new_replay(self, ranks: int = 1) -> LocalReplay:
        """Return an empty replay for one of several ranks."""
        limit = RateLimit(self.samples_per_insert, -(-self.warmup // ranks))
        return LocalReplay(Replay(self.replay, self.priority), limit, -(-self.minibatch // ranks))

    def exploration(self, decisions: int) -> float:
        """Return how much collectors explore after this many decisions."""
        return 0.0

    @property
    def spread(self) -> float:
        """By how much the slots of a collector differ in this: see league.policies.exploration."""
        return 0.0

    def beta(self, decisions: int) -> float:
        """Return the power of the importance weights after this many decisions."""
        if not self.anneal_decisions:
            return self.correction
        return self.correction + (1 - self.correction) * self._annealed(decisions, None)
