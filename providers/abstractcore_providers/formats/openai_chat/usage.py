"""Token counts and billing data of a reply, and the tables of billing data by vendor."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import Billing, Usage

from ...common.reading import Object, count_of, object_of
from ...common.response_bodies import BillingTable, UsageTable, merged

USAGE = UsageTable(
    {
        "input": "prompt_tokens",
        "output": "completion_tokens",
        "total": "total_tokens",
        "cached": "prompt_tokens_details.cached_tokens",
        "cache_written": "prompt_tokens_details.cache_write_tokens",
        "input_audio": "prompt_tokens_details.audio_tokens",
        "reasoning": "completion_tokens_details.reasoning_tokens",
        "output_audio": "completion_tokens_details.audio_tokens",
    }
)
_CACHE_HITS = "prompt_cache_hit_tokens"
_TIER = "service_tier"
_OTHERS = tuple(f"usage.{name}" for name in (*USAGE.names, _CACHE_HITS))
_COUNTS = {"input_image": "usage.prompt_tokens_details.image_tokens"}

OPENAI = BillingTable(tier=_TIER, counts=_COUNTS, others=_OTHERS)
"""OpenAI (https://developers.openai.com/api/reference/resources/chat: `service_tier`, `usage`), and most others."""
MISTRAL = BillingTable(tier="usage.service_tier", counts={"audio_second": "usage.prompt_audio_seconds"}, others=_OTHERS)
"""Mistral (`UsageInfo` in mistralai 3.7)."""
OPENROUTER = BillingTable(
    tier=_TIER,
    cost="usage.cost",
    own_key="usage.is_byok",
    upstream="usage.cost_details.upstream_inference_cost",
    counts={
        "input_video": "usage.prompt_tokens_details.video_tokens",
        "web_search": "usage.server_tool_use_details.web_search_requests",
    },
    others=_OTHERS,
)
"""OpenRouter (https://openrouter.ai/docs/use-cases/usage-accounting: `cost` is what was charged to the account, for a
key of the user's own only the fee).
"""
PERPLEXITY = BillingTable(
    cost="usage.cost.total_cost",
    counts={"citation": "usage.citation_tokens", "web_search": "usage.num_search_queries"},
    others=_OTHERS,
)
"""Perplexity (`UsageInfo` in perplexityai 0.46)."""
XAI = BillingTable(
    tier=_TIER,
    ticks="usage.cost_in_usd_ticks",
    counts={
        **_COUNTS,
        "web_search": "usage.server_side_tool_usage_details.web_search_calls",
        "code_execution": "usage.server_side_tool_usage_details.code_interpreter_calls",
        "file_search": "usage.server_side_tool_usage_details.file_search_calls",
        "attachment_search": "usage.server_side_tool_usage_details.document_search_calls",
        "x_post": "usage.server_side_tool_usage_details.x_posts_fetched",
        "x_profile": "usage.server_side_tool_usage_details.x_users_fetched",
    },
    others=_OTHERS,
)
"""xAI (https://docs.x.ai/developers/cost-tracking: the exact cost of the request, with discounts and tools)."""


def usage_to_ours(data: Object, table: BillingTable) -> Usage:
    """Returns the usage of a reply with the fields `data`; None for what is not reported."""
    return token_counts(object_of(data, "usage"), table.read(data))


def token_counts(data: Object, billing: Billing | None = None) -> Usage:
    """Returns the token counts; None for those that are not reported. DeepSeek has another name for cached ones."""
    usage = USAGE.read(data, billing)
    if usage.reasoning:
        usage = replace(usage, output=_output_tokens(data, usage.reasoning))
    if usage.cached is None and _CACHE_HITS in data:
        usage = replace(usage, cached=count_of(data, _CACHE_HITS))
    return usage


def usage_to_theirs(usage: Usage, table: BillingTable, beside: Object) -> Object:
    """Returns the fields of a reply with token counts and billing data, in nested objects, for one with `beside`."""
    counts = USAGE.write(usage)
    return merged({"usage": counts} if counts else {}, table.write(usage.billing, beside))


def _output_tokens(data: Object, reasoning: int) -> int | None:
    """Returns all output tokens. xAI's count excludes reasoning, though the total includes it."""
    completion = count_of(data, "completion_tokens")
    if completion is None:
        return completion
    if count_of(data, "total_tokens") != (count_of(data, "prompt_tokens") or 0) + completion + reasoning:
        return completion
    return completion + reasoning
