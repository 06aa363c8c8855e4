"""`Price`: the price of a model of your own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal

from ..errors import InvalidInputError
from ..schema import SchemaError
from ..schema.json_values import check_decimal


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
