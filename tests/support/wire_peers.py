"""Keys for one peer of each role, small messages, and an honest request with its answer."""

import time

import pytest

from league.wire.messages import Credit, Pull, Role

PATIENCE = 20.0  # an upper bound for what takes milliseconds
LOOPBACK = "tcp://127.0.0.1:0"
NAMES = {
    Role.COLLECTOR: "collector-0", Role.LEARNER: "learner-0", Role.INFERENCE: "inference-0",
    Role.VIEWER: "viewer", Role.TRACKER: "tracker-0", Role.OPERATOR: "operator",
}  # fmt: skip
PROCESSES = {name: role for role, name in NAMES.items()}


def pull(version=0):
    return Pull(name="c", session="s", player="main", incarnation=0, version=version)


def credit(allowance=1):
    return Credit(player="main", incarnation=0, version=0, allowance=allowance)


def ask(client, server, number):
    """One honest request and its answer; return what else arrived at the server meanwhile."""
    assert client.send(pull(number))
    strangers, deadline = [], time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for incoming in server.receive(0.05):
            if incoming.message == pull(number):
                assert server.send(incoming.peer, credit(number))
                assert client.receive(PATIENCE) == [(credit(number), {})]
                return strangers
            strangers.append(incoming)
    pytest.fail("the honest client was not served")
