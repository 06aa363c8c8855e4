"""Token counts and billing data of a response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstractcore.schema import Billing, Usage

from ...common.reading import Object, object_of
from ...common.response_bodies import BillingTable, UsageTable

USAGE = UsageTable(
    {
        "input": "input_tokens",
        "output": "output_tokens",
        "total": "total_tokens",
        "cached": "input_tokens_details.cached_tokens",
        "cache_written": "input_tokens_details.cache_write_tokens",
        "reasoning": "output_tokens_details.reasoning_tokens",
    }
)
BILLING = BillingTable(
    tier="service_tier",
    ticks="usage.cost_in_usd_ticks",
    counts={
        "cache_write_30m": "usage.input_tokens_details.cache_write_tokens_details.ttl_30m_tokens",
        "cache_write_12h": "usage.input_tokens_details.cache_write_tokens_details.ttl_12h_tokens",
        "web_search": "tool_usage.web_search.num_requests",
    },
    others=(f"usage.{name}" for name in USAGE.names),
)
"""OpenAI (https://developers.openai.com/api/reference/resources/responses); the cost is a field of xAI's server
(https://docs.x.ai/developers/cost-tracking).
"""
_FILE_SEARCH = "file_search_call"


def usage_to_ours(data: Object, items: Sequence[Object]) -> Usage:
    """Returns the usage of a response with these output items; None for what is not reported."""
    return USAGE.read(object_of(data, "usage"), billing_to_ours(data, items))


def billing_to_ours(data: Object, items: Sequence[Object]) -> Billing | None:
    """Returns the billing data of a response. Each search in files is billed, and has an output item."""
    billing = BILLING.read(data)
    searches = sum(item.get("type") == _FILE_SEARCH for item in items)
    if not searches:
        return billing
    billing = billing or Billing()
    return replace(billing, counts={**billing.counts, "file_search": searches})
