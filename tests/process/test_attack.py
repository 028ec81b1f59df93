"""A coordinator on a tcp port: garbage, mutations, missing keys and wrong roles stop nobody."""

import random
import socket

import numpy as np
import pytest
import zmq

from launch.doors import Doors
from launch.view import open_view
from league.ticket import Episode, Fault, Result
from league.wire.codec import decode, encode
from league.wire.keys import load_client_keys
from league.wire.messages import (
    Candidate,
    Challenge,
    Command,
    Follow,
    Held,
    Note,
    Orders,
    Page,
    Progress,
    Pull,
    Refused,
    Report,
    Role,
    SegmentsHead,
)
from league.wire.sockets import new_pair

OFFENCES = 99  # of one peer: after the next one it would not be read any more
PEERS = 5  # of each of four roles at once
WAVES = 51
MESSAGES = WAVES * 4 * PEERS * OFFENCES  # 100,980

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
def coordinator(serve, tmp_path):
    return serve(tmp_path / "run", "launch.transport=tcp")


def dealer(context, run, keys):
    """A raw socket: what an attacker would use."""
    end = context.socket(zmq.DEALER)
    end.linger, end.sndtimeo = 0, 20_000
    if keys is not None:
        server, public, secret = keys
        end.curve_serverkey, end.curve_publickey, end.curve_secretkey = (
            server.encode(),
            public.encode(),
            secret.encode(),
        )
    end.connect(run.read_rendezvous().address)
    return end


LAST = 999_999_937  # the request of an attacker's last message, which is in order; no mutation of another one has it
WHO = {"request": 1, "name": "worker-9", "session": "s"}
EPISODE = Episode((0, 1), (1.0, -1.0), 9, b"actions")
RESULT = Result(ticket=1 << 40, attempt=0, episodes=(EPISODE, EPISODE))
FAULT = Fault(ticket=1 << 40, attempt=0, reason="broken")
CANDIDATE = Candidate(player="nobody", incarnation=0, version=1, snapshot="0" * 64, decisions=9)
SAMPLES = [
    [bytes(frame) for frame in encode(message, arrays)]
    for message, arrays in (
        (Report(**WHO, held=(Held(1 << 40, 0, 9),), results=(RESULT,), faults=(FAULT,), metrics={"speed": 1.5}), None),
        (Report(**WHO, starved=("main",), directory=7), None),
        (Progress(**WHO, address="tcp://127.0.0.1:1", doors={"main": ("x",)}, candidates=(CANDIDATE,)), None),
        (Challenge(request=1, session="s", name="human", opponent="nobody"), None),
        (Follow(request=1, since=0, measured=0), None),
        (Note(request=1, name="tracker", text="7"), None),
        (Command(request=1, action="resume"), None),
        (Pull(name="worker-9", session="s", player="main", incarnation=0, version=1), None),
        (SegmentsHead(name="worker-9", session="s", player="main", incarnation=0, decisions=6), {"x": np.arange(6)}),
    )
]
IN_ORDER = {
    Role.COLLECTOR: Report(request=LAST, name="collector-9", session="s"),
    Role.LEARNER: Progress(request=LAST, name="learner-9", session="s", address=""),
    Role.OPERATOR: Follow(request=LAST, since=LAST),
    Role.VIEWER: Follow(request=LAST, since=LAST),
}


def mutated(rng):
    """Return the frames of a message that is wrong somewhere: mostly in its head or in one of its other frames."""
    good = [[bytes(frame) for frame in frames] for frames in SAMPLES]
    while (frames := perhaps_mutated(rng)) in good:
        pass
    return frames


