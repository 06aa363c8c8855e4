"""Token counts and billing data of a reply."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import EMPTY, METERS, Billing, CallWarning, Usage

from ...common.reading import Object, count_of, object_of, objects_of, text_of
from ...common.response_bodies import BillingTable, UsageTable, merged
from .vocabulary import WARNINGS

USAGE = UsageTable(
    {
        "input": "inputTokens",
        "output": "outputTokens",
        "total": "totalTokens",
        "cached": "cacheReadInputTokens",
        "cache_written": "cacheWriteInputTokens",
    },
    cache_apart=True,
)
BILLING = BillingTable(
    tier="serviceTier.type", others=(*(f"usage.{name}" for name in USAGE.names), "usage.cacheDetails")
)
"""`ConverseResponse` and `TokenUsage`
(https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
"""
_WRITTEN = "cache_write_"
_METERS = {meter.removeprefix(_WRITTEN): meter for meter in METERS if meter.startswith(_WRITTEN)}
"""The meters of tokens written to a cache, by the TTL in `cacheDetails`."""


def usage_to_ours(data: Object) -> Usage:
    """Returns the usage of a reply with these fields; None for what is not reported."""
    return USAGE.read(object_of(data, "usage"), billing_to_ours(data))


def billing_to_ours(data: Object) -> Billing | None:
    """Returns the billing data in the fields of a reply. Counts of one TTL, of several cache points, are added up."""
    billing = BILLING.read(data)
    counts: dict[str, int] = {}
    for detail in objects_of(object_of(data, "usage"), "cacheDetails"):
        meter, count = _METERS.get(text_of(detail, "ttl") or ""), count_of(detail, "inputTokens")
        if meter is not None and count is not None:
            counts[meter] = counts.get(meter, 0) + count
    return replace(billing or Billing(), counts=counts) if counts else billing


def usage_to_theirs(usage: Usage, warnings: list[CallWarning]) -> Object:
    """Returns the fields of a reply with token counts and billing data; empty if nothing was reported."""
    WARNINGS.counts(usage, USAGE.missing, warnings, "usage_left_out")
    kept = (usage.cached or 0) + (usage.cache_written or 0)
    if usage.input is not None and usage.input < kept:
        message = "cached and cache-written tokens are part of the input"
        warnings.append(CallWarning("usage_changed", "usage.input", message, usage.input, kept))
        usage = replace(usage, input=kept)
    counts = USAGE.write(usage)
    billed = EMPTY if usage.billing is None else usage.billing.counts
    details = [{"ttl": ttl, "inputTokens": billed[meter]} for ttl, meter in _METERS.items() if meter in billed]
    if details:
        counts["cacheDetails"] = details
    fields = merged({"usage": counts} if counts else {}, BILLING.write(usage.billing))
    WARNINGS.billing(usage.billing, billing_to_ours(fields), warnings)
    return fields
