from packed import packed

from launch.cli import main
from launch.packing.player_cards import card_lines
from league.policies.layout import PolicyConfig
from league.store.player_file import read_player


def test_a_card_says_what_the_player_is(tmp_path):
    path = packed(tmp_path / "p", "simple_tag", PolicyConfig(hidden=[8], memory="gru"), role="agent", licence="MIT")
    lines = dict(
        line.split(maxsplit=1) for line in card_lines(read_player(path)) if not line.startswith(("sees", "does"))
    )
    assert lines["plays"] == "simple_tag as agent"
    assert lines["network"].startswith("mlp, ")
    assert '"memory": "gru"' in lines["network"]
    assert lines["rating"].startswith("none")
    assert lines["licence"] == "MIT"
    assert any("float32 (16,)" in line for line in card_lines(read_player(path)))


def test_a_strangers_text_cannot_reach_the_terminal(tmp_path, capsys):
    path = packed(tmp_path / "p", note="hi\x1b[2Jthere\nrating 9999", licence="a\u202eb")
    assert main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "hi?[2Jthere?rating 9999" in out
