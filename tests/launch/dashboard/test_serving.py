import re
import socket

import pytest

from launch.dashboard.serving import PORT, DashboardError, ServerPlace, address, listen


def test_a_port_in_use_is_named_if_it_was_asked_for():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DashboardError, match=rf"port {port} is in use.*--port"):
            listen(ServerPlace(port=port))


def test_without_a_port_a_taken_one_is_left_alone():
    with listen(ServerPlace()) as first, listen(ServerPlace()) as second:
        ports = [one.getsockname()[1] for one in (first, second)]
        assert ports[1] != PORT
        assert ports[0] != ports[1]


def test_a_host_that_does_not_exist_is_refused():
    with pytest.raises(DashboardError, match=r"cannot listen|--host"):
        listen(ServerPlace(host="192.0.2.1"))


def test_the_address_names_the_machine_where_all_may_reach_it():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert address("0.0.0.0", listener, "t") == f"http://{socket.gethostname()}:{port}/?token=t"
        assert re.fullmatch(rf"http://\[::1\]:{port}/\?token=t", address("::1", listener, "t"))
