"""(i) Segments of images from one process to another on one host: ipc, tcp (encrypted, as always) and shared memory.

Each message holds 32 lanes of 32 decisions of 84x84x4 bytes, 29 MB. Two may be under way. The receiver copies every
array once, as the batcher does. Shared memory takes the arrays through a block that both have mapped, and the head
by ipc: what it saves are the copies into and out of the kernel.
"""

import argparse
import os
from collections.abc import Callable
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.children import Child, cpu_of, go_on, pause
from benchmarks.images import SHAPE
from benchmarks.measure import Slice, alternate, by_cpu, by_wall, emit, paired, summarise
from league.ids import PlayerId
from league.store.run_directory import RunDirectory
from league.wire.keys import load_client_keys, load_server_keys, make_keys
from league.wire.messages import Credit, Role, SegmentsHead
from league.wire.ports import Arrays, Client
from league.wire.sockets import SEGMENTS_LIMIT, Sockets, ZmqServer

LANES, TICKS = 32, 32
DECISIONS = LANES * TICKS
IN_FLIGHT = 2
KINDS = ("ipc", "tcp", "shared")
PATIENCE = 60.0
Array = npt.NDArray[Any]


def segments() -> dict[str, Array]:
    """Return the two arrays that count; the others are a hundredth of them."""
    rng = np.random.default_rng(0)
    return {
        "observation": rng.integers(0, 256, (LANES, TICKS, 1, *SHAPE)).astype(np.uint8),
        "log_prob": rng.standard_normal((LANES, TICKS, 1)).astype(np.float32),
    }


def send(kind: str, address: str, keys: Path) -> None:
    """Send for ever, two messages ahead of what the receiver has taken."""
    arrays, sent = segments(), 0
    with Sockets(SEGMENTS_LIMIT) as sockets:
        client = sockets.connect(address, load_client_keys(keys, "collector-0") if kind == "tcp" else None)
        put = _put_through(client) if kind == "shared" else client.send
        for _ in range(IN_FLIGHT):
            put(_head(sent), arrays)
            sent += 1
        while True:
            for message, _ in client.receive(1.0):
                if isinstance(message, Credit):
                    put(_head(sent), arrays)
                    sent += 1


def _head(number: int) -> SegmentsHead:
    return SegmentsHead(
        name="sender", session="s", player=PlayerId("main"), incarnation=0, decisions=DECISIONS, sent=number
    )


def _put_through(client: Client) -> Callable[[SegmentsHead, Arrays], bool]:
    size = segments()["observation"].nbytes
    blocks = [SharedMemory(create=True, size=size) for _ in range(IN_FLIGHT)]

    def put(head: SegmentsHead, arrays: Arrays) -> bool:
        block = blocks[head.sent % IN_FLIGHT]
        seen = arrays["observation"]
        np.ndarray(seen.shape, seen.dtype, block.buf)[:] = seen
        name = np.frombuffer(block.name.encode(), np.uint8)
        return client.send(head, {"block": name, "log_prob": arrays["log_prob"]})

    return put


class Receiver:
    """The learner's end of one kind of wire, and the process at the other."""

    def __init__(self, kind: str, server: ZmqServer, child: Child) -> None:
        self._kind, self._server, self._child = kind, server, child
        self._blocks: dict[str, SharedMemory] = {}

    def measure(self, seconds: float) -> Slice:
        """Take messages for some time; steps are decisions, CPU time is that of both ends."""
        go_on([self._child.pid])
        self._take(0.0)
        before, cpu = os.times().elapsed, self._cpu()
        decisions = self._take(seconds)
        wall, cpu = os.times().elapsed - before, self._cpu() - cpu
        pause([self._child.pid])
        return Slice(decisions, wall, cpu, {"megabytes_per_second": decisions * np.prod(SHAPE) / wall / 1e6})

    def _cpu(self) -> float:
        return cpu_of([self._child.pid, os.getpid()])

    def _take(self, seconds: float) -> int:
        """Take at least one message; return how many decisions came."""
        taken, start = 0, os.times().elapsed
        while not taken or os.times().elapsed - start < seconds:
            for incoming in self._server.receive(1.0):
                assert isinstance(incoming.message, SegmentsHead)
                self._copy(incoming.arrays)
                taken += incoming.message.decisions
                credit = Credit(player=PlayerId("main"), incarnation=0, version=0, allowance=1)
                self._server.send(incoming.peer, credit)
            if os.times().elapsed - start > PATIENCE:
                raise RuntimeError(f"nothing came by {self._kind} for {PATIENCE:g} s")
        return taken

    def _copy(self, arrays: Arrays) -> Array:
        if "block" not in arrays:
            return np.array(arrays["observation"])
        name = arrays["block"].tobytes().decode()
        if name not in self._blocks:
            self._blocks[name] = SharedMemory(name, track=False) if _TRACKED else SharedMemory(name)
        block = self._blocks[name]
        shape = (LANES, TICKS, 1, *SHAPE)
        return np.array(np.ndarray(shape, np.uint8, block.buf))

    def close(self) -> None:
        """Let go of the shared blocks, for good."""
        for block in self._blocks.values():
            block.close()
            block.unlink()


_TRACKED = "track" in SharedMemory.__init__.__code__.co_varnames


def run(folder: Path, seconds: float, rounds: int) -> None:
    """Measure tcp and shared memory, each in turns with ipc."""
    directory = RunDirectory(folder / "carrying").create()
    make_keys(directory.keys, {"collector-0": Role.COLLECTOR})
    for other in ("tcp", "shared"):
        with Sockets(SEGMENTS_LIMIT) as sockets:
            before, found = _pair(directory, sockets, other, seconds, rounds)
        summarise("i: ipc", before)
        summarise(f"i: {other}", found)
        for name, speed in (("wall", by_wall), ("CPU", by_cpu)):
            runs = paired(before, found, speed)
            emit(f"i: {other}, times ipc, {name}", ratio=sorted(runs)[len(runs) // 2], runs=[round(r, 3) for r in runs])


def _pair(
    directory: RunDirectory, sockets: Sockets, other: str, seconds: float, rounds: int
) -> tuple[list[Slice], list[Slice]]:
    ends = {}
    for kind in ("ipc", other):
        tcp = kind == "tcp"
        address = "tcp://127.0.0.1:0" if tcp else directory.address(f"{kind}-beside-{other}")
        ends[kind] = sockets.serve(address, load_server_keys(directory.keys) if tcp else None)
    commands = {
        kind: ["-m", "benchmarks.carrying", kind, end.address, str(directory.keys)] for kind, end in ends.items()
    }
    log = directory.log("sender", 0)
    with Child(commands["ipc"], log) as plain, Child(commands[other], log) as special:
        first, second = Receiver("ipc", ends["ipc"], plain), Receiver(other, ends[other], special)
        for receiver in (first, second):
            receiver.measure(0.1)
        slices = alternate(first.measure, second.measure, seconds, rounds)
        second.close()
    return slices


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The sender.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("address")
    parser.add_argument("keys", type=Path)
    chosen = parser.parse_args()
    send(chosen.kind, chosen.address, chosen.keys)
