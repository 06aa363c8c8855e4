"""`Pricing`: what a response costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple, Protocol

from .. import schema
from ..schema import CostSource, Usage


class Terms(NamedTuple):
    """What a request asks for that changes its price; None for the default.

    `tier` is a service tier, in the vendor's word: the response may report another one, which counts. `region` is where
    the endpoint is, or where the request is to be processed. `window` is a kind of processing that responses do not
    report: "batch", or a completion window such as "background_2h".
    """

    tier: str | None = None
    region: str | None = None
    window: str | None = None


NO_TERMS = Terms()


class BilledResponse(NamedTuple):
    """One response of a provider, as far as its price depends on it.

    `model` is the one that the response names, if any, `requested_at` the time at which its attempt began, in seconds
    since the epoch. `complete` is False for a stream that was not read to its end: its usage may be too low.
    """

    usage: Usage
    model: str = ""
    requested_at: float = 0.0
    terms: Terms = NO_TERMS
    complete: bool = True

    @classmethod
    def of_stream(cls, deltas: Sequence[schema.Delta], requested_at: float, terms: Terms) -> BilledResponse:
        """Returns the response that a stream has yielded so far."""
        from ..schema import ReplyEnd, ReplyStart, usage_so_far

        start = next((delta for delta in deltas if isinstance(delta, ReplyStart)), None)
        ended = any(isinstance(delta, ReplyEnd) for delta in reversed(deltas))
        model = (start.model if start is not None else None) or ""
        return cls(usage_so_far(deltas), model, requested_at, terms, ended)

    def charged_apart(self) -> Iterator[BilledResponse]:
        """Returns this response, and then what it reports of tokens that are not among its counts: each has the prices
        of its own model, and of its own size. A reported cost is that of all.
        """
        yield self
        billing = self.usage.billing
        if billing is None or billing.cost is not None:
            return
        for each in billing.separate:
            own = replace(billing, counts=each.counts, separate=())
            usage = Usage(each.input, each.output, each.cached, each.cache_written, billing=own)
            yield self._replace(usage=usage, model=each.model or self.model)


class Charge(NamedTuple):
    """The cost of one response: US dollars and their source, or None and the reason.

    `price_row` is the digest of the price row that applied, with the indexes of the conditions in it that held, as in
    "3f2ab1c09d8e7f60:0,3".
    """

    dollars: Decimal | None = None
    source: CostSource | None = None
    reason: str | None = None
    price_row: str | None = None


class Pricing(Protocol):
    """The prices of a model, at one provider."""

    def charge(self, response: BilledResponse) -> Charge:
        """Returns the cost of one response. Never raises: an unknown cost is a charge with a reason."""
        ...