def perhaps_mutated(rng):
    kind = rng.random()
    if kind < 0.05:
        return [rng.randbytes(rng.randint(0, 300)) for _ in range(rng.randint(1, 5))]
    frames = [bytearray(frame) for frame in rng.choice(SAMPLES)]
    if kind < 0.1:
        frames.insert(rng.randrange(len(frames)), frames.pop(rng.randrange(len(frames))))
        return [bytes(frame) for frame in frames[: rng.randint(1, len(frames))]]
    frame = frames[0] if kind < 0.15 else rng.choice(frames[1:])
    for _ in range(rng.randint(1, 4)):
        frame[rng.randrange(len(frame))] = rng.randrange(256)
    return [bytes(frame) for frame in frames]


def was_read(end):
    """Whether an answer to the last message of an attacker comes: what it sent before was read by then, in order."""
    while end.poll(20_000):
        if getattr(decode(end.recv_multipart())[0], "request", None) == LAST:
            return True
    return False


def wave(context, run, rng):
    """Attack with some peers of every role at once; return how many of their messages were read."""
    found = [(role, load_client_keys(run.keys, role)) for role in IN_ORDER for _ in range(PEERS)]
    ends = [(role, dealer(context, run, (keys.server, keys.public, keys.secret))) for role, keys in found]
    for _ in range(OFFENCES):
        for _, end in ends:
            end.send_multipart(mutated(rng))
    for role, end in ends:
        end.send_multipart(encode(IN_ORDER[role]))
    read = sum(was_read(end) for _, end in ends)
    for _, end in ends:
        end.close()
    return OFFENCES * read


def test_honest_clients_are_served_under_attack(coordinator, ask, work_honestly, figure):
    process, run = coordinator
    rng = random.Random(1)
    read = served = 0
    honest = work_honestly(run, "tcp")
    with zmq.Context() as context, Doors(run, Role.VIEWER, "tcp") as doors:
        viewer = doors.coordinator()
        for number in range(WAVES):
            read += wave(context, run, rng)
            served += isinstance(ask(viewer, Follow(request=number, since=0), 20), Page)
            assert honest.report(20), "the honest ones are answered"
        assert honest.report(20), "what became of the results of the last wave"
    assert read == MESSAGES, "no peer sent more than it may before it is not read any more"
    host, port = run.read_rendezvous().address.removeprefix("tcp://").split(":")
    for _ in range(50):
        with socket.create_connection((host, int(port)), timeout=5) as raw:
            raw.sendall(rng.randbytes(2000))
    assert sum(open_view(run).state.results.values()) == honest.counted, "each result is counted once, and no other"
    assert honest.counted >= WAVES, "the league goes on"
    assert served == WAVES
    assert process.poll() is None
    figure(f"{read:,} mutated messages were read, and 50 streams of garbage; {honest.counted} results counted")


def test_without_the_right_key_nobody_gets_anything(coordinator):
    _, run = coordinator
    server = load_client_keys(run.keys, Role.COLLECTOR).server
    report = Report(request=1, name="collector-0", session="s", want=1)
    with zmq.Context() as context:
        for keys in (None, (server, *new_pair())):
            end = dealer(context, run, keys)
            end.send_multipart([bytes(f) for f in encode(report)])
            assert not end.poll(1500), "an unknown peer got an answer"
            end.close()


def test_a_key_opens_only_its_own_door(coordinator, ask):
    _, run = coordinator
    said = (
        (Report(request=1, name="collector-0", session="s"), Role.COLLECTOR),
        (Progress(request=1, name="learner-0", session="s", address="tcp://127.0.0.1:1"), Role.LEARNER),
        (Command(request=1, action="pause"), Role.OPERATOR),
    )
    for role in (Role.COLLECTOR, Role.LEARNER, Role.VIEWER):
        with Doors(run, role, "tcp") as doors:
            link = doors.coordinator()
            for message, allowed in said:
                answer = ask(link, message)
                assert isinstance(answer, Refused) == (role != allowed), f"{role} sent {type(message).__name__}"
    with Doors(run, Role.COLLECTOR, "tcp") as doors:
        assert isinstance(ask(doors.coordinator(), Report(request=2, name="collector-0", session="s")), Orders)
