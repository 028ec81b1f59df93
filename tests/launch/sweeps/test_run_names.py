"""Names for the runs of a sweep."""

from launch.config.compose import compose
from launch.sweeps.run_names import run_names


def test_values_that_look_alike_or_are_long_still_get_names_of_their_own():
    several = [("env.id=a/b",), ("env.id=a b",), (f"env.id={'x' * 300}",)]
    names = run_names(["try"] * 3, several)
    assert len(set(names)) == 3
    assert names == run_names(["try"] * 3, several), "the same sweep again goes on with the same runs"
    assert all(len(name) <= 120 for name in names)
    assert all(compose([f"name='{name}'"]).name == name for name in names)
