"""The calls of Slurm's commands."""

import pytest

from launch.slurm import commands
from launch.slurm.commands import SlurmError, queue


def test_a_controller_that_is_too_busy_is_asked_again(slurm, tmp_path, monkeypatch):
    slurm(squeue="7|name|RUNNING|node1|None|2|1:02|\n")
    answering = (tmp_path / "bin" / "squeue").read_text()
    silent = 'echo "slurm_load_jobs error: Socket timed out on send/recv operation" >&2; exit 1'
    refusing = answering.replace("cat", f"[ $(grep -c squeue {tmp_path}/calls) -gt 2 ] || {{ {silent}; }}\ncat")
    (tmp_path / "bin" / "squeue").write_text(refusing)
    monkeypatch.setattr(commands, "RESTS", (0.0, 0.0))
    assert [row.id for row in queue(["name"])] == ["7"]
    (tmp_path / "bin" / "squeue").write_text(refusing.replace("-gt 2", "-gt 99"))
    with pytest.raises(SlurmError, match="Socket timed out"):
        queue(["name"])


def test_the_queue_is_read_whole(slurm):
    slurm(squeue="7_3|name|RUNNING|node[1-2]|None|2|1:02|\n8|name|PENDING||ReqNodeNotAvail, down|0|0:00|\n")
    first, second = queue(["name"])
    assert (first.task, first.node, first.restarts, first.alive) == (3, "node[1-2]", 2, True)
    assert (second.task, second.reason) == (None, "ReqNodeNotAvail, down")
