"""Whose shell and whose keys it is: what a run directory brings is not trusted by itself."""

import shlex
import shutil
import stat
from pathlib import Path

import pytest

from launch.cli import main
from launch.config.approvals import marks_file
from launch.config.compose import compose
from launch.config.config import Config, ConfigError, from_plain, to_plain
from launch.config.slurm import JobConfig, SlurmConfig
from launch.slurm.commands import SlurmError
from launch.slurm.script import jobs, script
from launch.slurm.trust import approve, shell_of
from league.store.run_directory import RunDirectory
from league.wire.keys import load_server_keys, make_keys

SLURM = ["launch=slurm", "launch.dry_run=true", "experiment=tic_tac_toe", "env=tic_tac_toe"]
SHELL = ["launch.slurm.setup=['touch /tmp/x']", "launch.slurm.learner.prefix=nice", "launch.slurm.python=python9"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Let the user's own state be elsewhere than the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def run_of(*overrides):
    run = RunDirectory(Path("runs/stranger")).create()
    run.write_config(to_plain(compose([*SLURM, "name=stranger", *overrides])))
    return run


def never(question):
    raise AssertionError(question)


# --- whose shell it is -----------------------------------------------------------------------------------------


def test_every_field_that_carries_shell_is_known():
    slurm = SlurmConfig(sbatch=["--x"], collector=JobConfig(setup=["a"], python="b"), coordinator=JobConfig(prefix="c"))
    assert shell_of(slurm) == {
        "launch.slurm.sbatch": ["--x"],
        "launch.slurm.coordinator.prefix": "c",
        "launch.slurm.collector.setup": ["a"],
        "launch.slurm.collector.python": "b",
    }
    assert shell_of(SlurmConfig()) == {}


def test_a_resume_of_a_strangers_run_shows_its_shell_and_submits_nothing(capsys, figure):
    run = run_of(*SHELL)
    assert main(["resume", "stranger"]) == 2
    told = capsys.readouterr().err
    for part in ('launch.slurm.setup: ["touch /tmp/x"]', 'learner.prefix: "nice"', 'python: "python9"', "--trust"):
        assert part in told
    assert not run.slurm.exists(), "not even a script was written"
    figure(f"{len(SHELL)} of {len(SHELL)} lines of shell shown, 0 scripts written")


def test_with_trust_it_goes_on_and_is_known_from_then_on(capsys):
    run = run_of(*SHELL)
    assert main(["resume", "stranger", "--trust"]) == 0
    assert "touch /tmp/x" in (run.slurm / "coordinator.sbatch").read_text()
    assert main(["resume", "stranger"]) == 0
    assert stat.S_IMODE(marks_file().stat().st_mode) == 0o600
    capsys.readouterr()


def test_ones_own_run_goes_on_without_a_question(capsys):
    assert main(["run", *SLURM, "name=mine", *SHELL]) == 0
    assert main(["resume", "mine"]) == 0
    run_of(*SHELL, "launch.slurm.setup=['touch /tmp/y']")
    assert main(["resume", "stranger"]) == 2, "another line of shell is another question"
    capsys.readouterr()


def test_a_run_without_shell_asks_nothing(capsys):
    run_of()
    assert main(["resume", "stranger"]) == 0
    assert not marks_file().exists()
    capsys.readouterr()


def test_a_terminal_is_asked_and_its_word_counts():
    config, asked = compose([*SLURM, *SHELL]), []
    run = RunDirectory(Path("runs/stranger"))
    with pytest.raises(SlurmError, match="Nothing was submitted"):
        approve(run, config, ask=lambda question: bool(asked.append(question)))
    approve(run, config, ask=lambda question: True)
    approve(run, config, ask=never)
    assert len(asked) == 1
    assert "touch /tmp/x" in asked[0]


def test_notes_that_others_may_write_say_nothing():
    config = compose([*SLURM, *SHELL])
    approve(RunDirectory(Path("x")), config, given=True)
    marks_file().chmod(0o666)
    with pytest.raises(SlurmError):
        approve(RunDirectory(Path("x")), config)


def test_where_nothing_can_be_noted_the_league_starts_all_the_same(tmp_path):
    (tmp_path / "state").write_text("a file, where a directory should be")
    config = compose([*SLURM, *SHELL])
    approve(RunDirectory(Path("x")), config, given=True)
    with pytest.raises(SlurmError):
        approve(RunDirectory(Path("x")), config)


# --- nothing but shell fields reaches a script as shell ----------------------------------------------------------

WORDS = ("partition", "account", "qos", "constraint", "exclude", "gres", "time", "memory", "interface")
BREAKS = (
    "a\n#SBATCH --wrap=x",
    "a b",
    "$(touch x)",
    "`x`",
    "a'b",
    'a"b',
    "a;\tb",
    "-p",
    "#x",
    "a\\b",
    "a\u2028b",
    "a>b",
)


@pytest.mark.parametrize("field", WORDS)
@pytest.mark.parametrize("text", BREAKS)
def test_no_other_field_breaks_out_of_its_place(field, text):
    for part in ("slurm", "slurm.learner") if field != "interface" else ("slurm",):
        plain = to_plain(Config())
        inner = plain["launch"]["slurm"] if part == "slurm" else plain["launch"]["slurm"]["learner"]
        inner[field] = text
        with pytest.raises(ConfigError, match=rf"launch\.{part}(\.|: ){field}|launch\.{part}\.{field}"):
            from_plain(plain)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("constraint", "[rack1*2&rack2*4]"),
        ("constraint", "(a100|h100)&!old"),
        ("exclude", "node[1-4,7],gpu-3.cluster"),
        ("gres", "gpu:a100:2,tmp:10G"),
        ("account", "a.b-c_d@e"),
        ("partition", "gpu,long"),
    ],
)
def test_what_slurm_reads_is_fine(field, text):
    assert getattr(SlurmConfig(**{field: text}), field) == text


def test_a_path_of_python_stays_one_word_also_between_the_ranks():
    python = "/opt/it's here/python"
    config = compose([*SLURM, "launch.ranks=2", f'launch.slurm.python="{python}"'])
    text = script(jobs(config, RunDirectory(Path("/r")))[1], config, RunDirectory(Path("/r")), Path("/h"))
    inner = shlex.split(text[text.index("serve srun") :])[-1]
    assert shlex.split(inner[inner.index("exec") :])[1] == python


def test_a_directory_whose_name_is_a_directive_is_refused():
    config = compose(SLURM)
    run = RunDirectory(Path("/r\n#SBATCH --wrap=x"))
    with pytest.raises(SlurmError, match="control character"):
        script(jobs(config, run)[0], config, run, Path("/h"))


# --- keys that came with a run ------------------------------------------------------------------------------------


def test_a_run_is_not_resumed_by_keys_that_came_with_it(capsys):
    run = run_of()
    make_keys(run.keys)
    before = load_server_keys(run.keys)
    assert main(["resume", "stranger"]) == 2
    assert "whoever made them can enter the league" in capsys.readouterr().err
    shutil.rmtree(run.keys)
    assert main(["resume", "stranger"]) == 0, "without them, new ones are made"
    assert load_server_keys(run.keys).public != before.public
    assert main(["resume", "stranger"]) == 0, "and those are known from then on"


def test_keys_that_came_with_a_run_are_taken_by_who_trusts_them():
    run = run_of()
    make_keys(run.keys)
    assert main(["resume", "stranger", "--trust"]) == 0
    assert main(["resume", "stranger"]) == 0
