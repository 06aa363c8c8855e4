"""Token counts and billing data of a reply.

The counts of a reply do not include those of compaction, by the model of the request, and of advisors, other models
(`BetaUsage.iterations` in anthropic 2.12; https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool).
They are separate usage. All iterations stay in the metadata too, and are rendered from there.
"""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import Billing, SeparateUsage, Usage

from ...common.reading import Object, object_of, objects_of, text_of
from ...common.response_bodies import BillingTable, UsageTable, merged

USAGE = UsageTable(
    {
        "input": "input_tokens",
        "output": "output_tokens",
        "cached": "cache_read_input_tokens",
        "cache_written": "cache_creation_input_tokens",
        "reasoning": "output_tokens_details.thinking_tokens",
    },
    cache_apart=True,
)
BILLING = BillingTable(
    tier="usage.service_tier",
    region="usage.inference_geo",
    counts={
        "cache_write_5m": "usage.cache_creation.ephemeral_5m_input_tokens",
        "cache_write_1h": "usage.cache_creation.ephemeral_1h_input_tokens",
        "web_search": "usage.server_tool_use.web_search_requests",
        "web_fetch": "usage.server_tool_use.web_fetch_requests",
    },
    others=(*(f"usage.{name}" for name in USAGE.names), "usage.speed"),
)
"""https://platform.claude.com/docs/en/api/messages: `usage`. In fast mode, `speed` is the tier."""
_FAST = "fast"
_SEPARATE = ("compaction", "advisor_message")


def usage_to_ours(data: Object) -> Usage:
    """Returns the usage of a reply with this usage object; None for what is not reported."""
    return USAGE.read(data, billing_to_ours(data))


def billing_to_ours(data: Object) -> Billing | None:
    """Returns the billing data in a usage object."""
    billing = BILLING.read({"usage": data})
    if data.get("speed") == _FAST:
        billing = replace(billing or Billing(), tier=_FAST)
    separate = [_separate(each) for each in objects_of(data, "iterations") if each.get("type") in _SEPARATE]
    return replace(billing or Billing(), separate=tuple(separate)) if separate else billing


def _separate(iteration: Object) -> SeparateUsage:
    usage = USAGE.read(iteration)
    billing = BILLING.read({"usage": iteration})
    return SeparateUsage(
        text_of(iteration, "model"),
        usage.input,
        usage.output,
        usage.cached,
        usage.cache_written,
        {} if billing is None else billing.counts,
    )


def usage_to_theirs(usage: Usage, rest: Object) -> Object:
    """Returns the format's usage object with the `rest` of its fields; input and output are null if not reported.

    Cached tokens outside the input count are omitted.
    """
    if not _fits(usage):
        usage = replace(usage, cached=None, cache_written=None)
    billing, speed = usage.billing, {}
    if billing is not None and billing.tier == _FAST:
        billing, speed = replace(billing, tier=None), {"speed": _FAST}
    billed = object_of(BILLING.write(billing), "usage") | speed
    return merged({"input_tokens": None, "output_tokens": None, **USAGE.write(usage)}, merged(rest, billed))


def counts_left_out(usage: Usage) -> tuple[str, ...]:
    """Returns the names of the counts that `usage_to_theirs` omits."""
    return USAGE.missing if _fits(usage) else (*USAGE.missing, "cached", "cache_written")


def _fits(usage: Usage) -> bool:
    return usage.input is None or usage.input >= (usage.cached or 0) + (usage.cache_written or 0)
