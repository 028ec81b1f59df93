"""A run directory of a stranger executes nothing: canaries sing when anybody calls or imports them."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import matrix_game
import numpy as np
import pytest

from collectors.envs.config import make_environment
from collectors.players.scripted import make_bot, make_bots
from launch.cli import main
from launch.config.config import Config, from_plain, settings_of, to_plain
from launch.trackers.make_sink import check_trackers
from league.events import PlayerAdded, TicketIssued
from league.player import Player
from league.policies.network_actor import actor_from_snapshot
from league.rulebook import founders
from league.store.ledger import Ledger
from league.store.snapshots import Manifest, SnapshotMissing, SnapshotStore
from league.ticket import Entry, Purpose, Ticket

PLANTED = "canary_planted"  # a module on the path that nobody allowed

TARGETS = (Path(__file__).parents[1] / "support" / "canaries.txt").read_text().split()

# What opens a config needs these itself: for them a refusal is all there is to see.
UNARMED = ("builtins:", "pathlib:", "importlib:", "__main__:", "league.", "collectors.", "learners.", "gymnasium:make")
UNARMED += ("gymnasium.envs.registration:", "pettingzoo:make", "pettingzoo.env_registry.spec:")

RPS = {"name": "pettingzoo", "id": "classic/rps_v2"}
CARTPOLE = {"name": "gymnasium", "id": "CartPole-v1"}
SCRIPTED = {"kind": "scripted", "anchor": 0.0}


class Sung(BaseException):
    """A canary was called: no code may catch this and go on."""


def hostile(**parts):
    return {**to_plain(Config()), **parts}


FIELDS = {
    "env.name": lambda t: hostile(env={"name": t}),
    "env.id of pettingzoo": lambda t: hostile(env={"name": "pettingzoo", "id": t}),
    "env.id of gymnasium": lambda t: hostile(env={"name": "gymnasium", "id": t}),
    "env.id of openspiel": lambda t: hostile(env={"name": "openspiel", "id": t}),
    "env.id of gymnasium_multi": lambda t: hostile(env={"name": "gymnasium_multi", "id": t}),
    "env.args": lambda t: hostile(env={"name": "pettingzoo", "id": t, "args": [t], "compat": True, "cast": True}),
    "env.id of atari": lambda t: hostile(env={"name": "atari", "id": t}),
    "env.wrappers": lambda t: hostile(env={**RPS, "wrappers": [t]}),
    "env.wrappers with arguments": lambda t: hostile(env={**RPS, "wrappers": [[t, {"size": 1}]]}),
    "env.wrappers of gymnasium": lambda t: hostile(env={**CARTPOLE, "wrappers": [t]}),
    "env.outcome": lambda t: hostile(env={"name": "connect_four", "outcome": t}),
    "league.players.*.bot": lambda t: hostile(league={"players": {"x": {**SCRIPTED, "bot": t}}}),
    "algo.name": lambda t: hostile(algo={"name": t}),
    "league.players.*.algo": lambda t: hostile(league={"players": {"x": {"kind": "main", "algo": {"name": t}}}}),
    "league.players.*.policy": lambda t: hostile(league={"players": {"x": {"kind": "main", "policy": {"name": t}}}}),
    "policy": lambda t: hostile(policy={"name": t}),
    "track.to": lambda t: hostile(track={"to": [t]}),
    "launch.name": lambda t: hostile(launch={"name": t}),
}


def open_config(plain):
    """Make everything that a config names."""
    config = from_plain(plain)
    check_trackers(config.track.to)
    settings_of(config)
    env = make_environment(config.env, 1)
    make_bots(founders(config.league, env.spec.roles), env.spec)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A module that tells when it is imported, and the file by which it does."""
    sign = tmp_path / "sung"
    (tmp_path / "path" / PLANTED).mkdir(parents=True)
    told = f"from pathlib import Path\nPath({str(sign)!r}).touch()\n"
    for name in ("__init__", "sub"):
        (tmp_path / "path" / PLANTED / f"{name}.py").write_text(told)
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    return sign


def arm(target, patch, sung):
    """Let the target sing if it is there at all."""
    module, _, name = target.partition(":")
    if target.startswith((*UNARMED, PLANTED)) or "." in name:
        return
    try:
        with warnings.catch_warnings(action="ignore"):  # old modules of PettingZoo warn that they are old
            home = importlib.import_module(module)
    except Exception:  # it is not installed, and says so in its own way
        return

    def sing(*args, **kwargs):
        sung.append(target)
        raise Sung

    sing.__module__ = getattr(getattr(home, name, None), "__module__", module)
    patch.setattr(home, name, sing, raising=False)


