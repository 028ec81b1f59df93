"""Returns beside ratings: by role, from the events of a league to standings, payoff and the fold's checkpoint."""

import msgspec
import pytest
from hunting import HUNT, MEAN_OF_TIGER_A, SKILL, folded, founding, hunt_events, match

from league.appraisal import appraise
from league.events import CandidateWritten, LeagueFounded, PlayerAdded, ResultCounted, TicketIssued, decode, encode
from league.ids import PlayerId
from league.player import Player
from league.role_returns import role_returns
from league.spec import Array, EnvSpec, Seat
from league.standings import payoff_table, standings
from league.state import apply
from league.store.fold import decode_fold, encode_fold
from league.ticket import Entry, Episode, Purpose, Ticket

DUEL = EnvSpec("duel", ("a", "b"), (Seat((0,)), Seat((1,))), Array((1,), "float32"), actions=2)
TRIO = EnvSpec(
    "trio",
    ("f", "g", "h"),
    (Seat((0,), "fox"), Seat((1,), "hound"), Seat((2,), "hound")),
    Array((1,), "float32"),
    actions=2,
)


def founded(env, names, payoff="return", returns=True):
    return folded(founding(env, names, payoff, returns))


def play(state, entries, *returns):
    """Play a ticket of evaluation: an episode for each list of returns of the entries."""
    for event in match(state.tickets + 1, entries, *returns):
        apply(state, event)


def hunted(payoff="return"):
    return folded(hunt_events(payoff))


def test_players_are_compared_within_their_role_against_the_same_opposition():
    state = hunted()
    found = role_returns(state.population, state.evaluation)
    over = {(name, role): one.over.mean for name, roles in found.items() for role, one in roles.items()}
    assert over == pytest.approx(
        {
            ("tiger_a", "tiger"): 2.0,
            ("tiger_b", "tiger"): -1.0,
            ("random", "tiger"): 0.0,
            ("deer_a", "deer"): 3.0,
            ("deer_b", "deer"): -2.0,
            ("random", "deer"): 0.0,
        },
        abs=1e-9,
    )
    tiger = found["tiger_a"]["tiger"]
    assert tiger.mean.mean == pytest.approx(MEAN_OF_TIGER_A)
    assert tiger.mean.low < tiger.mean.mean < tiger.mean.high
    assert tiger.over.low < 2.0 < tiger.over.high
    assert tiger.mean.games == 120


def test_ratings_do_not_rate_the_seat():
    state = hunted()
    rows = standings(state.population, state.evaluation)
    assert [row.player for row in rows] == ["tiger_a", "tiger_b", "deer_a", "deer_b", "random"], "role by role"
    assert [row.place for row in rows] == [1, 2, 3, 4, 5]
    assert {row.player: row.rating for row in rows} == pytest.approx(SKILL, abs=1e-6)
    assert rows[0].returns["tiger"].over.mean == pytest.approx(2.0)


def test_by_outcome_the_role_is_a_covariate_as_well():
    """The tiger always wins: no player of a role is above another, and nobody is 400 above random for its seat."""
    state = hunted("outcome")
    ratings = {row.player: row.rating for row in standings(state.population, state.evaluation)}
    assert abs(ratings["tiger_a"] - ratings["tiger_b"]) < 1
    assert max(map(abs, ratings.values())) < 250
    assert appraise(state.population, state.evaluation).fit.seat.value > 500


def test_a_general_sum_game_of_one_role_has_one_table_for_both_seats():
    state = founded(DUEL, ["random", "x_a", "x_b"], "outcome")
    play(state, ("x_a", "random"), (5.0, 1.0), (5.0, 1.0))
    play(state, ("x_b", "random"), (3.0, 3.0), (4.0, 3.0))
    play(state, ("x_a", "x_b"), (4.0, 2.0), (4.0, 4.0))
    found = role_returns(state.population, state.evaluation)
    assert {name: list(roles) for name, roles in found.items()} == {
        "random": ["player"],
        "x_a": ["player"],
        "x_b": ["player"],
    }
    assert found["x_a"]["player"].mean.mean == pytest.approx(4.5)
    table = payoff_table([PlayerId("x_a"), PlayerId("random")], state.evaluation)
    assert table.cells[0][1].returned.mean == 5.0
    assert table.cells[1][0].returned.mean == 1.0


def test_more_than_two_sides_compare_who_is_bound_to_a_role():
    names = ["random", "fox_a", "fox_b", "hound_a"]
    state = founded(TRIO, names)
    for fox, value in (("fox_a", 9.0), ("fox_b", 5.0)):
        play(state, (fox, "hound_a", "random"), *[(value, 1.0, 0.0)] * 4)
    found = role_returns(state.population, state.evaluation)
    assert found["fox_a"]["fox"].over.mean == pytest.approx(2.0)
    assert found["fox_b"]["fox"].over.mean == pytest.approx(-2.0)
    assert "random" not in found


def test_returns_are_kept_only_if_the_first_event_says_so():
    plain = LeagueFounded(seed=1, config="c", env=DUEL)
    assert b"returns" not in encode(plain).replace(b'"returns":null', b""), "leagues without look as before"
    assert decode(encode(plain)) == plain
    kept = LeagueFounded(seed=1, config="c", env=DUEL, returns=True)
    assert decode(encode(kept)).returns is True
    state = founded(DUEL, ["random", "x_a"], "outcome", returns=msgspec.UNSET)
    play(state, ("x_a", "random"), (5.0, 1.0))
    assert role_returns(state.population, state.evaluation) == {}
    row = msgspec.to_builtins(standings(state.population, state.evaluation)[0])
    assert "returns" not in row
    cell = payoff_table([PlayerId("x_a"), PlayerId("random")], state.evaluation).cells[0][1]
    assert "returned" not in msgspec.to_builtins(cell)


def test_a_checkpoint_has_them_and_a_new_candidate_starts_without():
    state = founded(HUNT, ["random"])
    main = Player(id="main_tiger", kind="main", role="tiger")
    apply(state, PlayerAdded(player=main))
    for version in (0, 1):
        written = CandidateWritten(
            player="main_tiger", incarnation=0, version=version, snapshot=f"s{version}", decisions=version
        )
        apply(state, written)
        seats = (Entry("main_tiger", f"s{version}"), Entry("random", bot="x"))
        ticket = Ticket(number=version + 1, purpose=Purpose.EVALUATE, entries=seats, episodes=1)
        apply(state, TicketIssued(ticket=ticket))
        episode = Episode((0, 1), (10.0 + version, 1.0), 3)
        apply(state, ResultCounted(ticket=ticket.number, attempt=0, episodes=(episode,)))
    assert role_returns(state.population, state.evaluation)["main_tiger"]["tiger"].mean.mean == 11.0
    again, *_ = decode_fold(encode_fold(state, 9), state.config)
    assert again.keeps_returns
    assert again.evaluation.kinds == ("tiger", "deer")
    assert role_returns(again.population, again.evaluation) == role_returns(state.population, state.evaluation)
