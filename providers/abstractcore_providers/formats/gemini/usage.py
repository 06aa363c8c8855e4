"""Token counts and billing data of a reply."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import METERS, Billing, CallWarning, Usage

from ...common.reading import Object, count_of, objects_of, text_of, texts_of
from ...common.response_bodies import BillingTable, merged
from .vocabulary import WARNINGS

_COUNTS = (
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
    "promptTokensDetails",
    "candidatesTokensDetails",
    "cacheTokensDetails",
    "toolUsePromptTokensDetails",
)
_OTHERS = tuple(f"usageMetadata.{name}" for name in _COUNTS)
GEMINI_API = BillingTable(tier="usageMetadata.serviceTier", others=_OTHERS)
"""https://ai.google.dev/api/generate-content#UsageMetadata; the header `x-gemini-service-tier` has the same value."""
VERTEX = BillingTable(tier="usageMetadata.trafficType", others=_OTHERS)
"""https://cloud.google.com/vertex-ai/docs/reference/rest/v1/GenerateContentResponse#UsageMetadata."""
_PROMPT, _TOOL_USE, _ANSWER = "promptTokensDetails", "toolUsePromptTokensDetails", "candidatesTokensDetails"
_METERS = {
    _PROMPT: "input_",
    _TOOL_USE: "input_",
    _ANSWER: "output_",
    "cacheTokensDetails": "cache_read_",
}
"""The beginnings of the meters of each list of tokens by modality."""


def usage_to_ours(data: Object, billing: Billing | None = None) -> Usage:
    """Returns the token counts in a usage object, with `billing`; None for those that are not reported."""
    thoughts = count_of(data, "thoughtsTokenCount")
    return Usage(
        input=_sum(count_of(data, "promptTokenCount"), count_of(data, "toolUsePromptTokenCount")),
        output=_sum(count_of(data, "candidatesTokenCount"), thoughts),
        cached=count_of(data, "cachedContentTokenCount"),
        reasoning=thoughts,
        input_audio=_audio(data, _PROMPT, _TOOL_USE),
        output_audio=_audio(data, _ANSWER),
        billing=billing,
    )


def billing_to_ours(data: Object, grounding: Object, table: BillingTable) -> Billing | None:
    """Returns the billing data in a usage object and in grounding metadata.

    Each search query is billed once, except for empty ones; of maps, a grounded prompt is
    (https://ai.google.dev/gemini-api/docs/google-search, https://ai.google.dev/gemini-api/docs/maps-grounding).
    """
    counts: dict[str, int] = {}
    for name, beginning in _METERS.items():
        for entry in objects_of(data, name) if name in data else ():
            meter = beginning + (text_of(entry, "modality") or "").lower()
            count = count_of(entry, "tokenCount") if meter in METERS else None
            if count is not None:
                counts[meter] = counts.get(meter, 0) + count
    searches = {query for query in texts_of(grounding, "webSearchQueries") if query}
    counts |= {"web_search": len(searches)} if searches else {}
    if any(isinstance(chunk.get("maps"), dict) for chunk in objects_of(grounding, "groundingChunks")):
        counts["maps_search"] = 1
    billing = table.read({"usageMetadata": data})
    return replace(billing or Billing(), counts=counts) if counts else billing


def usage_to_theirs(usage: Usage, table: BillingTable, warnings: list[CallWarning]) -> Object:
    """Returns the fields of a reply with token counts and billing data; empty if nothing was reported."""
    reasoning = usage.reasoning
    if reasoning is not None and (usage.output is None or usage.output < reasoning):
        message = "reasoning tokens are part of the output tokens, which are fewer"
        warnings.append(CallWarning("count_left_out", "usage.reasoning", message, reasoning))
        reasoning = None
    WARNINGS.counts(usage, ("cache_written",), warnings)
    counts: Object = {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": None if usage.output is None else usage.output - (reasoning or 0),
        "thoughtsTokenCount": reasoning,
        "totalTokenCount": usage.total,
        **_modalities(usage),
    }
    written = {name: count for name, count in counts.items() if count is not None}
    return merged({"usageMetadata": written} if written else {}, table.write(usage.billing))


def _modalities(usage: Usage) -> Object:
    """Returns the lists of tokens by modality."""
    counts: dict[str, int | None] = {"input_audio": usage.input_audio, "output_audio": usage.output_audio}
    if usage.billing is not None:
        counts |= usage.billing.counts
    lists: Object = {}
    for name, beginning in _METERS.items():
        for modality in ("AUDIO", "IMAGE", "VIDEO"):
            count = counts.get(beginning + modality.lower())
            if count is not None and name != _TOOL_USE:
                lists.setdefault(name, []).append({"modality": modality, "tokenCount": count})
    return lists


def _sum(left: int | None, right: int | None) -> int | None:
    return left if right is None else (left or 0) + right


def _audio(data: Object, *names: str) -> int | None:
    """Returns the tokens of audio in lists by modality, added up."""
    total: int | None = None
    for name in names:
        if name in data:
            for entry in objects_of(data, name):
                if entry.get("modality") == "AUDIO":
                    total = _sum(total, count_of(entry, "tokenCount"))
    return total
