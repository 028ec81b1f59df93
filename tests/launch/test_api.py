"""The Python API, and the examples that show it."""

import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest

import ludus
from collectors.conforming import conform
from league.store.ledger import Ledger

EXAMPLES = Path(__file__).parents[2] / "examples"
TINY = [
    "env=tic_tac_toe", "launch=inline", "league=selfplay", "name=tiny", "policy.hidden=[8]", "algo.batch=256",
    "algo.minibatch=256", "algo.epochs=1", "collector.slots=16", "learner.candidate_decisions=256",
    "league.budget.minutes=null", "league.budget.env_steps=1500", "league.evaluation.final_games=16",
]  # fmt: skip
FAST = ["league.budget.env_steps=3000", "league.evaluation.final_games=16", "algo.batch=512"]


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


def events(path):
    with Ledger.open(path / "ledger.sqlite") as ledger:
        return [body for _, body in ledger.read()]


def test_importing_it_imports_nothing_heavy():
    heavy = {"torch", "hydra", "numpy", "scipy", "zmq", "pettingzoo", "rich"}
    code = f"import ludus, sys; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=EXAMPLES.parent)
    assert done.stdout.strip() == "[]"


def test_run_plays_a_league_to_its_end_and_says_nothing(capsys):
    league = ludus.run(TINY)
    assert capsys.readouterr().out == ""
    assert league.state.phase == "over"
    assert league.state.env_steps >= 1500
    assert league.name == "tiny"
    assert (league.path / "ledger.sqlite").exists()


@pytest.mark.slow
def test_run_reports_if_it_is_told_to(capsys):
    ludus.run(TINY, quiet=False)
    assert "tiny is over: the budget of 1,500 env steps is spent" in capsys.readouterr().out


@pytest.mark.slow
def test_running_again_with_a_larger_budget_goes_on():
    before = events(ludus.run(TINY).path)
    league = ludus.run([*TINY, "league.budget.env_steps=3000"])
    after = events(league.path)
    assert after[: len(before)] == before
    assert league.state.env_steps >= 3000


def test_another_config_is_refused_unless_changes_are_accepted():
    ludus.run(TINY)
    with pytest.raises(ValueError, match=r"algo\.lr: 0\.001 -> 0\.01"):
        ludus.run([*TINY, "algo.lr=0.01"])
    assert ludus.run([*TINY, "algo.lr=0.01"], accept_changes=True).state.phase == "over"


def test_bad_input_is_a_value_error_that_helps():
    with pytest.raises(ValueError, match=r"did you mean 'algo\.lr'"):
        ludus.run(["algo.learning_rate=1"])
    with pytest.raises(ValueError, match=r"write \['env=tic_tac_toe'\]"):
        ludus.run("env=tic_tac_toe")
    with pytest.raises(ValueError, match="there is no run 'nothing'"):
        ludus.open("nothing")


def test_open_reads_a_run_by_path(run):
    league = ludus.open(str(run.root))
    assert repr(league) == f"League({str(run.root)!r})"
    ids = [player.id for player in league.players()]
    assert ids[:3] == ["main", "exploiter", "random"]
    assert {row.player for row in league.standings()} == set(ids)


def test_payoff_tells_evaluation_and_training_apart(run, state):
    league = ludus.open(str(run.root))
    for purpose, payoff in (("evaluate", state.evaluation), ("train", state.training)):
        table = league.payoff(purpose)
        cells = {(a, b): c for a, row in zip(table.players, table.cells, strict=True)
                 for b, c in zip(table.players, row, strict=True) if c is not None}  # fmt: skip
        assert cells
        assert all((c.wins, c.draws, c.losses) == payoff.raw(*pair) for pair, c in cells.items())
    assert league.payoff() == league.payoff("evaluate") != league.payoff("train")
    with pytest.raises(ValueError, match="'evaluate' or 'train'"):
        league.payoff("everything")


def test_play_is_repeatable_and_leaves_the_league_alone(run):
    league, before = ludus.open(str(run.root)), events(run.root)
    first = league.play("main", "random", episodes=20, seed=3)
    assert first.games == 20
    assert first == league.play("main", "random", episodes=20, seed=3)
    assert first != league.play("main", "random", episodes=20, seed=4)
    assert events(run.root) == before


def test_play_swaps_seats(run):
    """In tic-tac-toe the first mover is better off; if seats were not swapped, random against itself would show it."""
    score = ludus.open(str(run.root)).play("random", "random", episodes=400)
    low, high = score.interval
    assert low < 0.5 < high


def test_play_refuses_who_is_not_there(run):
    league = ludus.open(str(run.root))
    with pytest.raises(ValueError, match="did you mean 'main'"):
        league.play("mian", "random")
    with pytest.raises(ValueError, match="at least 1"):
        league.play("main", "random", episodes=0)


