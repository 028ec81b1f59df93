"""What each word of the command line may be in a study."""

import doctest

import pytest

from launch.config.config import ConfigError
from launch.sweeps import study_space
from launch.sweeps.study_space import spaces_of


class Middle:
    """A trial that suggests the middle, and notes what it was asked."""

    def suggest_float(self, name, low, high, log):
        return (low * high) ** 0.5 if log else (low + high) / 2

    def suggest_int(self, name, low, high, log):
        return (low + high) // 2

    def suggest_categorical(self, name, values):
        return values[-1]


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(study_space).failed == 0


@pytest.mark.parametrize(
    ("word", "suggested"),
    [
        ("algo.lr=interval(0.1,0.3)", "algo.lr=0.2"),
        ("algo.lr=tag(log,interval(1e-4,1e-2))", "algo.lr=0.001"),
        ("algo.epochs=interval(1,5)", "algo.epochs=3"),
        ("algo.epochs=range(1,4)", "algo.epochs=3"),
        ("policy.hidden=[8],[16,16]", "policy.hidden=[16,16]"),
        ("algo=choice(ppo,a2c)", "algo=a2c"),
        ("+league.players.main.rate=0.5,1", "+league.players.main.rate=1"),
    ],
)
def test_each_kind_of_word_becomes_an_override(word, suggested):
    (space,) = spaces_of([word])
    assert space.suggest(Middle()) == suggested


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("seed=1,2", "nothing to optimise"),
        ("algo.lr=interval(2,1)", "a smaller and a larger end"),
        ("algo.lr=tag(log,interval(0,1))", "both positive"),
    ],
)
def test_what_is_no_space_is_refused(word, why):
    with pytest.raises(ConfigError, match=why):
        spaces_of([word])


def test_a_study_of_other_keys_is_not_continued():
    (space,) = spaces_of(["algo.lr=interval(0.1,0.3)"])
    assert space.told({"algo.lr": 0.25}) == "algo.lr=0.25"
    with pytest.raises(ConfigError, match=r"another hydra\.sweeper\.study_name"):
        space.told({"algo.epochs": 3})
