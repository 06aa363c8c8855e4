"""What a call cost: exact where all is known, and not told where something is not."""

from __future__ import annotations

import pytest

from abstractcore import Usage
from abstractcore.engine.results import cost
from abstractcore.ports import Price

PLAIN = Price(input=2.0, output=10.0)
FINE = Price(input=2.0, output=10.0, cached=0.5, cache_written=2.5)
USAGE = Usage(input=1_000_000, output=100_000, cached=400_000, cache_written=200_000)


@pytest.mark.parametrize(
    ("usage", "price", "dollars"),
    [
        (Usage(input=1_000_000, output=100_000), PLAIN, 2.0 + 1.0),
        (USAGE, PLAIN, 2.0 + 1.0),
        (USAGE, FINE, 0.4 * 2.0 + 0.4 * 0.5 + 0.2 * 2.5 + 1.0),
        (Usage(input=0, output=0), PLAIN, 0.0),
        (Usage(input=1), PLAIN, None),
        (Usage(output=1), PLAIN, None),
        (Usage(), Price(0.0, 0.0), 0.0),
        (USAGE, None, None),
    ],
)
def test_cached_tokens_have_their_own_price_and_what_is_not_known_costs_none(usage, price, dollars):
    assert cost(usage, price) == (None if dollars is None else pytest.approx(dollars))