def test_a_score_is_points_by_games():
    score = ludus.Score(wins=8, draws=2, losses=0)
    assert (score.games, score.score) == (10, 0.9)
    assert score.interval == pytest.approx((0.596, 0.982), abs=1e-3)


def test_verify_can_fail(run, capsys):
    league = ludus.open(str(run.root))
    assert league.verify()
    next(run.snapshots.glob("*.safetensors")).write_bytes(b"broken")
    assert not league.verify()
    assert "WRONG every snapshot is there" in capsys.readouterr().out


def test_resume_of_a_league_that_is_over_ends_at_once():
    league = ludus.run(TINY)
    steps = league.state.env_steps
    assert league.resume() is league
    assert (league.state.term, league.state.env_steps) == (1, steps), "nothing is started"


def test_the_quickstart(example, capsys):
    example("quickstart").main([*FAST, "policy.hidden=[8]"])
    output = capsys.readouterr().out
    assert "place  player    rating" in output
    assert "quickstart: all is well" in output


def test_a_league_on_an_own_environment(example, capsys):
    example("own_environment").main([*FAST, "learner.candidate_decisions=512"])
    assert "Score(wins=" in capsys.readouterr().out
    with pytest.raises(ValueError, match="--allow own_environment"):
        ludus.run([*example("own_environment").LEAGUE, "name=other"])


def test_a_league_with_an_own_bot(example, capsys):
    example("own_bot").main([*FAST, "learner.candidate_decisions=512"])
    assert "perfect" in capsys.readouterr().out


def test_the_example_of_a_probe(example, capsys):
    example("probe").main([*FAST, "learner.candidate_decisions=512"], steps=4000)
    assert capsys.readouterr().out.splitlines()[-1] in ("exploitable", "no hole was found")


def test_weights_of_another_project_get_a_rating(example, monkeypatch, tmp_path):
    import numpy as np

    bias = np.where(np.arange(9) % 2, 0.0, 2.0).astype(np.float32)  # the centre and the corners first
    np.savez(tmp_path / "w.npz", w0=np.zeros((18, 9), np.float32), b0=bias)
    monkeypatch.setenv("FOREIGN_WEIGHTS", str(tmp_path / "w.npz"))
    example("foreign_policy")
    stranger = "+league.players.stranger={kind: scripted, bot: 'foreign_policy:ForeignPolicy'}"
    league = ludus.run([*TINY, stranger, "league.evaluation.share=0.3"], allow=["foreign_policy"])
    row = next(row for row in league.standings() if row.player == "stranger")
    assert row.games > 0
    assert row.low < row.rating < row.high
    assert row.rating > 0, "better than random"


def test_the_native_environment_keeps_the_rules(example):
    findings = conform(lambda slots: example("native_environment").Nim(slots), range(1, 40), slots=8)
    assert findings.problems == ()
    assert all(episode.complete for episode in findings.transcripts)


def test_the_perfect_bot_never_loses_a_won_position(example):
    import numpy as np

    env, bot = example("native_environment").Nim(64), example("own_bot").Perfect
    rng = np.random.default_rng(0)
    env.start(np.arange(64, dtype=np.int32), np.arange(64))
    won = env._sticks % 4 > 0  # for whoever moves first
    reward = np.zeros(64)
    while len(rows := env.rows()):
        ends = env.step(bot(env.spec).act(rows.observation, rows.mask, rng)[0])
        first = ends.agent == 0
        reward[ends.slot[first]] = ends.reward[first]
    assert np.array_equal(reward > 0, won)


def test_the_version_is_that_of_the_command_line(capsys):
    from launch.cli import main

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"ludus {ludus.__version__}\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ludus.nothing


def test_standings_become_dicts_and_a_data_frame(run, monkeypatch):
    standings = ludus.open(str(run.root)).standings()
    rows = standings.to_dicts()
    assert [row["player"] for row in rows] == [row.player for row in standings]
    assert rows[0].keys() >= {"place", "player", "kind", "rating", "low", "high", "online", "games"}
    main = next(row for row in rows if row["player"] == "main")
    assert main["v_random"] == next(row for row in standings if row.player == "main").anchors["random"]
    assert all(not isinstance(value, dict | list) for row in rows for value in row.values())

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValueError, match=r"pip install pandas. Without it: to_dicts"):
        standings.to_pandas()
    frames = types.ModuleType("pandas")
    frames.DataFrame = lambda rows: ("a frame of", rows)
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert standings.to_pandas() == ("a frame of", rows)


def test_a_run_with_code_of_ones_own_can_be_opened(bid):
    with pytest.raises(ValueError, match="--allow bidding"):
        ludus.open(str(bid.root)).play("main", "random", episodes=2)
    assert ludus.open(str(bid.root), allow=["bidding"]).play("main", "random", episodes=2).games == 4
