"""A coordinator on a tcp port: garbage, mutations, missing keys and wrong roles stop nobody."""

import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import zmq

from launch.build import describe_environment
from launch.compose import compose
from launch.config import to_plain
from launch.doors import Doors
from league.store.run_directory import RunDirectory
from league.wire.codec import encode
from league.wire.keys import load_client_keys, make_keys
from league.wire.messages import Command, Follow, Orders, Page, Progress, Refused, Report, Role
from league.wire.sockets import new_pair

MUTATIONS = 100_000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.xdist_group("league")]


@pytest.fixture
def coordinator(tmp_path, patiently):
    config = compose(["experiment=tic_tac_toe", "launch.transport=tcp"])
    run = RunDirectory(tmp_path / "run").create()
    run.write_config(to_plain(config))
    make_keys(run.keys)
    describe_environment(config, run, ())
    command = [sys.executable, "-m", "launch.process", "--run", str(run.root), "--role", "coordinator"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, cwd=Path.cwd())
    patiently(run.rendezvous.exists, 30, "the rendezvous")
    yield process, run
    process.terminate()
    assert process.wait(10) == 0, "the coordinator ends in order"
    process.stdin.close()


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


def ask(client, message, seconds=5):
    client.send(message)
    found = client.receive(seconds)
    return found[0][0] if found else None


def test_honest_clients_are_served_under_attack(coordinator):
    process, run = coordinator
    rng = random.Random(1)
    keys = load_client_keys(run.keys, Role.COLLECTOR)
    samples = [
        encode(Report(request=1, name="collector-9", session="s", want=1)),
        encode(Progress(request=1, name="learner-9", session="s", address="ipc:///x")),
        encode(Follow(request=1, since=0)),
        encode(Command(request=1, action="pause")),
    ]
    served = 0
    with zmq.Context() as context, Doors(run, Role.VIEWER, "tcp") as doors:
        honest = doors.coordinator()
        attackers = [dealer(context, run, (keys.server, keys.public, keys.secret)) for _ in range(20)]
        for number in range(MUTATIONS):
            frames = [bytearray(bytes(frame)) for frame in rng.choice(samples)]
            for _ in range(rng.randint(1, 4)):
                frame = rng.choice(frames)
                if frame:
                    frame[rng.randrange(len(frame))] = rng.randrange(256)
            if rng.random() < 0.1:
                frames = [rng.randbytes(rng.randint(0, 300)) for _ in range(rng.randint(1, 5))]
            rng.choice(attackers).send_multipart([bytes(f) for f in frames])  # waits while the queue is full
            if number % 5000 == 4999:  # a peer that sends too much rubbish is not read any more: come as another
                attackers.pop(0).close()
                attackers.append(dealer(context, run, (keys.server, keys.public, keys.secret)))
            if number % 2000 == 0:
                served += isinstance(ask(honest, Follow(request=number, since=0), 20), Page)
        for end in attackers:
            end.close()
    host, port = run.read_rendezvous().address.removeprefix("tcp://").split(":")
    for _ in range(50):
        with socket.create_connection((host, int(port)), timeout=5) as raw:
            raw.sendall(rng.randbytes(2000))
    with Doors(run, Role.VIEWER, "tcp") as doors:
        assert isinstance(ask(doors.coordinator(), Follow(request=1, since=0)), Page)
    assert served == MUTATIONS // 2000
    assert process.poll() is None
    print(f"\n{MUTATIONS:,} mutated messages and 50 streams of garbage; {served} of {served} honest requests served")


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


def test_a_key_opens_only_its_own_door(coordinator):
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
