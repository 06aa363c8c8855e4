"""`BackendPricing`: what calls of a backend cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from ..errors import ConfigurationError
from ..ports import BilledResponse, Charge, Pricing


@dataclass(frozen=True, slots=True)
class BackendPricing:
    """The prices of a backend: what it reports, else those of the catalogue for its model; a local one costs
    nothing.
    """

    backend_id: str
    is_local: bool
    pricing: Callable[[str], Pricing | None]

    def charge(self, response: BilledResponse) -> Charge:
        """Returns the cost of one call."""
        billing = response.usage.billing
        if billing is not None and billing.cost is not None:
            return Charge(billing.cost, "vendor")
        if self.is_local:
            return Charge(Decimal(0), "computed")
        try:
            prices = self.pricing(response.model) if "/" in response.model else None
        except ConfigurationError as error:
            return Charge(reason=error.message)
        if prices is None:
            of = f"{response.model} of " if response.model else ""
            return Charge(reason=f"no price is known for {of}the backend {self.backend_id}")
        return prices.charge(response._replace(model=response.model.partition("/")[2]))