@pytest.mark.slow
def test_no_target_is_executed_through_any_field_of_a_config(monkeypatch, planted, figure):
    assert len(TARGETS) == len(set(TARGETS)) >= 60
    for plain in (FIELDS["env.wrappers"]("x:y"), FIELDS["env.wrappers of gymnasium"]("x:y")):
        with suppress(ValueError):  # registries remember what they loaded, so that it is not loaded under the canaries
            open_config({**plain, "env": {**plain["env"], "wrappers": []}})
    sung, went_through = [], []
    for target in TARGETS:
        with monkeypatch.context() as patch:
            arm(target, patch, sung)
            for field, make in FIELDS.items():
                try:
                    open_config(make(target))
                    went_through.append((field, target))
                except ValueError as error:
                    if "cannot make the environment" in str(error):
                        went_through.append((field, target))
                except Sung:
                    went_through.append((field, target))
                if planted.exists():
                    planted.unlink()
                    sung.append((field, target))
    assert (sung, went_through) == ([], [])
    figure(f"{len(sung)} of {len(TARGETS)} targets executed through {len(FIELDS)} fields of a config")


def test_a_canary_sings_when_it_is_allowed(planted):
    with pytest.raises(ValueError, match="cannot load"):
        make_environment(from_plain(FIELDS["env.name"](f"{PLANTED}:Env")).env, 1, allow=[PLANTED])
    assert planted.exists()


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_is_a_bot_of_the_ledger_or_a_snapshot(target, state, tmp_path):
    with pytest.raises(ValueError, match=r"not allowed|code of Ludus|write package"):
        make_bot(target, state.env)
    with pytest.raises(SnapshotMissing, match="64 hexadecimal digits"):
        SnapshotStore(tmp_path).get(target)


def test_the_network_of_a_snapshot_needs_leave(planted):
    spec = matrix_game.SPEC
    manifest = Manifest(
        player="main", incarnation=0, version=1, decisions=1, policy={"name": f"{PLANTED}:Net"},
        signature=spec.signature, parent=None, versions={},
    )  # fmt: skip
    with pytest.raises(ValueError, match=rf"'{PLANTED}' is not allowed"):
        actor_from_snapshot({"flat": np.zeros(3, np.float32)}, manifest, spec)
    assert not planted.exists()
    with pytest.raises(ValueError, match="has no attribute 'Net'"):
        actor_from_snapshot({"flat": np.zeros(3, np.float32)}, manifest, spec, allow=[PLANTED])


# --- environments that are fine, and arguments that are not ----------------------------------------------------


def build(name, id, kwargs=None, wrappers=(), allow=()):
    env = from_plain(hostile(env={"name": name, "id": id, "kwargs": kwargs or {}, "wrappers": list(wrappers)})).env
    return make_environment(env, 1, allow)


@pytest.mark.parametrize(
    ("name", "id", "wrappers"),
    [
        ("pettingzoo", "classic/tictactoe_v3", ["pettingzoo.utils:OrderEnforcingWrapper"]),
        ("pettingzoo", "pettingzoo.classic.rps.rps:env", ["pettingzoo.utils.conversions:aec_to_parallel"]),
        ("pettingzoo", "pettingzoo.classic.rps.rps:raw_env", []),
        ("pettingzoo", "pettingzoo.classic.rps.rps:parallel_env", []),
        ("pettingzoo", "mpe2.simple_tag_v3:parallel_env", []),
        ("pettingzoo", "mpe2/simple_tag_v3", []),
        ("gymnasium", "CartPole-v1", [["gymnasium.wrappers:TimeLimit", {"max_episode_steps": 9}]]),
        ("gymnasium", "gymnasium.envs.classic_control.cartpole:CartPoleEnv", []),
        ("openspiel", "kuhn_poker", []),
        ("atari", "ALE/Pong-v5", []),
    ],
)
def test_environments_and_wrappers_of_known_packages_need_no_leave(name, id, wrappers):
    build(name, id, wrappers=wrappers).close()


