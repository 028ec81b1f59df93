"""Groups: the ranks of one learner. Each has its own inbox and its own share of every batch; all learn the same.

    group = join()                              # as torchrun says; alone without it
    group.mean(gradient, weight=len(minibatch)) # the same on every rank afterwards
    group.most(np.array([version, ...]))        # elementwise

Nothing else imports torch.distributed. Without a GPU the ranks talk through gloo, with GPUs gradients go through NCCL.
"""

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
from torch import Tensor

PATIENCE = timedelta(seconds=300)  # without a word of another rank; a rank that dies is noticed at once


class Group(Protocol):
    """What the ranks of a learner do together. Every rank must call the same methods in the same order."""

    @property
    def rank(self) -> int:
        """The number of this rank; 0 leads."""

    @property
    def size(self) -> int:
        """How many ranks there are."""

    def mean(self, tensor: Tensor, weight: float) -> Tensor:
        """Replace the tensor by its weighted mean over all ranks, and return it."""

    def most(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the largest of each number over all ranks."""

    def total(self, number: int) -> int:
        """Return the sum of a number over all ranks."""

    def tell(self, message: bytes) -> bytes:
        """Return the message of rank 0."""

    def gather(self, text: str) -> tuple[str, ...]:
        """Return the texts of all ranks, in their order."""


@dataclass(frozen=True, slots=True)
class Alone:
    """The group of a learner that has one rank: nobody to ask."""

    rank: int = 0
    size: int = 1

    def mean(self, tensor: Tensor, weight: float) -> Tensor:
        """Return the tensor as it is."""
        return tensor

    def most(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the numbers as they are."""
        return numbers

    def total(self, number: int) -> int:
        """Return the number as it is."""
        return number

    def tell(self, message: bytes) -> bytes:
        """Return the message as it is."""
        return message

    def gather(self, text: str) -> tuple[str, ...]:
        """Return the one text."""
        return (text,)


ALONE = Alone()


class Ranks:
    """Several processes, by torch.distributed."""

    def __init__(self) -> None:
        dist.init_process_group("gloo", timeout=PATIENCE)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self._gpus = dist.new_group(backend="nccl", timeout=PATIENCE) if torch.cuda.is_available() else None

    def mean(self, tensor: Tensor, weight: float) -> Tensor:
        """Replace the tensor by its weighted mean over all ranks, and return it."""
        # One message: the weights travel behind the numbers.
        flat = torch.cat([tensor.reshape(-1) * weight, tensor.new_tensor([weight])])
        dist.all_reduce(flat, group=self._gpus if flat.is_cuda else None)
        return tensor.copy_((flat[:-1] / flat[-1]).view_as(tensor))

    def most(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the largest of each number over all ranks."""
        tensor = torch.from_numpy(numbers.copy())
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        found: npt.NDArray[np.int64] = tensor.numpy()
        return found

    def total(self, number: int) -> int:
        """Return the sum of a number over all ranks."""
        tensor = torch.tensor([number])
        dist.all_reduce(tensor)
        return int(tensor)

    def tell(self, message: bytes) -> bytes:
        """Return the message of rank 0."""
        return self._hear(0, message)

    def gather(self, text: str) -> tuple[str, ...]:
        """Return the texts of all ranks, in their order."""
        return tuple(self._hear(rank, text.encode()).decode() for rank in range(self.size))

    def _hear(self, source: int, message: bytes) -> bytes:
        """Return the message of one rank: first comes its length, then its bytes."""
        length = torch.tensor([len(message)])
        dist.broadcast(length, src=source)
        data = torch.zeros(int(length), dtype=torch.uint8)
        if self.rank == source and message:
            data = torch.frombuffer(bytearray(message), dtype=torch.uint8)
        if len(data):
            dist.broadcast(data, src=source)
        return data.numpy().tobytes()


def join() -> Group:
    """Join the group that torchrun has made; without torchrun there is only this process."""
    return Ranks() if int(os.environ.get("WORLD_SIZE", "1")) > 1 else ALONE
