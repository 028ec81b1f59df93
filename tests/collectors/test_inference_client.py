"""A collector that asks a real inference process, over the wire in memory; the test is everybody else."""

import pytest
from inference_world import InferenceWorld

from collectors.inference_client import RESEND_SECONDS


def test_a_collector_without_an_answer_waits_and_asks_again(tmp_path):
    world = InferenceWorld(tmp_path)
    for _ in range(40):
        world.step()
    before = world.collector.env_steps
    for _ in range(10):
        world.step(answering=False)
    assert world.collector.env_steps <= before + 5, "at most the answers that were under way"
    world.server.inbox.clear()  # the questions are lost
    for _ in range(5):
        world.step()
    assert world.collector.env_steps <= before + 5
    world.step(seconds=RESEND_SECONDS)
    for _ in range(40):
        world.step()
    assert world.collector.env_steps > before + 40
    world.check_segments()


@pytest.mark.parametrize("moment", range(5))
def test_what_a_new_inference_process_does_not_remember_is_not_told(tmp_path, moment):
    """Whatever the inference process remembered when it died: segments fit the memory that their first decision had."""
    world = InferenceWorld(tmp_path)
    for _ in range(40 + moment):
        world.step()
    before = world.collector.env_steps
    world.server.close()
    world.start_inference()
    for _ in range(60):
        world.step(seconds=0.1)
    assert world.check_segments() > 100
    assert world.collector.env_steps > before + 50
