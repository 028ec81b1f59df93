"""Groups: the ranks of one learner. Each has its own inbox and its share of every batch; all have the same weights.

    group = join("auto", seconds=120)           # the group of torchrun; alone without it
    group.mean(gradient, weight=len(minibatch)) # the same on every rank afterwards
    group.maximum(np.array([version, ...]))        # elementwise
    group.board                                 # notes, for ranks that do not wait for one another
    leave()                                     # at the end

Nothing else imports torch.distributed. Without a GPU the ranks talk through gloo, with GPUs gradients go through NCCL.
"""

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

import numpy.typing as npt
import torch
import torch.distributed as dist

# Functions of torch.distributed.nn have the group of their import as a default. Imported here, when there is none: the
# first optimiser would import it later, and the group and its threads would outlive `leave`.
import torch.distributed.nn
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

from league.errors import LudusError
from learners.notice_board import Board, StoreBoard

RANK_TIMEOUT = timedelta(seconds=300)  # for another rank in an exchange; a rank that dies is noticed at once
CPU = torch.device("cpu")


class GroupError(LudusError, RuntimeError):
    """Ranks that cannot work: too many for the GPUs, or some that never joined."""


class Group(Protocol):
    """Collective operations of the ranks of a learner. Every rank must call the same methods in the same order."""

    @property
    def rank(self) -> int:
        """The number of this rank; 0 leads."""

    @property
    def size(self) -> int:
        """The number of ranks."""

    @property
    def device(self) -> torch.device:
        """The device of this rank."""

    @property
    def board(self) -> Board | None:
        """Where ranks leave notes if they do not wait for one another (`learner.share`); None: they do."""

    def mean(self, tensor: Tensor, weight: float) -> Tensor:
        """Replace the tensor by its weighted mean over all ranks, and return it."""

    def maximum(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the elementwise maximum over all ranks."""

    def total(self, number: int) -> int:
        """Return the sum of a number over all ranks."""

    def broadcast(self, message: bytes) -> bytes:
        """Return the message of rank 0."""

    def gather(self, text: str) -> tuple[str, ...]:
        """Return the texts of all ranks, in their order."""


@dataclass(frozen=True, slots=True)
class Alone:
    """The group of a learner with one rank."""

    rank: int = 0
    size: int = 1
    device: torch.device = CPU
    board: Board | None = None

    def mean(self, tensor: Tensor, weight: float) -> Tensor:
        """Return the tensor as it is."""
        return tensor

    def maximum(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the numbers as they are."""
        return numbers

    def total(self, number: int) -> int:
        """Return the number as it is."""
        return number

    def broadcast(self, message: bytes) -> bytes:
        """Return the message as it is."""
        return message

    def gather(self, text: str) -> tuple[str, ...]:
        """Return the one text."""
        return (text,)


ALONE = Alone()


class Ranks:
    """Several processes, by torch.distributed."""

    def __init__(self, device: torch.device, seconds: float, share: str = "ddp") -> None:
        store, self.rank, self.size = _rendezvous(seconds)
        self.board: Board | None = None if share == "ddp" else StoreBoard(store, self.rank, self.size)
        self.device, self._gpus = device, None
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.size, timeout=RANK_TIMEOUT)
        if device.type == "cuda":
            torch.cuda.set_device(device)
            self._gpus = dist.new_group(backend="nccl", timeout=RANK_TIMEOUT)

    def mean(self, tensor: Tensor, weight: float) -> Tensor:
        """Replace the tensor by its weighted mean over all ranks, and return it."""
        # One message: the weight is appended to the numbers.
        flat = torch.cat([tensor.reshape(-1) * weight, tensor.new_tensor([weight])])
        dist.all_reduce(flat, group=self._gpus if flat.is_cuda else None)
        return tensor.copy_((flat[:-1] / flat[-1]).view_as(tensor))

    def maximum(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the elementwise maximum over all ranks."""
        tensor = torch.from_numpy(numbers.copy())
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        found: npt.NDArray[Any] = tensor.numpy()
        return found

    def total(self, number: int) -> int:
        """Return the sum of a number over all ranks."""
        tensor = torch.tensor([number])
        dist.all_reduce(tensor)
        return int(tensor)

    def broadcast(self, message: bytes) -> bytes:
        """Return the message of rank 0."""
        return self._broadcast_from(0, message)

    def gather(self, text: str) -> tuple[str, ...]:
        """Return the texts of all ranks, in their order."""
        return tuple(self._broadcast_from(rank, text.encode()).decode() for rank in range(self.size))

    def _broadcast_from(self, source: int, message: bytes) -> bytes:
        """Return the message of one rank: its length is sent first, then its bytes."""
        length = torch.tensor([len(message)])
        dist.broadcast(length, src=source)
        data = torch.zeros(int(length), dtype=torch.uint8)
        if self.rank == source and message:
            data = torch.frombuffer(bytearray(message), dtype=torch.uint8)
        if len(data):
            dist.broadcast(data, src=source)
        return data.numpy().tobytes()


def _rendezvous(seconds: float) -> tuple[Any, int, int]:
    """Wait for all ranks; return their store, the number of this rank, and the number of ranks."""
    limit = timedelta(seconds=seconds)
    ranks = range(int(os.environ["WORLD_SIZE"]))
    store = None
    try:
        store, rank, size = next(rendezvous("env://", timeout=limit))
        store.set(f"here/{rank}", "yes")
        store.wait([f"here/{other}" for other in ranks], limit)
    except RuntimeError as error:  # torch's timeouts have several classes
        missing = [str(other) for other in ranks if store is not None and not store.check([f"here/{other}"])]
        whom = f"rank {', '.join(missing)}" if missing else "the others"
        raise GroupError(
            f"rank {os.environ['RANK']} of {len(ranks)} waited {seconds:g} seconds (learner.join_seconds) for "
            f"{whom}, which did not join: see the learner's log, or set launch.ranks to what there is room for"
        ) from error
    return store, rank, size


def device_for(wanted: str, gpus: int, rank: int = 0, ranks: int = 1) -> torch.device:
    """Return the device of one of the ranks on a machine: `wanted` is auto, cpu or cuda.

    >>> device_for("auto", gpus=2, rank=1, ranks=2)
    device(type='cuda', index=1)
    """
    if wanted == "cpu" or (wanted == "auto" and not gpus):
        return CPU
    if not gpus:
        raise GroupError("learner.device=cuda, but torch sees no GPU on this machine: use learner.device=cpu or auto")
    if ranks > gpus:
        raise GroupError(
            f"{ranks} ranks on this machine, but {gpus} GPU{'s' * (gpus > 1)}: each rank needs its own. "
            f"Set launch.ranks={gpus}, or learner.device=cpu"
        )
    return torch.device("cuda", rank)


def join(device: str = "cpu", seconds: float = 120.0, share: str = "ddp") -> Group:
    """Join the group that torchrun started; without torchrun there is only this process."""
    here, ranks = int(os.environ.get("LOCAL_RANK", "0")), int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    gpus = torch.cuda.device_count() if device != "cpu" else 0
    mine = device_for(device, gpus, here, ranks)
    return Ranks(mine, seconds, share) if int(os.environ.get("WORLD_SIZE", "1")) > 1 else Alone(device=mine)


def leave() -> None:
    """Leave the group, if any: torch may abort a process that ends while a group has threads."""
    if dist.is_initialized():
        dist.destroy_process_group()
