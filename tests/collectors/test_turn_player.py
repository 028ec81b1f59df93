"""With central inference the slots take turns, and play what networks elsewhere decided."""

from inference_world import InferenceWorld


def test_segments_are_what_networks_elsewhere_decided(tmp_path):
    world = InferenceWorld(tmp_path)
    for _ in range(120):
        world.step()
    assert world.episodes > 20
    assert world.check_segments() > 200


def test_while_one_turn_waits_the_other_plays(tmp_path):
    world = InferenceWorld(tmp_path)
    for _ in range(40):
        world.step()
    turns = world.collector._turns
    for _ in range(4):
        world.step(answering=False)
    assert turns.awaits_outputs
    assert turns.stalled, "nobody answers, so no turn can go on"
    progress = world.collector.progress
    world.step(answering=False)
    assert world.collector.progress > progress, "the wait for another process does not cost its leases"
    world.step()
    world.step()
    assert not turns.stalled
