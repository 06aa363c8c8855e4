"""Values and field names of the format and their counterparts in the schema.

Token counts and billing data of a reply. Differences between servers and models of this format, as data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from abstractcore.schema import (
    METERS,
    Billing,
    CallWarning,
    FinishReason,
    HostedToolKind,
    Modality,
    Sampling,
    ThinkingLevel,
    Usage,
)

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, count_of, object_of, objects_of, text_of, texts_of
from ...common.response_bodies import BillingTable, FinishReasons, merge

_FINISH_REASONS = FinishReasons(
    {
        "STOP": "stop",
        "MAX_TOKENS": "length",
        "CONTINUATION": "paused",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "LANGUAGE": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "ESCALATION": "content_filter",
        "PUP_LIMITED_DISABLED": "content_filter",
        "TOO_MANY_TOOL_CALLS": "length",
        **dict.fromkeys(
            (
                "MALFORMED_RESPONSE",
                "MALFORMED_FUNCTION_CALL",
                "UNEXPECTED_TOOL_CALL",
                "MISSING_THOUGHT_SIGNATURE",
                "NO_IMAGE",
                "IMAGE_OTHER",
            ),
            "error",
        ),
        "OTHER": "unknown",
    },
    {
        "stop": "STOP",
        "tool_calls": "STOP",
        "refusal": "STOP",
        "length": "MAX_TOKENS",
        "content_filter": "SAFETY",
        "paused": "CONTINUATION",
        "error": "MALFORMED_RESPONSE",
        "unknown": "OTHER",
    },
)
"""`FinishReason` in the types of the `google-genai` package 3.4."""
WARNINGS = FormatWarnings("the generateContent format")
ARGUMENTS = "args"
"""The field for the arguments of a call, whose original text is kept."""
SAMPLING = FieldTable(
    Sampling,
    {
        "maxOutputTokens": "max_output_tokens",
        "temperature": "temperature",
        "topP": "top_p",
        "topK": "top_k",
        "seed": "seed",
        "presencePenalty": "presence_penalty",
        "frequencyPenalty": "frequency_penalty",
        "stopSequences": "stop",
    },
    path="generationConfig.",
    elsewhere={"top_logprobs": "generationConfig.logprobs"},
)
LEVELS: dict[str, ThinkingLevel] = {
    "MINIMAL": "minimal",
    "LOW": "low",
    "MEDIUM": "medium",
    "HIGH": "high",
    "XHIGH": "xhigh",
}
"""The members of google-genai's `ThinkingLevel`."""
MODALITIES: dict[str, Modality] = {"TEXT": "text", "IMAGE": "image", "AUDIO": "audio"}
HOSTED_TOOLS: dict[HostedToolKind, str] = {
    "web_search": "googleSearch",
    "code_interpreter": "codeExecution",
    "file_search": "fileSearch",
    "computer_use": "computerUse",
}
SERVER_SIDE_TOOLS = frozenset({"googleSearch", "urlContext", "fileSearch", "codeExecution"})
"""Hosted tools whose calls and results are parts of a reply, if the request asks for them."""
SERVER_SIDE_CALLS = "includeServerSideToolInvocations"
"""The field of `toolConfig` that asks for them."""
_CANDIDATE_FIELDS = frozenset({"content", "finishReason", "index", "groundingMetadata"})
_CANDIDATE_METADATA = frozenset(
    {
        "avgLogprobs",
        "citationMetadata",
        "continuationToken",
        "finishMessage",
        "groundingAttributions",
        "logprobsResult",
        "safetyRatings",
        "tokenCount",
        "urlContextMetadata",
    }
)
_REPLY_FIELDS = frozenset({"candidates", "modelVersion", "responseId", "error"})
UNSIGNED = "skip_thought_signature_validator"
"""Replaces the signature of a call without one, such as another model's (the page "Thought signatures")."""

