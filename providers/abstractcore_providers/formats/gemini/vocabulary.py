"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

import re
from typing import Any

from abstractcore.schema import FinishReason, HostedToolKind, Modality, Sampling, ThinkingLevel

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, object_of, text_of
from ...common.response_bodies import BillingTable, FinishReasons

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
