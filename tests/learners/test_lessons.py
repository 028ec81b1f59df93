"""Lessons: data sets of games as segments, whom they are of, what is refused, and samples of them."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from game_data import games_of, write_data

from league.segment import CONTINUES, CUT, TERMINATED
from league.spec import Array, EnvSpec, Seat
from league.store.game_file import ARRAYS
from learners import lessons as lessons_module
from learners.lessons import Lessons, LessonsError, divided, pick, read_lessons, share_of

STEPS = ("observation", "mask", "action", "reward", "present")


@pytest.fixture
def whole(play, fresh):
    """Return segments whose lanes are whole episodes, the last one truncated."""
    segments = play(fresh, lanes=6, ticks=5)
    end = np.full_like(segments.end, CONTINUES)
    end[:, -1] = TERMINATED
    end[-1, -1] = CUT
    tails = {name: array[-1:] for name, array in segments.arrays().items() if name.startswith("tail_")}
    return replace(segments, end=end, **tails)


def test_games_come_back_as_the_segments_they_were(whole, spec, tmp_path):
    found = read_lessons(write_data(tmp_path / "games", games_of(whole, spec)), spec)
    for name in (*STEPS, "end", "length"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), err_msg=name)
    assert found.tail_lane.tolist() == [5]
    np.testing.assert_array_equal(found.tail_observation[0], whole.observation[5, -1, 0], "its own: the next is gone")


def test_long_episodes_are_cut_and_continue_from_the_next_observation(whole, spec, tmp_path, monkeypatch):
    monkeypatch.setattr(lessons_module, "TICKS", 2)
    found = read_lessons(write_data(tmp_path / "games", games_of(whole, spec)), spec)
    assert found.length.tolist() == [2, 2, 1] * 6
    assert found.end[:, :, 0].tolist()[:3] == [[CONTINUES, CUT], [CONTINUES, CUT], [TERMINATED, CONTINUES]]
    np.testing.assert_array_equal(found.tail_observation[0], whole.observation[0, 2, 0])
    np.testing.assert_array_equal(found.tail_mask[1], whole.mask[0, 4, 0])
    assert found.decisions == whole.decisions


def test_agents_of_a_seat_decide_together_and_seats_apart(tmp_path):
    seats = (Seat((0, 2), "team"), Seat((1,), "lone"))
    spec = EnvSpec("toy", ("a", "b", "c"), seats, Array((1,), "float32"), 2)
    agent = np.array([0, 1, 2, 1, 2, 0, 2], np.int16)  # ticks of the team: a and c, c alone, a and c
    games = games_of(_one_lane(len(agent)), EnvSpec("toy", ("a",), (Seat((0,)),), spec.observation, 2))
    last = np.array([False, False, False, True, False, True, True])
    games = replace(games, card=msgspec.structs.replace(games.card, spec=spec), agent=agent, last=last)
    found = read_lessons(write_data(tmp_path / "games", games), spec)
    assert found.present.tolist() == [
        [[True, True], [False, True], [True, True]],
        [[True, False], [True, False], [False, False]],
    ]
    assert found.observation[0, :, :, 0].tolist() == [[0, 2], [0, 4], [5, 6]]
    assert found.observation[1, :2, 0, 0].tolist() == [1, 3]


def _one_lane(ticks):
    """Return segments of one lane whose observations count its ticks."""
    shape = (1, ticks, 1)
    none = np.zeros(0, np.int32)
    return lessons_module.Segments(
        player="hero", incarnation=0, observation=np.arange(ticks, dtype=np.float32).reshape(1, ticks, 1, 1),
        mask=np.ones((*shape, 2), bool), action=np.zeros(shape, np.int32), log_prob=np.zeros(shape, np.float32),
        reward=np.zeros(shape, np.float32), end=np.zeros(shape, np.uint8), present=np.ones(shape, bool),
        length=np.array([ticks], np.int32), version=none[:1], tail_lane=none, tail_tick=none, tail_agent=none,
        tail_observation=np.zeros((0, 1), np.float32), tail_mask=np.zeros((0, 2), bool),
    )  # fmt: skip


def test_only_the_players_that_match_are_imitated(whole, spec, tmp_path):
    folder = write_data(tmp_path / "games", games_of(whole, spec, ("main.1", "main.2", "random")))
    found = read_lessons(folder, spec, ["main.*"])
    np.testing.assert_array_equal(found.action, whole.action[[0, 1, 3, 4]])
    with pytest.raises(LessonsError, match=r"no decision there is of nobody; players are main\.1, main\.2, random"):
        read_lessons(folder, spec, ["nobody"])
    with pytest.raises(LessonsError, match=r"no decision there is of main;.*main\.\* stands for all that main froze"):
        read_lessons(folder, spec, ["main"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"actions": 5}, "actions 4 in the data, 5 here; heads 4 in the data, 5 here"),
        ({"observation": Array((3,), "int8")}, r"observation float32 \(4,\) in the data, int8 \(3,\) here"),
        (
            {"agents": ("a", "b"), "seats": (Seat((0, 1)),)},
            r"agents a in .* seats player\[0\] in .*, player\[0, 1\] here",
        ),
        ({"seats": (Seat((0,), "white"),)}, r"seats player\[0\] in the data, white\[0\] here"),
    ],
)
def test_data_of_another_environment_is_refused_with_the_difference(whole, spec, tmp_path, changes, said):
    folder = write_data(tmp_path / "games", games_of(whole, spec))
    with pytest.raises(LessonsError, match=said) as caught:
        read_lessons(folder, msgspec.structs.replace(spec, **changes))
    assert "\n" not in str(caught.value)


def test_actions_that_nobody_can_take_are_refused(whole, spec, tmp_path):
    games = games_of(whole, spec)
    unknown, forbidden = games.action.copy(), games.mask.copy()
    unknown[3] = 9
    forbidden[3, games.action[3]] = False
    for spoilt in (replace(games, action=unknown), replace(games, mask=forbidden)):
        with pytest.raises(LessonsError, match="its own masks do not allow"):
            read_lessons(write_data(tmp_path / "games", spoilt), spec)


def test_data_without_a_decision_are_refused(whole, spec, tmp_path):
    games = games_of(whole, spec)
    nothing = replace(games, **{name: getattr(games, name)[:0] for name in ARRAYS})
    with pytest.raises(LessonsError, match=r"there is no decision in it\. Write games with"):
        read_lessons(write_data(tmp_path / "games", nothing), spec, ["main"])


def test_samples_are_whole_lanes_of_all_parts_with_their_tails(whole, play, fresh):
    found = Lessons(capacity=1000)
    found.add(whole)
    found.add(play(fresh, lanes=4, ticks=4, seed=1))
    assert (found.decisions, found.newest.decisions) == (46, 16)
    sample = found.sample(46, np.random.default_rng(0))
    assert sample.decisions == 46
    assert len(sample.tail_lane) == 5
    assert (sample.end[sample.tail_lane, sample.tail_tick, sample.tail_agent] == CUT).all()
    few = found.sample(10, np.random.default_rng(0))
    assert 10 <= few.decisions < 15


def test_the_oldest_lessons_are_forgotten(whole, play, fresh):
    found = Lessons(capacity=40)
    for seed in range(5):
        found.add(play(fresh, lanes=4, ticks=4, seed=seed))
    assert found.decisions == 32
    found.add(whole)
    assert found.decisions == 30, "a part that is larger than what is left drives out all others"


def test_a_share_is_held_out_and_ranks_divide_the_rest(whole):
    learned, test = divided(whole, 0.34)
    assert (len(learned.length), len(test.length)) == (4, 2)
    assert divided(whole, 0.0) == (whole, None)
    halves = [share_of(whole, rank, 2) for rank in range(2)]
    np.testing.assert_array_equal(halves[1].action, pick(whole, np.array([1, 3, 5])).action)
    assert len(halves[0].tail_lane) == 0
    assert halves[1].tail_lane.tolist() == [2]
    with pytest.raises(LessonsError, match="6 lanes are too few for 8 ranks"):
        share_of(whole, 7, 8)
