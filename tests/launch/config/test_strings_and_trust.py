"""Shell, control characters, resolvers and secrets: what a config may not bring along."""

import shlex
import shutil
import stat
from itertools import product
from pathlib import Path

import pytest

from launch.cli import main
from launch.config.compose import compose
from launch.config.config import Config, ConfigError, from_plain, to_plain
from launch.config.slurm import JobConfig, SlurmConfig
from launch.config.strings import leaked, wrong_text
from launch.slurm.commands import SlurmError
from launch.slurm.script import jobs, script
from launch.slurm.trust import approve, marks_file, shell_of
from launch.start import begin
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


# --- control characters ------------------------------------------------------------------------------------------

CONTROLS = [
    "\x00",
    "\x07",
    "\x1b[2J",
    "\r",
    "\n",
    "\t",
    "\x7f",
    "\x9b",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u200f",
    "\ud800",
]
SOMEWHERE = {
    "env.id": lambda bad: {"env": {"name": "pettingzoo", "id": f"a{bad}b"}},
    "env.seats[0][0]": lambda bad: {"env": {"seats": [[f"a{bad}b"]]}},
    "runs": lambda bad: {"runs": f"a{bad}b"},
    "track.project": lambda bad: {"track": {"project": f"a{bad}b"}},
    "launch.slurm.setup[1]": lambda bad: {"launch": {"slurm": {"setup": ["x", f"a{bad}b"]}}},
    "league.players.": lambda bad: {"league": {"players": {f"a{bad}b": {"kind": "main"}}}},
    "algo.": lambda bad: {"algo": {f"a{bad}b": 1}},
    "env.kwargs.": lambda bad: {"env": {"kwargs": {f"a{bad}b": 1}}} if bad not in "\n\t" else {"name": bad},
}


def test_control_characters_are_refused_in_every_text_and_key(figure):
    for bad, (key, make) in product(CONTROLS, SOMEWHERE.items()):
        with pytest.raises(ConfigError, match=r"has the control character U\+") as told:
            from_plain(make(bad))
        assert str(told.value).startswith((key, "name"))
        assert str(told.value).isprintable()
    figure(f"{len(CONTROLS)} of {len(CONTROLS)} kinds of control characters refused in {len(SOMEWHERE)} places")


@pytest.mark.parametrize("override", ["runs='a\x1bb'", "+env.kwargs.x='a\u202eb'", "track.project='a\x7fb'"])
def test_control_characters_of_overrides_are_refused(override):
    with pytest.raises(ConfigError, match="control character"):
        compose([override])


def test_a_map_of_a_game_may_have_lines():
    assert wrong_text({"env": {"kwargs": {"grid": "..\n..", "deep": ["a\tb"]}}}) is None
    assert wrong_text({"env": {"kwargs": {"grid": "..\r.."}}}) is not None


# --- resolvers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "override",
    [
        "track.project='${oc.env:HOME}'",
        "track.entity='x${oc.env:HOME,y}'",
        "+env.kwargs.x='${oc.env:PATH}'",
        "launch.slurm.setup=['${oc.env:PATH}']",
        "track.project='${oc.decode:1}'",
        "track.project='${ oc.env : HOME }'",
        "env.seats=[['${hydra:job.name}']]",
        "runs='${hydra:job.name}'",
    ],
)
def test_resolvers_are_refused_in_overrides(override):
    with pytest.raises(ConfigError, match="would read something else into the config"):
        compose([override])


def test_where_runs_land_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SCRATCH", "/scratch/ada")
    assert compose(["runs='${oc.env:SCRATCH}/runs'"]).runs == "/scratch/ada/runs"
    assert compose(["track.project='${name}'", "name=first"]).track.project == "first", "keys may refer to keys"


def test_resolvers_are_refused_in_a_stored_config():
    with pytest.raises(ConfigError, match=r"^track\.project: .* is not resolved here"):
        from_plain({"track": {"project": "${oc.env:HOME}"}})
    shell = {"launch": {"slurm": {"setup": ["export A=${B:-c}"], "learner": {"setup": ["echo ${C:1}"]}}}}
    assert from_plain(shell).launch.slurm.setup == ["export A=${B:-c}"], "shell has braces of its own"


