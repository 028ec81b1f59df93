"""The keys of a tree of dataclasses."""

from dataclasses import dataclass, field

from launch.config.schema import UNKNOWN, complaint, keys, type_at


@dataclass
class Inner:
    lr: float = 0.1
    epochs: int = 2


@dataclass
class Outer:
    seed: int = 1
    algo: Inner = field(default_factory=Inner)
    players: dict[str, Inner] = field(default_factory=dict)


def test_keys_have_the_types_of_their_fields():
    assert list(keys(Outer)) == ["seed", "algo", "algo.lr", "algo.epochs", "players"]
    assert (type_at(Outer, "algo.lr"), type_at(Outer, "players.anybody.epochs")) == (float, int)
    assert type_at(Outer, "algo.batch") is UNKNOWN


def test_a_wrong_key_is_answered_with_the_one_that_was_meant():
    assert complaint(Outer, "algo.lr") is None
    assert complaint(Outer, "algo.epoch") == "unknown key 'algo.epoch'; did you mean 'algo.epochs'?"
    assert complaint(Outer, "epochs") == "unknown key 'epochs'; did you mean 'algo.epochs'?"
    assert complaint(Outer, "seed.x") == "unknown key 'seed.x'; 'seed' is a whole number and has no keys"
