"""Which iterations are reported, and how."""

import pytest

from collectors.envs.config import EnvConfig
from collectors.envs.enumerating import enumerate_game
from launch.matches.solve_game import nash_convs, solve
from league.errors import InputError

KUHN = EnvConfig(name="openspiel", id="kuhn_poker")


def test_cfr_reports_where_its_iterations_doubled_and_the_last():
    found = dict(nash_convs(enumerate_game(KUHN, whole=True), "cfr", 70))
    assert list(found) == [1, 2, 4, 8, 16, 32, 64, 70]
    assert found[70] < 0.01 < found[1]


def test_it_says_how_large_the_game_is(capsys):
    assert solve(KUHN, "psro", 2) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "kuhn_poker: 58 positions, 12 information sets; psro"
    assert rest == ["       1  NashConv 0.9167", "       2  NashConv 0.8333"]


def test_a_game_that_is_too_large_is_one_to_learn():
    with pytest.raises(
        InputError, match=r"at most 100,000: solving needs .* whole episodes\. Learn it instead: ludus run$"
    ):
        solve(EnvConfig(name="connect_four"), "cfr", 2)
