"""`DeferredPricing`: prices that are read when a cost is first computed, which most programs never ask for."""

from __future__ import annotations

from collections.abc import Callable

from ..ports import BilledResponse, Charge, Pricing


class DeferredPricing:
    """The pricing that `make` returns, called at the first charge. `make` must not raise."""

    def __init__(self, make: Callable[[], Pricing]) -> None:
        self._make = make
        self._pricing: Pricing | None = None

    def charge(self, response: BilledResponse) -> Charge:
        """Returns the cost of one response."""
        if self._pricing is None:
            self._pricing = self._make()
        return self._pricing.charge(response)
