"""A coordinator on a tcp port: garbage, mutations, missing keys and wrong roles stop nobody."""

import random
import socket

import numpy as np
import pytest
import zmq

from launch.topology.endpoints import Endpoints
from launch.viewers.view import open_view
from league.ticket import Episode, Fault, Result
from league.wire.codec import decode, encode
from league.wire.keys import load_client_keys
from league.wire.messages import (
    Candidate,
    Challenge,
    Command,
    Done,
    Follow,
    Held,
    Note,
    Orders,
    Page,
    Progress,
    Pull,
    Refused,
    Report,
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
    return serve(tmp_path / "run", "launch.transport=tcp", "track.to=[csv]")


def dealer(context, run, keys, process="coordinator"):
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
    end.connect(run.read_rendezvous(process).address)
    return end


LAST = 999_999_937  # the request of an attacker's last message, which is in order; no mutation of another one has it
WHO = {"request": 1, "name": "collector-7", "session": "s"}
LEARNER = {**WHO, "name": "learner-0"}
EPISODE = Episode((0, 1), (1.0, -1.0), 9, b"actions")
RESULT = Result(ticket=1 << 40, attempt=0, episodes=(EPISODE, EPISODE))
FAULT = Fault(ticket=1 << 40, attempt=0, reason="broken")
CANDIDATE = Candidate(player="nobody", incarnation=0, version=1, snapshot="0" * 64, decisions=9)
SAMPLES = [
    [bytes(frame) for frame in encode(message, arrays)]
    for message, arrays in (
        (Report(**WHO, held=(Held(1 << 40, 0, 9),), results=(RESULT,), faults=(FAULT,), metrics={"speed": 1.5}), None),
        (Report(**WHO, starved=("main",), directory=7), None),
        (Progress(**LEARNER, address="tcp://127.0.0.1:1", doors={"main": ("x",)}, candidates=(CANDIDATE,)), None),
        (Challenge(request=1, session="s", name="human", opponent="nobody"), None),
        (Follow(request=1, since=0, measured=0), None),
        (Note(request=1, name="tracker", text="7"), None),
        (Command(request=1, action="unpause"), None),
        (Pull(name="collector-7", session="s", player="main", incarnation=0, version=1), None),
        (SegmentsHead(name="collector-7", session="s", player="main", incarnation=0, decisions=6), {"x": np.arange(6)}),
    )
]
IN_ORDER = {  # by the holder of the key
    "collector-7": Report(**WHO | {"request": LAST}),
    "learner-0": Progress(**LEARNER | {"request": LAST}, address=""),
    "operator": Command(request=LAST, action="what nobody knows"),
    "viewer": Follow(request=LAST, since=LAST),
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


def was_read(end, last):
    """Whether an answer to the last message of an attacker comes: what it sent before was read by then, in order.

    The replica takes only some messages of a peer at once, so that the last one may have to be sent again.
    """
    for _ in range(20):
        end.send_multipart(encode(last))
        while end.poll(1000):
            if getattr(decode(end.recv_multipart())[0], "request", None) == LAST:
                return True
    return False


def wave(context, run, rng):
    """Attack with some peers of every role at once; return how many of their messages were read."""
    found = [(name, load_client_keys(run.keys, name)) for name in IN_ORDER for _ in range(PEERS)]
    where = {"viewer": "replica"}
    ends = [
        (name, dealer(context, run, (keys.server, keys.public, keys.secret), where.get(name, "coordinator")))
        for name, keys in found
    ]
    # The first word of a session: a mutation of its name would be another one.
    assert all(was_read(end, IN_ORDER[name]) for name, end in ends)
    for _ in range(OFFENCES):
        for _, end in ends:
            end.send_multipart(mutated(rng))
    read = sum(was_read(end, IN_ORDER[name]) for name, end in ends)
    for _, end in ends:
        end.close()
    return OFFENCES * read


def test_honest_clients_are_served_under_attack(coordinator, ask, work_honestly, figure):
    process, run = coordinator
    rng = random.Random(1)
    read = served = 0
    honest = work_honestly(run, "tcp")
    with zmq.Context() as context, Endpoints(run, "viewer", "tcp") as doors:
        viewer = doors.replica()
        for number in range(WAVES):
            read += wave(context, run, rng)
            served += isinstance(ask(viewer, Follow(request=number, since=0), 20), Page)
            assert honest.report(20), "the honest ones are answered"
        assert honest.report(20), "what became of the results of the last wave"
    assert read == MESSAGES, "no peer sent more than it may before it is not read any more"
    for number in range(50):
        process_name = ("coordinator", "replica")[number % 2]
        host, port = run.read_rendezvous(process_name).address.removeprefix("tcp://").split(":")
        with socket.create_connection((host, int(port)), timeout=5) as raw:
            raw.sendall(rng.randbytes(2000))
    assert sum(open_view(run).state.results.values()) == honest.counted, "each result is counted once, and no other"
    assert honest.counted >= WAVES, "the league goes on"
    assert served == WAVES
    assert process.poll() is None
    figure(f"{read:,} mutated messages were read, and 50 streams of garbage; {honest.counted} results counted")


def test_without_the_right_key_nobody_gets_anything(coordinator):
    _, run = coordinator
    server = load_client_keys(run.keys, "collector-0").server
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
        (Report(request=1, name="collector-0", session="s"), "collector-0"),
        (Report(request=1, name="human-ada", session="s"), "human"),
        (Challenge(request=1, session="s", name="ada", opponent="random"), "human"),
        (Progress(request=1, name="learner-0", session="s", address="tcp://127.0.0.1:1"), "learner-0"),
        (Command(request=1, action="pause"), "operator"),
        (Follow(request=1, since=0), None),
        (Note(request=1, name="csv", text="x"), None),
    )
    for name in ("collector-0", "collector-1", "human", "learner-0", "operator"):
        with Endpoints(run, name, "tcp") as doors:
            link = doors.coordinator()
            for message, allowed in said:
                answer = ask(link, message)
                assert isinstance(answer, Refused) == (name != allowed), f"{name} sent {message}"
    for name in ("viewer", "tracker-0", "inference-0"):
        with Endpoints(run, name, "tcp") as doors:
            assert ask(doors.coordinator(), Follow(request=1, since=0), 1.5) is None, (
                f"{name} is let in where others play"
            )


def test_the_replica_shows_the_ledger_to_those_who_may_see_it(coordinator, ask):
    _, run = coordinator
    follow, note = Follow(request=1, since=0), Note(request=1, name="csv", text="x")
    answers = {
        "viewer": (Page, Refused),
        "operator": (Page, Refused),
        "tracker-0": (Page, Done),
    }
    for name, kinds in answers.items():
        with Endpoints(run, name, "tcp", 1 << 20) as doors:
            link = doors.replica()
            assert (type(ask(link, follow)), type(ask(link, note))) == kinds, name
    for name in ("collector-0", "learner-0", "inference-0"):
        with Endpoints(run, name, "tcp") as doors:
            assert ask(doors.replica(), follow, 1.5) is None, f"{name} is let in where others watch"
    with Endpoints(run, "collector-0", "tcp") as doors:
        assert isinstance(ask(doors.coordinator(), Report(request=2, name="collector-0", session="s")), Orders)
