"""Tokens and cost of a call with all its attempts."""

from __future__ import annotations

from ..ports import CallContext, MeteredStream, Price
from ..schema import Usage

_MILLION = 1_000_000


def usage_and_cost(context: CallContext, price: Price | None) -> tuple[Usage, float | None]:
    """Returns the tokens of the model and of file conversions, and US dollars for those of the model.

    The cost is 0 where a middleware answered without a request, whatever `usage` its reply reports.
    """
    usages = [*context.usages, *(stream.usage for stream in context.streams if isinstance(stream, MeteredStream))]
    usage = sum(usages[1:], usages[0]) if usages else Usage()
    dollars = cost(usage, price) if context.attempts else 0.0
    return sum((each.usage for each in context.decisions if each.usage is not None), usage), dollars


def cost(usage: Usage, price: Price | None) -> float | None:
    """Returns US dollars for `usage`; None where price or counts are unknown. Cached tokens have their own price."""
    if price is None:
        return None
    if price.input == price.output == 0.0:
        return 0.0
    if usage.input is None or usage.output is None:
        return None
    cached, written = usage.cached or 0, usage.cache_written or 0
    dollars = (usage.input - cached - written) * price.input + usage.output * price.output
    dollars += cached * (price.input if price.cached is None else price.cached)
    dollars += written * (price.input if price.cache_written is None else price.cache_written)
    return dollars / _MILLION
