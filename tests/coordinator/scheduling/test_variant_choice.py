"""Which variant of the environment a ticket plays."""

from collections import Counter

import msgspec
import numpy as np
import pytest

from coordinator.scheduling.variant_choice import FLOOR, variant_chances
from league.ids import PlayerId
from league.ticket import Entry, Purpose, Ticket
from league.variant_scores import count_variant
from league.variants import spin

VARIANTS = spin({"small": 3.0, "large": 1.0})


@pytest.fixture
def league(bench, config, env):
    def make(weighting=None, variants=VARIANTS):
        rules = config()
        rules.matchmaking.variant_weighting = weighting
        league = bench(config=rules, env=msgspec.structs.replace(env("player", "player"), variants=variants))
        league.write()
        return league

    return make


def test_tickets_have_variants_by_their_weights(league):
    tickets = league().play(400)
    found = Counter((ticket.purpose, ticket.variant.name) for ticket in tickets)
    small = sum(count for (_, name), count in found.items() if name == "small")
    assert small / 400 == pytest.approx(0.75, abs=0.07)
    assert found[Purpose.EVALUATE, "large"]


def test_without_variants_tickets_have_none_and_nothing_is_written(league):
    ticket = league(variants=()).play(1)[0]
    assert ticket.variant is msgspec.UNSET
    assert b"variant" not in msgspec.json.encode(ticket)


def test_training_goes_where_a_player_loses(league):
    table = league("hard")
    main, other = PlayerId("main"), PlayerId("exploiter")
    for name, ranks in (("small", (0, 1)), ("large", (1, 0))):
        count_variant(table.state.variants, name, [main, other], (0, 1), [ranks] * 100, 1.0)
    entries = (Entry(main), Entry(other))
    ticket = Ticket(number=1, purpose=Purpose.TRAIN, entries=entries, episodes=2, trains=(main,))
    won, lost = (100 + 2) / 104, 2 / 104  # four virtual games at a half
    hard = np.array([(1 - won) ** 2, (1 - lost) ** 2])
    wanted = np.array([v.share for v in VARIANTS]) * (FLOOR + (1 - FLOOR) * hard / hard.sum())
    assert variant_chances(table.state, ticket, VARIANTS) == pytest.approx((wanted / wanted.sum()).tolist())
    evaluation = msgspec.structs.replace(ticket, purpose=Purpose.EVALUATE, trains=())
    assert variant_chances(table.state, evaluation, VARIANTS) == pytest.approx([0.75, 0.25], abs=1e-4)


def test_every_variant_is_met_for_ever(league):
    table = league("hard")
    count_variant(table.state.variants, "large", ["main", "exploiter"], (0, 1), [(0, 1)] * 10_000, 1.0)
    ticket = Ticket(
        number=1, purpose=Purpose.TRAIN, entries=(Entry("main"), Entry("exploiter")), episodes=2, trains=("main",)
    )
    assert variant_chances(table.state, ticket, VARIANTS)[1] > FLOOR / 8


def test_self_play_goes_by_weights(league):
    ticket = Ticket(
        number=1, purpose=Purpose.TRAIN, entries=(Entry("main"), Entry("main")), episodes=2, trains=("main",)
    )
    assert variant_chances(league("hard").state, ticket, VARIANTS) == pytest.approx([0.75, 0.25], abs=1e-4)


def test_the_scores_of_variants_survive_a_crash(league):
    table = league("hard")
    table.play(60)
    before = table.state.variants
    assert before
    table.crash()
    assert table.state.variants == before
