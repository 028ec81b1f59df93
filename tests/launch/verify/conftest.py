"""A run whose old events are archived."""

import pytest

from league.store.ledger import Ledger


@pytest.fixture
def archived(drawn):
    """Return the run with most of its events in the archive."""
    with Ledger.open(drawn.ledger) as ledger:
        while ledger.live > 20:
            ledger.put_away(15)
        assert len(ledger.archive) > 5
    return drawn
