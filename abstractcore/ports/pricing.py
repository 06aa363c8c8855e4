"""`Pricing`: what a response costs.

`Price`: the price of a model of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import NamedTuple, Protocol

from .. import schema
from ..errors import InvalidInputError
from ..schema import CostSource, SchemaError, Usage
from ..schema.json_values import check_decimal


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
    since the epoch. `complete` is False for a stream that was not read to its end: its usage may be too low. `attempt`
    is the number of its attempt, if that is known. `estimate` returns about what was used, for a response that has not
    reported all of it. `pricing` has the prices of its model, if that is not the one that the call began with.
    """

    usage: Usage
    model: str = ""
    requested_at: float = 0.0
    terms: Terms = NO_TERMS
    complete: bool = True
    attempt: int = 0
    estimate: Callable[[], Usage] | None = None
    pricing: Pricing | None = None

    @classmethod
    def of_stream(cls, deltas: Sequence[schema.Delta], requested_at: float, terms: Terms) -> BilledResponse:
        """Returns the response that a stream has yielded so far."""
        from ..schema import ReplyEnd, ReplyStart, usage_so_far

        start = next((delta for delta in deltas if isinstance(delta, ReplyStart)), None)
        ended = any(isinstance(delta, ReplyEnd) for delta in reversed(deltas))
        model = (start.model if start is not None else None) or ""
        return cls(usage_so_far(deltas), model, requested_at, terms, ended)


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


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of a model in US dollars per million tokens, for `create_llm(price=Price(input=2, output=10))`.

    `cached` and `cache_written` are for input tokens that are read from and written to a cache; None for a kind of
    tokens without a price of its own. A float is taken as it is printed: 0.1 is exactly 0.1. Raises `InvalidInputError`
    for a price that is not a number of at least 0.
    """

    input: Decimal | float | str
    output: Decimal | float | str
    cached: Decimal | float | str | None = None
    cache_written: Decimal | float | str | None = None
    input_audio: Decimal | float | str | None = None
    output_audio: Decimal | float | str | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            given = getattr(self, each.name)
            if given is not None:
                object.__setattr__(self, each.name, as_price(given, f"price.{each.name}"))
            elif each.name in ("input", "output"):
                raise InvalidInputError("expected a number, got None", path=f"price.{each.name}")

    def rates(self) -> dict[str, str]:
        """Returns the prices by the names that price rows have for them."""
        given = {meter: getattr(self, name) for name, meter in _METERS.items()}
        return {meter: f"{price:f}" for meter, price in given.items() if price is not None}


_METERS = {
    "input": "input",
    "output": "output",
    "cached": "cache_read",
    "cache_written": "cache_write",
    "input_audio": "input_audio",
    "output_audio": "output_audio",
}
_LONGEST = 100


def as_price(given: object, path: str) -> Decimal:
    """Returns a price as an exact number; raises `InvalidInputError` unless it is a number of at least 0."""
    if isinstance(given, bool) or not isinstance(given, Decimal | int | float | str):
        raise InvalidInputError(f"expected a number, got {type(given).__name__}", path=path)
    if isinstance(given, str) and (len(given) > _LONGEST or not given.isascii() or "_" in given):
        raise InvalidInputError("expected a number such as '0.25'", path=path)
    try:
        return check_decimal(given if isinstance(given, Decimal) else Decimal(str(given)), path)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None
    except (ArithmeticError, ValueError):
        raise InvalidInputError("expected a number such as '0.25'", path=path) from None
