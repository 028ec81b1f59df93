"""A packed player of a stranger executes nothing, and takes no more memory than a real one."""

import importlib
import tracemalloc
from contextlib import suppress
from hashlib import sha256

import msgspec
import numpy as np
import pytest
import safetensors.numpy
from packed import hash_of, packed, rewritten

from collectors.envs.adapters.translator import Translator
from collectors.players.loaded_player import load_player
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.start import begin
from league.agent_spaces import AgentSpaces, BoxForm, DiscreteForm
from league.errors import LudusError
from league.spec import Array, EnvSpec, Seat
from league.store.player_file import PlayerFileError, read_player
from league.store.snapshots import Snapshot, SnapshotStore

PLANTED = "canary_in_a_file"


@pytest.fixture
def sign(tmp_path, monkeypatch):
    """Plant a module on the path that leaves a file when it is imported; return that file."""
    file = tmp_path / "sung"
    (tmp_path / "path" / PLANTED).mkdir(parents=True)
    (tmp_path / "path" / PLANTED / "__init__.py").write_text(f"open({str(file)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    importlib.invalidate_caches()
    return file


def hostile(path, target):
    """Yield files that name a target wherever a file can name anything."""
    found = read_player(packed(path))
    card, manifest = found.card, found.snapshot.manifest
    for policy in ({"name": target}, {"activation": target}, {"name": "mlp", "hidden": [8], "memory": target}):
        rewritten(path, msgspec.structs.replace(manifest, policy={**manifest.policy, **policy}))
        yield path
    package = target.partition(":")[0].partition(".")[0]
    rewritten(path, msgspec.structs.replace(manifest, policy={"name": target}), requires={package: target})
    yield path
    for env in ({"name": target}, {"name": "pettingzoo", "id": target}, {"name": "tic_tac_toe", "outcome": target}):
        rewritten(path, manifest, env={**card.env, **env}, note=target, licence=target)
        yield path


@pytest.mark.slow
def test_no_name_in_a_file_is_imported(sign, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in hostile(tmp_path / "p.safetensors", f"{PLANTED}.sub:Thing"):
        main(["show", str(path)])
        with suppress(PlayerFileError):
            load_player(path)
        main(["tournament", str(path), "random", "--rounds", "1", "--inline", "--quiet"])
        with suppress(LudusError):
            config = compose(["env=tic_tac_toe", f"league.players.main.from={path}", "name=x"])
            with begin(config, allow=(), accept=False, notify=lambda line: None):
                pass
    assert not sign.exists()


def test_claims_of_impossible_sizes_are_refused_before_anything_is_allocated(tmp_path):
    path = packed(tmp_path / "p")
    card = read_player(path).card
    manifest = read_player(path).snapshot.manifest
    huge = msgspec.structs.replace(card.spec.observation, shape=(1 << 12, 1 << 12))
    rewritten(path, manifest, spec=msgspec.structs.replace(card.spec, observation=huge))
    with pytest.raises(PlayerFileError, match="cannot play"):
        load_player(path)
    config = compose(["env=tic_tac_toe", f"league.players.main.from={path}", "name=x"])
    with (
        pytest.raises(ConfigError, match="another environment"),
        begin(config, allow=(), accept=False, notify=lambda line: None),
    ):
        pass
    assert not list(SnapshotStore(tmp_path / "runs" / "x" / "snapshots").hashes())


AGENTS = tuple(f"agent_{number}" for number in range(12))


def crowd(card, space):
    """Return changes of a card that declare many agents, each with its own spaces of this size."""
    spec = EnvSpec(
        "crowd", AGENTS, tuple(Seat((number,)) for number in range(len(AGENTS))), Array((space,), "float32"), space
    )
    wide = {
        agent: AgentSpaces(
            observation=BoxForm(shape=(space,), dtype="float32", low=float(number)), action=DiscreteForm(n=space)
        )
        for number, agent in enumerate(AGENTS)
    }
    return {"spec": spec, "spaces": wide}


def resealed(path, policy=None, **changes):
    """Seal a file again with anything in its card: a card that the constructor refuses is written all the same."""
    found = read_player(path)
    manifest = found.snapshot.manifest
    spec = changes.get("spec", found.card.spec)
    manifest = msgspec.structs.replace(manifest, policy={**manifest.policy, **(policy or {})}, signature=spec.signature)
    snapshot = Snapshot(found.snapshot.arrays, manifest)
    plain = msgspec.to_builtins(found.card) | msgspec.to_builtins(changes) | {"snapshot": hash_of(snapshot)}
    body = msgspec.json.encode(plain)
    sealed = {
        "manifest": msgspec.to_builtins(manifest), "card": msgspec.Raw(body), "sha256": sha256(body).hexdigest()
    }  # fmt: skip
    metadata = {"ludus_player": msgspec.json.encode(sealed).decode()}
    path.write_bytes(safetensors.numpy.save(dict(snapshot.arrays), metadata=metadata))
    return path


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refusal(path):
    with pytest.raises(PlayerFileError) as caught:
        load_player(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_spaces_of_all_agents_together_are_bounded(tmp_path):
    path = packed(tmp_path / "p")
    resealed(path, **crowd(read_player(path).card, 1 << 24))
    found = []
    assert peak_of(lambda: found.append(refusal(path))) < 1 << 24
    assert "values together, but at most 16,777,216 are possible" in found[0]


def test_equal_spaces_of_many_agents_are_made_once():
    spaces = dict.fromkeys(AGENTS, AgentSpaces(observation=BoxForm(shape=(1 << 20,), dtype="float32"),
                                               action=DiscreteForm(n=4)))  # fmt: skip
    seats = tuple(Seat((number,)) for number in range(len(AGENTS)))
    spec = EnvSpec("crowd", AGENTS, seats, Array((1 << 20,), "float32"), 4)
    assert peak_of(lambda: Translator(spec, spaces)) < 60 << 20


@pytest.mark.parametrize(
    "policy",
    [
        {"name": "board_conv", "kernel": [256, 256], "channels": 1},
        {"name": "cnn", "filters": [[1, 256, 1]]},
        {"name": "resnet", "channels": 1 << 20},
    ],
)
def test_a_huge_kernel_is_refused_before_its_patches_are_made(policy, tmp_path):
    path = packed(tmp_path / "p")
    board = Array((512, 512, 1), "float32")
    spec = msgspec.structs.replace(read_player(path).card.spec, observation=board)
    form = BoxForm(shape=board.shape, dtype="float32")
    spaces = {agent: AgentSpaces(observation=form, action=DiscreteForm(n=9)) for agent in spec.agents}
    resealed(path, policy, spec=spec, spaces=spaces)
    found = []
    assert peak_of(lambda: found.append(refusal(path))) < 32 << 20
    assert "Make the kernel smaller" in found[0]


@pytest.mark.parametrize("kwargs", [{"width": 1 << 14, "hidden": 1 << 14}, {"filters": [[1 << 14, 99, 1]] * 9}])
def test_a_huge_structured_network_is_refused_before_it_is_built(kwargs, tmp_path):
    path = packed(tmp_path / "p")
    board = Array((64, 64, 3), "float32")
    spec = msgspec.structs.replace(read_player(path).card.spec, observation=board)
    form = BoxForm(shape=board.shape, dtype="float32")
    spaces = {agent: AgentSpaces(observation=form, action=DiscreteForm(n=9)) for agent in spec.agents}
    resealed(path, {"name": "structured", "kwargs": kwargs}, spec=spec, spaces=spaces)
    assert "weights; at most 67,108,864 are possible" in refusal(path)


@pytest.mark.parametrize("depth", [70, 900, 100_000])
@pytest.mark.parametrize("place", ["env", "policy", "note"])
def test_a_deeply_nested_card_is_one_line(depth, place, tmp_path, capsys):
    path = packed(tmp_path / "p")
    deep = msgspec.Raw(b'{"a":' * depth + b"1" + b"}" * depth)
    if place == "policy":
        manifest = msgspec.json.encode({"player": "x", "policy": deep})
        sealed = b'{"manifest":' + manifest + b',"card":{},"sha256":""}'
    else:
        card = msgspec.json.encode(msgspec.to_builtins(read_player(path).card) | {place: deep})
        digest = sha256(card).hexdigest().encode()
        manifest = msgspec.json.encode(read_player(path).snapshot.manifest)
        sealed = b'{"manifest":' + manifest + b',"card":' + card + b',"sha256":"' + digest + b'"}'
    arrays = {"flat": np.zeros(3, np.float32)}
    path.write_bytes(safetensors.numpy.save(arrays, metadata={"ludus_player": sealed.decode()}))
    for words in (["show", str(path)], ["show", str(path), "--json"]):
        assert main(words) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert len(printed.err.splitlines()) == 1
        assert "nested deeper than 64 levels" in printed.err
