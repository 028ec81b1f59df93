"""Text of a config: no control characters, no resolvers, no secrets."""

from itertools import product
from pathlib import Path

import pytest

from launch.config.compose import compose
from launch.config.config import Config, ConfigError, from_plain, to_plain
from launch.config.strings import leaked, wrong_text
from launch.start import begin


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Let the user's own state be elsewhere than the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


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
