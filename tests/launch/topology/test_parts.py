"""From a config to its processes."""

from launch.config.config import from_plain
from launch.topology.parts import key_holders, learner_names, rank_name, topology


def names(plain):
    return [part.name for part in topology(from_plain(plain))]


def test_a_league_has_a_coordinator_learners_and_collectors():
    assert names({"launch": {"collectors": 2}}) == ["coordinator-0", "learner-0", "collector-0", "collector-1"]


def test_processes_beside_learners_come_with_their_settings():
    launch = {"collectors": 1, "learners": 2, "ranks": 2}
    central = {"collector": {"inference": "central"}, "learner": {"replay_in": "buffer"}, "launch": launch}
    found = names(central | {"track": {"to": ["csv"]}})
    assert [name for name in found if name.startswith("inference")] == ["inference-0", "inference-1"]
    assert [name for name in found if name.startswith("buffer")] == [f"buffer-{i}" for i in range(4)]
    assert found[-1] == "tracker-0"


def test_every_rank_has_a_key_and_the_first_has_the_name_of_its_process():
    config = from_plain({"launch": {"collectors": 1, "ranks": 2}})
    assert list(key_holders(topology(config))) == ["learner-0", "learner-0.1", "collector-0"]
    assert learner_names(config) == [rank_name("learner-0", 0)] == ["learner-0"]