# --- secrets -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plain",
    [
        {"env": {"kwargs": {"api_key": "0123456789"}}},
        {"env": {"kwargs": {"deep": {"hf_token": "x"}}}},
        {"env": {"kwargs": {"password": "open sesame"}}},
        {"launch": {"slurm": {"setup": ["export WANDB_API_KEY=0123456789abcdef"]}}},
        {"launch": {"slurm": {"setup": ["module load x; export MY_SECRET='0123456789'"]}}},
        {"launch": {"slurm": {"learner": {"prefix": "env HF_TOKEN=0123456789 nice"}}}},
        {"launch": {"slurm": {"sbatch": ["--export=ALL,DB_PASSWORD=0123456789"]}}},
        {"env": {"kwargs": {"url": "https://ada:lovelace@host/x"}}},
        {"track": {"entity": "ghp_0123456789abcdefghijklmn"}},
        {"env": {"kwargs": {"lines": ["-----BEGIN RSA PRIVATE KEY-----"]}}},
        {"track": {"project": "x-hunter22hunter-y"}},
    ],
)
def test_secrets_are_refused_and_not_repeated(plain):
    told = leaked(plain, {"SOME_API_KEY": "hunter22hunter"})
    assert told is not None
    assert "looks like a secret" in told
    assert not any(word in told for word in ("0123456789", "sesame", "lovelace", "hunter"))


@pytest.mark.parametrize(
    "plain",
    [
        to_plain(Config()),
        {"env": {"kwargs": {"max_information_tokens": 8, "token": 3, "secret": True}}},
        {"env": {"id": "hanabi(max_information_tokens=12345678)"}},
        {"launch": {"slurm": {"setup": ["export WANDB_API_KEY=$(cat ~/.key)", "export T_TOKEN=$TOKEN_OF_MINE"]}}},
        {"launch": {"slurm": {"setup": ['export WANDB_API_KEY="$KEY"', "module load cuda/12.1"]}}},
    ],
)
def test_what_is_no_secret_is_fine(plain):
    assert leaked(plain, {"SOME_API_KEY": "hunter22hunter", "A_TOKEN": "cuda"}) is None


def test_no_run_begins_with_a_secret(monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "a-key-of-mine-alone")
    for override in ("track.project=a-key-of-mine-alone", "+env.kwargs.api_key=0123"):
        with pytest.raises(ConfigError, match="looks like a secret"):
            begin(compose([override, "name=leaky"]), allow=[], accept=False, notify=print).__enter__()
    assert not Path("runs/leaky").exists()


# --- links ---------------------------------------------------------------------------------------------------------


def test_a_run_whose_links_lead_elsewhere_is_not_written_to(run, tmp_path, capsys):
    precious = tmp_path / "bashrc"
    precious.write_text("mine")
    config = run.read_config()
    config["launch"]["name"] = "inline"
    run.write_config(config)
    (run.root / "inside").symlink_to(run.config)
    assert main(["resume", str(run.root), "--quiet"]) == 0, "a link inside of the run does no harm"
    (run.logs / "coordinator-0.log").symlink_to(precious)
    again = ["run", f"runs={run.root.parent}", f"name={run.name}", "launch=inline", "--accept-changes", "--quiet"]
    for command in (["resume", str(run.root), "--quiet"], again):
        assert main(command) == 2
        assert "outside of the run" in capsys.readouterr().err
    assert main(["resume", str(run.root), "--quiet", "--trust"]) == 0
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["../../main", "/etc/x", "a/b", ".hidden", "", "a\0b"])
def test_no_name_of_a_player_leads_out_of_the_run(name, run):
    for path in (run.checkpoint, run.journal):
        with pytest.raises(ValueError, match="cannot name a player"):
            path(name)
    assert run.checkpoint("main.3").parent == run.checkpoints


# --- links that lead out of a run --------------------------------------------------------------------------------

WRITING = {
    "report": ["report", "first"],
    "export": ["export", "first", "--to", "csv"],
    "videos": ["record", "first", "main", "random"],
}


@pytest.mark.parametrize("folder", WRITING)
@pytest.mark.parametrize("whole", [True, False], ids=["the folder", "a file in it"])
def test_no_command_writes_through_a_link_that_leads_out_of_a_run(folder, whole, run, capsys, tmp_path):
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "notes").write_text("mine\n")
    inner = run.root / folder
    if whole:
        inner.symlink_to(outside)
    else:
        inner = inner / "csv" if folder == "export" else inner
        inner.mkdir(parents=True)
        (inner / "points.csv").symlink_to(outside / "notes")
    assert main(WRITING[folder]) == 2
    assert "outside of the run" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"notes": "mine\n"}
    assert main([*WRITING[folder], "--out", "mine"]) == 0, "a folder that the user names is the user's own affair"


def test_a_video_that_is_a_link_is_not_sent_along(run, capsys, tmp_path):
    (tmp_path / "secret").write_text("secret")
    run.videos.mkdir()
    (run.videos / "match-1.0.gif").symlink_to(tmp_path / "secret")
    plain = run.read_config()
    plain["track"]["videos"] = 1
    run.write_config(plain)
    assert main(["export", "first", "--to", "csv", "--out", "mine"]) == 2
    assert "outside of the run" in capsys.readouterr().err


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
