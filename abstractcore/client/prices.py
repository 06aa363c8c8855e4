"""The prices of an LLM's model: the user's, the provider's, or those of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ..errors import InvalidInputError, SchemaError
from ..ports import Pricing, ProviderServices, ProviderSession


def pricing_of(price: object, session: ProviderSession, provider: str, services: ProviderServices) -> Pricing:
    """Returns the pricing of a session's model; `price` is the user's: a `Price`, or a price row.

    Raises `InvalidInputError` with the path of an invalid value, and `ConfigurationError` for an invalid catalogue.
    """
    given = session.price if price is None else price
    if given is None:
        return services.catalogue.pricing(provider, session.model) or _without_prices(provider, session.model)
    return _given_prices(given, provider, session.model)


def _without_prices(provider: str, model: str) -> Pricing:
    from ..catalogue import ModelPricing

    return ModelPricing(provider, model, lambda name: ())


def _given_prices(given: object, provider: str, model: str) -> Pricing:
    from ..catalogue import ModelPricing, PriceHeader, read_price_rows
    from ..catalogue.price_values import with_text_for_dates
    from ..ports import Price

    row = {"rates": given.rates()} if isinstance(given, Price) else given
    if not isinstance(row, Mapping):
        raise InvalidInputError(
            f"expected a Price, got {type(given).__name__}",
            path="price",
            hint="For example: Price(input=2, output=10).",
        )
    try:
        rows = read_price_rows([with_text_for_dates(cast(object, row), "prices[0]")], PriceHeader(), provider, model)
    except SchemaError as error:
        path = f"price{error.path.removeprefix('prices[0]')}"
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None
    return ModelPricing(provider, model, lambda name: rows)
