"""How a process of a run serves and reaches the others. tests/process has real processes and keys."""

import pytest

from launch.config.config import LaunchConfig
from launch.topology.endpoints import EVERYWHERE, LOOPBACK, Endpoints, interface_address, listening_host
from league.store.run_directory import RunDirectory
from league.wire.addresses import AddressError
from league.wire.messages import Command


def test_servers_listen_on_this_host_unless_others_have_to_reach_them():
    assert listening_host(LaunchConfig(name="local")) == LOOPBACK
    assert listening_host(LaunchConfig(name="slurm", transport="tcp", collectors=1)) == EVERYWHERE


def test_an_interface_that_does_not_exist_is_named():
    with pytest.raises(AddressError, match=r"has no interface 'ib77'.*it has .*lo"):
        interface_address("ib77")


def test_a_link_finds_the_coordinator_by_its_rendezvous_file(tmp_path):
    run = RunDirectory(tmp_path / "first").create()
    with Endpoints(run, "operator", "ipc") as endpoints:
        link = endpoints.coordinator()
        assert not link.send(Command(request=1, action="drain")), "nobody listens yet"
        server = endpoints.serve("coordinator")
        run.publish_rendezvous(endpoints.rendezvous(server, term=3))
        assert link.send(Command(request=2, action="drain"))
        (incoming,) = server.receive(10)
        assert incoming.message.request == 2