_CAPITAL = re.compile("[A-Z]")
_SPELT_OUT = (
    "systemInstruction generationConfig toolConfig cachedContent safetySettings maxOutputTokens topP topK "
    "stopSequences presencePenalty frequencyPenalty responseLogprobs responseMimeType responseSchema "
    "responseJsonSchema responseModalities thinkingConfig thinkingBudget thinkingLevel includeThoughts candidateCount "
    "speechConfig mediaResolution imageConfig functionDeclarations parametersJsonSchema functionCallingConfig "
    "retrievalConfig allowedFunctionNames googleSearch codeExecution fileSearch computerUse urlContext googleMaps "
    "inlineData fileData mimeType fileUri displayName functionCall functionResponse executableCode "
    "codeExecutionResult toolCall toolResponse toolType thoughtSignature videoMetadata audioTranscription startOffset "
    "endOffset includeServerSideToolInvocations continuationToken"
)
_FROM_SNAKE_CASE = {_CAPITAL.sub(lambda found: f"_{found[0].lower()}", name): name for name in _SPELT_OUT.split()}


def named(name: str) -> str:
    """Returns a field's name in camel case, for one in snake case, which the API accepts, too."""
    return _FROM_SNAKE_CASE.get(name, name)


def with_names(data: Object) -> Object:
    """Returns the fields of one object under their names in camel case."""
    if not any("_" in name for name in data):
        return data
    return {named(name): value for name, value in data.items()}


def finish_reason_to_ours(raw: str | None, calls_tools: bool) -> FinishReason:
    """Returns our finish reason; that of an unknown value depends on tool calls, for which the format has no value."""
    reason = _FINISH_REASONS.read(raw, calls=calls_tools)
    return "tool_calls" if reason == "stop" and calls_tools else reason


def finish_reason_to_theirs(reason: FinishReason) -> str:
    """Returns the format's finish reason; it has none for a refusal."""
    return _FINISH_REASONS.to_theirs[reason]


def metadata_to_ours(data: Object, candidate: Object, billing: BillingTable) -> Object:
    """Returns the fields of a reply that the schema does not model, with those of the candidate."""
    metadata = billing.rest({name: value for name, value in data.items() if name not in _REPLY_FIELDS})
    metadata |= {
        name: value for name, value in candidate.items() if name not in _CANDIDATE_FIELDS and value is not None
    }
    return metadata


def metadata_group(name: str, value: Any, billing: BillingTable) -> str | None:
    """Returns the object that has this metadata: "candidate" or "reply"; None for a name used otherwise."""
    if name in _CANDIDATE_METADATA:
        return "candidate"
    if name in _REPLY_FIELDS or name in _CANDIDATE_FIELDS or not billing.is_rest(name, value):
        return None
    return "reply"


def block_reason(data: Object) -> str | None:
    """Returns why the prompt was blocked, if it was."""
    return text_of(object_of(data, "promptFeedback"), "blockReason")


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
    return merge({"usageMetadata": written} if written else {}, table.write(usage.billing))


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


RESULT_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses"."""


@dataclass(frozen=True, slots=True)
class GenerateContentDialect:
    """One vendor's variant of the format, for one model.

    `provider` is the key of `provider_options`. Files of the types `media_in_results` are inside a tool's result, which
    models since Gemini 3 accept; others are next to it, in the same message. With `signed_calls`, a turn's first tool
    call must have a signature, as those models require. With `count_wrapped`, tokens are counted for a request that is
    wrapped in a field, as in the Gemini API.

    Where model names are below a `publisher`, as on Vertex AI, it is the one of names without a publisher. `parent` is
    the prefix of resource names, such as `projects/p/locations/l`. `billing` are the fields of a reply with its service
    tier.

    `hosted_with_functions` is whether hosted tools are allowed beside functions; with `server_side_calls`, such a
    request must ask for the calls of hosted tools. `explicit_cache` is whether the model has cached contents.
    """

    provider: str = "google"
    media_in_results: frozenset[str] = RESULT_TYPES
    signed_calls: bool = False
    count_wrapped: bool = True
    publisher: str = ""
    parent: str = ""
    billing: BillingTable = GEMINI_API
    hosted_with_functions: bool = True
    server_side_calls: bool = False
    explicit_cache: bool = True
