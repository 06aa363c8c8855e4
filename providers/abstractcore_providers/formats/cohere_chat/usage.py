"""Token counts and billing data of a reply."""

from __future__ import annotations

from abstractcore.schema import Usage

from ...common.reading import Object, count_of, object_of
from ...common.response_bodies import BillingTable, UsageTable, merged

USAGE = UsageTable({"input": "tokens.input_tokens", "output": "tokens.output_tokens", "cached": "cached_tokens"})
"""For writing: Cohere sends counts as floats, which `usage_to_ours` reads."""
BILLING = BillingTable(
    counts={
        "billed_input": "usage.billed_units.input_tokens",
        "billed_output": "usage.billed_units.output_tokens",
        "search_unit": "usage.billed_units.search_units",
    },
    others=(f"usage.{name}" for name in USAGE.names),
)
"""https://docs.cohere.com/reference/chat: `usage.billed_units` are what is billed, instead of `usage.tokens`."""


def usage_to_ours(data: Object) -> Usage:
    """Returns the usage of a reply with these fields; None for what is not reported. Counts are floats here."""
    usage = object_of(data, "usage")
    tokens = object_of(usage, "tokens")
    return Usage(
        input=_whole(tokens, "input_tokens"),
        output=_whole(tokens, "output_tokens"),
        cached=_whole(usage, "cached_tokens"),
        billing=BILLING.read(data),
    )


def _whole(data: Object, key: str) -> int | None:
    count = data.get(key)
    return int(count) if isinstance(count, float) and count.is_integer() else count_of(data, key)


def usage_to_theirs(usage: Usage) -> Object:
    """Returns the fields of a reply with token counts and billing data; empty if nothing was reported."""
    counts = USAGE.write(usage)
    return merged({"usage": counts} if counts else {}, BILLING.write(usage.billing))
