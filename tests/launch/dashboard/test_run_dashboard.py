import threading
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

from launch.config.config import Config
from launch.dashboard.run_dashboard import run_dashboard
from launch.processes.context import ProcessContext
from launch.topology.parts import topology


def test_it_serves_its_run_until_it_is_asked_to_stop(played, capsys, patiently):
    stop, printed = SimpleNamespace(asked=False), []
    context = ProcessContext(config=Config(), run=played[0], index=0, stop=stop)
    thread = threading.Thread(target=run_dashboard, args=(context,), daemon=True)
    thread.start()

    def address():
        printed.append(capsys.readouterr().out)
        return "".join(printed).partition("dashboard: ")[2].strip()

    found = patiently(address, 10, "the address")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(found.partition("?")[0])
    stop.asked = True
    thread.join(10)
    assert not thread.is_alive()


def test_a_league_has_one_if_its_config_says_so():
    config = Config()
    assert "dashboard-0" not in [part.name for part in topology(config)]
    config.dashboard = True
    assert [part.name for part in topology(config)][-1] == "dashboard-0"