@pytest.mark.parametrize(
    ("name", "id", "kwargs", "wrappers"),
    [
        ("gymnasium", "CartPole-v1", {"xml_file": "evil.xml"}, []),
        ("gymnasium", "CartPole-v1", {"render_mode": "../evil"}, []),
        ("gymnasium", "CartPole-v1", {"deep": {"model_path": 1}}, []),
        ("gymnasium", "CartPole-v1", {"deep": [["~/x"]]}, []),
        ("pettingzoo", "classic/rps_v2", {"auto_rom_install_path": "x"}, []),
        ("pettingzoo", "mpe2/simple_tag_v3", {"log_dir": "x"}, []),
        ("pettingzoo", "pettingzoo.classic.rps.rps:env", {"file": "x"}, []),
        ("pettingzoo", "classic/rps_v2", {}, [["pettingzoo.utils:OrderEnforcingWrapper", {"path": "x"}]]),
        ("openspiel", "efg_game(filename=evil.efg)", {}, []),
        ("openspiel", "nfg_game", {"filename": "evil.nfg"}, []),
        ("openspiel", "turn_based_simultaneous_game(game=nfg_game(filename=evil.nfg))", {}, []),
        ("openspiel", "bargaining", {"instances_file": "x"}, []),
        ("atari", "ALE/Pong-v5", {"game": "../evil"}, []),
    ],
)
def test_arguments_that_lead_to_a_file_are_refused(name, id, kwargs, wrappers):
    with pytest.raises(ValueError, match=r"may lead (gymnasium|pettingzoo|mpe2|pyspiel|ale_py) to a file.*--allow"):
        build(name, id, kwargs, wrappers)


@pytest.mark.parametrize("name", ["gymnasium", "atari"])
def test_gymnasium_imports_no_module_that_an_id_names(name, planted):
    with pytest.raises(ValueError, match=r"--allow|written as in ALE|write package"):
        build(name, f"{PLANTED}:Thing-v0")
    assert not planted.exists()


def test_what_others_registered_needs_leave(monkeypatch):
    import gymnasium
    import pettingzoo
    from pettingzoo.env_registry.registration import aec_registry

    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.envs.registration.registry))
    monkeypatch.setattr(gymnasium, "registry", gymnasium.envs.registration.registry)
    gymnasium.register("Strange-v0", entry_point="stranger.envs:Env")
    pettingzoo.register("aec", "strange/thing_v0", entry_point="stranger.envs:env")
    try:
        for name, id in (("gymnasium", "Strange-v0"), ("pettingzoo", "strange/thing_v0")):
            with pytest.raises(ValueError, match=r"registered by the package 'stranger'.*--allow stranger"):
                build(name, id)
    finally:
        del aec_registry["strange/thing-v0"]


# --- commands --------------------------------------------------------------------------------------------------


def commands(run):
    """Every command that opens a run, as words; those that wait for a coordinator are tried as real processes."""
    name = str(run.root)
    return {
        "watch": ["watch", name, "main", "evil", "--delay", "0"],
        "duel": ["duel", name, "main", "evil", "--games", "2"],
        "play": ["play", name, "evil"],
        "replay": ["replay", name, "1", "--delay", "0"],
        "record": ["record", name, "main", "evil"],
        "resume": ["resume", name, "--quiet"],
        "report": ["report", name, "--out", f"{name}/out"],
        "export": ["export", name, "--to", "csv", "--out", f"{name}/out"],
        "verify": ["verify", name],
        "standings": ["standings", name],
        "status": ["status", name],
        "payoff": ["payoff", name],
        "matches": ["matches", name],
        "explain": ["explain", name, "main"],
        "logs": ["logs", name],
        "keys": ["keys", name],
        "list": ["list", str(run.root.parent)],
        "probe": ["probe", name, "evil", "--steps", "300", "--games", "2", "--inline", "--quiet"],
        "compare": ["compare", name, f"{name}-twin", "--games", "2", "--probe-steps", "0", "--out", f"{name}/out"],
        "exploit": ["exploit", name, "evil"],
        "scale": ["scale", name, "collectors=2"],
    }


START, IMPORT = "launch.sweeps.sweeping:start", f"{PLANTED}:env"
EFFECTS = {
    START: lambda sign: {"command": ["touch", str(sign)]},
    "subprocess:run": lambda sign: {"args": ["touch", str(sign)]},
    IMPORT: lambda sign: {},
}
PLACES = {
    "env.id": (lambda plain, to, with_: plain.update(env={"name": "pettingzoo", "id": to, "kwargs": with_}), EFFECTS),
    "env.name": (lambda plain, to, with_: plain.update(env={"name": to, "kwargs": with_}), [START]),
    "env.wrappers": (lambda plain, to, with_: plain.update(env={**RPS, "wrappers": [[to, with_]]}), [IMPORT]),
    "env.outcome": (lambda plain, to, with_: plain["env"].update(outcome=to), [IMPORT]),
    "bot": (lambda plain, to, with_: plain["league"]["players"].update(e={**SCRIPTED, "bot": to}), [IMPORT]),
    "algo.name": (lambda plain, to, with_: plain.update(algo={"name": to}), [IMPORT]),
    "policy.name": (lambda plain, to, with_: plain["policy"].update(name=to), [IMPORT]),
    "track.to": (lambda plain, to, with_: plain["track"].update(to=[to]), [IMPORT]),
}


