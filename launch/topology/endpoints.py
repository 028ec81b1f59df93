"""Endpoints: how a process of a run serves and reaches the others, by ipc on one host or by tcp with keys.

with Endpoints(run, "collector-3", config.launch.transport, SEGMENTS_LIMIT) as endpoints:
    coordinator = endpoints.coordinator()          # found by the rendezvous file, found again when it moves
    learner = endpoints.connect(host.address)
"""

import fcntl
import os
import socket
import struct
import time
from collections.abc import Callable

from launch.config.config import Config, LaunchConfig
from launch.topology.roles import ROLES, ProcessRole, role_of
from league.store.run_directory import Rendezvous, RunDirectory
from league.wire.addresses import AddressError, is_ipc
from league.wire.keys import KeysError, load_client_keys, load_server_keys
from league.wire.messages import Command, Done, Message, Refused
from league.wire.ports import Arrays
from league.wire.sockets import CONTROL_LIMIT, REVOKED, UNLIMITED, PeerLimits, Sockets, ZmqClient, ZmqServer

SIOCGIFADDR = 0x8915  # Linux: get the address of an interface
SILENT_SECONDS = 3.0  # without an answer after which the rendezvous file is read again
REPLICA_SILENT_SECONDS = 1.0  # the same for a replica: it listens elsewhere whenever it is started again
RECONNECT_SECONDS = 10.0  # after which a connection that never brought an answer is made again, with the current key
LOOPBACK, EVERYWHERE = "127.0.0.1", "*"

LIMITS = {ProcessRole.COORDINATOR: PeerLimits(share=256), ProcessRole.REPLICA: PeerLimits(share=8, unread=1)}


def listening_host(config: LaunchConfig) -> str:
    """Return where the servers of a run listen: on a cluster, where other hosts can reach them."""
    if config.name != "slurm":
        return LOOPBACK
    return EVERYWHERE if config.slurm.interface is None else interface_address(config.slurm.interface)


def interface_address(name: str) -> str:
    """Return the IPv4 address of a network interface of this host.

    >>> interface_address("lo")
    '127.0.0.1'
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            found = fcntl.ioctl(probe.fileno(), SIOCGIFADDR, struct.pack("256s", os.fsencode(name)[:15]))
        except OSError as error:
            known = ", ".join(interface for _, interface in socket.if_nameindex())
            raise AddressError(
                f"launch.slurm.interface: {socket.gethostname()} has no interface {name!r} with an address "
                f"({error.strerror}); it has {known}"
            ) from error
    return socket.inet_ntoa(found[20:24])


class Endpoints:
    """The sockets of one process, or of one of the user's commands (`viewer`, `operator`, `human`).

    By tcp it proves with its own key that it is the one of this name; no other key is read.
    """

    def __init__(
        self, run: RunDirectory, name: str, transport: str, max_message: int = CONTROL_LIMIT, host: str = LOOPBACK
    ) -> None:
        self._run, self._name, self._transport, self._host = run, name, transport, host
        self._sockets = Sockets(max_message)

    def __enter__(self) -> "Endpoints":
        return self

    def __exit__(self, *_: object) -> None:
        self._sockets.close()

    def serve(self, process: str) -> ZmqServer:
        """Listen as this process."""
        role = role_of(process)
        limits = LIMITS.get(role, UNLIMITED)
        if self._transport == "ipc":
            return self._sockets.serve(self._run.address(process), limits=limits)
        keys = load_server_keys(self._run.keys, ROLES[role].admits)
        return self._sockets.serve(f"tcp://{self._host}:0", keys, limits=limits)

    def serve_feed(self) -> ZmqServer:
        """Listen for the replica of this coordinator: always on this host, whatever the transport."""
        return self._sockets.serve(self._run.address("feed"))

    def feed(self) -> ZmqClient:
        """Connect to the feed of the coordinator, as its replica."""
        return self._sockets.connect(self._run.address("feed"))

    def rendezvous(self, server: ZmqServer, term: int = 0) -> Rendezvous:
        """Return the address, term and public key that a server publishes."""
        key = None if is_ipc(server.address) else load_server_keys(self._run.keys).public
        return Rendezvous(address=server.address, term=term, public_key=key)

    def connect(self, address: str) -> ZmqClient:
        """Connect to a server."""
        if is_ipc(address):
            return self._sockets.connect(address)
        return self._sockets.connect(address, load_client_keys(self._run.keys, self._name))

    def coordinator(self) -> "ProcessLink":
        """Connect to the coordinator of this run, wherever it is."""
        return ProcessLink(self._run, self.connect, "coordinator")

    def replica(self) -> "ProcessLink":
        """Connect to the replica of this run, which serves viewers and trackers."""
        return ProcessLink(self._run, self.connect, "replica", silence=REPLICA_SILENT_SECONDS)

    def learner(self, index: int) -> "ProcessLink":
        """Connect to a learner of this run, wherever it is; to its first rank, if there are several."""
        return ProcessLink(self._run, self.connect, f"learner-{index}")

    def buffer(self, index: int) -> "ProcessLink":
        """Connect to a buffer process of this run, wherever it is."""
        return ProcessLink(self._run, self.connect, f"buffer-{index}")


class ProcessLink:
    """A client that follows a process by its rendezvous file: after a restart it may listen elsewhere."""

    def __init__(
        self,
        run: RunDirectory,
        connect: Callable[[str], ZmqClient],
        process: str,
        clock: Callable[[], float] = time.monotonic,
        silence: float = SILENT_SECONDS,
    ) -> None:
        self._run, self._connect, self._process, self._clock = run, connect, process, clock
        self._silence = silence
        self._client: ZmqClient | None = None
        self._address = ""
        self._heard = self._made = float("-inf")
        self._answered = False  # whether anything came by this connection

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send; False if the process has not been found yet, or its queue is full."""
        self._look()
        return self._client is not None and self._client.send(message, arrays)

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Wait up to `timeout` seconds for a message, then return all that are there."""
        self._look()
        if self._client is None:
            time.sleep(timeout)
            return []
        found = self._client.receive(timeout)
        if found:
            self._heard, self._answered = self._clock(), True
        if any(isinstance(message, Refused) and message.reason == REVOKED for message, _ in found):
            raise KeysError(f"the {self._process} refused: {REVOKED}. It needs a new one: ludus keys RUN new NAME")
        return found

    def _look(self) -> None:
        """After a silence, read again where the process listens."""
        now = self._clock()
        if self._client is not None and now - self._heard < self._silence:
            return
        self._heard = now if self._client is not None else self._heard
        found = self._run.read_rendezvous(self._process)
        unheard = not self._answered and now - self._made >= RECONNECT_SECONDS
        if found is not None and (found.address != self._address or unheard):
            if self._client is not None:
                self._client.close()
            self._client, self._address, self._heard = self._connect(found.address), found.address, now
            self._made, self._answered = now, False

    def close(self) -> None:
        """Close the link."""
        if self._client is not None:
            self._client.close()


def drain(config: Config, run: RunDirectory, seconds: float = 5.0) -> bool:
    """Ask the coordinator to stop everybody in order; True if it confirmed."""
    return command(config, run, "drain", seconds)


def command(config: Config, run: RunDirectory, action: str, seconds: float = 5.0) -> bool:
    """Send an operator's command to the coordinator; True if it was carried out."""
    with Endpoints(run, "operator", config.launch.transport) as endpoints:
        link = endpoints.coordinator()
        link.send(Command(request=1, action=action))
        return any(isinstance(message, Done) and not message.error for message, _ in link.receive(seconds))