@pytest.fixture
def stranger(run):
    """The run of a stranger, in whose ledger a scripted player and a ticket name the planted module."""
    bot = f"{PLANTED}:env"
    evil = Player(id="evil", kind="scripted", bot=bot)
    entries = (Entry("evil", None, bot), Entry("evil", None, bot))
    ticket = Ticket(number=1 << 40, purpose=Purpose.EVALUATE, entries=entries, episodes=1)
    with Ledger.open(run.ledger) as ledger:
        ledger.commit([PlayerAdded(player=evil), TicketIssued(ticket=ticket)])
    run.env.write_bytes(run.env.read_bytes() if run.env.exists() else b"{}")
    run.slurm.mkdir()
    (run.slurm / "collectors.sbatch").write_text("#!/bin/bash\n")
    return run


@pytest.mark.slow
def test_no_command_executes_what_a_run_names(stranger, planted, monkeypatch, capsys, figure):
    honest = stranger.read_config()
    honest["launch"]["name"] = "inline"
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    executed, tried = [], 0
    for place, (put, targets) in PLACES.items():
        for target in targets:
            effect = EFFECTS[target]
            plain = json.loads(json.dumps(honest))
            put(plain, target, effect(planted))
            stranger.write_config(plain)
            shutil.copytree(stranger.root, stranger.root.with_name(f"{stranger.name}-twin"), dirs_exist_ok=True)
            for name, words in commands(stranger).items():
                tried += 1
                with suppress(SystemExit):
                    main(words)
                if planted.exists():
                    planted.unlink()
                    executed.append((name, place, target))
    assert executed == []
    capsys.readouterr()
    figure(
        f"{len(executed)} of {len(EFFECTS)} targets with an effect executed through {len(PLACES) + 2} fields "
        f"and {len(commands(stranger))} commands ({tried} calls)"
    )


@pytest.mark.slow
def test_no_command_executes_a_program_that_a_run_names(stranger, tmp_path, monkeypatch, capsys, figure):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    sign, program = tmp_path / "sung", tmp_path / "python"
    program.write_text(f"#!/bin/sh\ntouch {sign}\n")
    program.chmod(0o755)
    plain = stranger.read_config()
    plain["launch"]["name"] = "inline"
    plain["env"] = {**RPS, "python": str(program)}
    stranger.write_config(plain)
    shutil.copytree(stranger.root, stranger.root.with_name(f"{stranger.name}-twin"), dirs_exist_ok=True)
    for name, words in commands(stranger).items():
        with suppress(SystemExit):
            main(words)
        assert not sign.exists(), name
    with pytest.raises(ValueError, match="is lost"):  # the canary sings when it is allowed
        make_environment(from_plain(plain).env, 1, [str(program)])
    assert sign.exists()
    capsys.readouterr()
    figure(f"0 of {len(commands(stranger))} commands executed a program that a run names")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_real_process_executes_what_a_run_names(stranger, planted, tmp_path, figure):
    """The same from a shell, in the directory of the stranger, where the planted module lies as well."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    shutil.copytree(tmp_path / "path" / PLANTED, folder / PLANTED)
    honest, executed, done = stranger.read_config(), [], 0
    names = ("watch", "duel", "replay", "record", "resume", "status", "standings", "report", "verify")
    asked = {**{name: commands(stranger)[name] for name in names}, "attach": ["attach", str(stranger.root), "--plain"]}
    for target, effect in EFFECTS.items():
        plain = json.loads(json.dumps(honest))
        PLACES["env.id"][0](plain, target, effect(planted))
        stranger.write_config(plain)
        for name, words in asked.items():
            command = [sys.executable, "-m", "launch", *words]
            environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False)
            done += 1
            if planted.exists():
                planted.unlink()
                executed.append((name, target))
    assert executed == []
    figure(f"{len(executed)} of {done} commands in processes of their own executed what the run names")
