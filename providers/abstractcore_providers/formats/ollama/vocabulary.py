"""Values and field names of the format and their counterparts in the schema.

Images, which the format has as base64 without their media type.
"""

from __future__ import annotations

import base64
from typing import Any

from abstractcore.schema import Blob, CallWarning, FinishReason, ImagePart, Sampling, ThinkingLevel

from ...common.call_options import FieldTable, FormatWarnings
from ...common.data_urls import OLLAMA_IMAGES, content_of
from ...common.reading import Object
from ...common.response_bodies import FinishReasons, UsageTable

PROVIDER = "ollama"
ARGUMENTS = "arguments"
"""The field for the arguments of a call, whose original text is kept."""
SAMPLING = FieldTable(
    Sampling,
    {
        "num_predict": "max_output_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "seed": "seed",
        "stop": "stop",
        "presence_penalty": "presence_penalty",
        "frequency_penalty": "frequency_penalty",
    },
    path="options.",
    elsewhere={"top_logprobs": "top_logprobs"},
)
"""The names under `options`."""

USAGE = UsageTable({"input": "prompt_eval_count", "output": "eval_count"})
WARNINGS = FormatWarnings("Ollama's format")
_FINISH_REASONS = FinishReasons({"length": "length", "stop": "stop"}, {})
THINKING: dict[ThinkingLevel, bool | str] = {"off": False, "low": "low", "medium": True, "high": "high", "max": "max"}
"""The server's values (ollama/ollama, api/types.go, `ThinkValue`). True is the middle level for models with levels, and
turns thinking on for others."""
LEVELS: tuple[ThinkingLevel, ...] = tuple(level for level in THINKING if level != "off")

UNTOUCHED = {"truncate": False, "shift": False}
"""Defaults of requests: the server rejects what does not fit, instead of truncating it."""

_THINKING_TO_OURS: dict[Any, ThinkingLevel] = {**{word: level for level, word in THINKING.items()}, "medium": "medium"}
_FIELDS = frozenset({"role", "content", "images"})
MESSAGE_FIELDS: dict[str, frozenset[str]] = {
    "system": _FIELDS,
    "user": _FIELDS,
    "assistant": _FIELDS | {"thinking", "tool_calls"},
    "tool": _FIELDS | {"tool_name", "tool_call_id"},
}
"""By role, the fields of a message that the schema models."""
CALL_FIELDS = frozenset({"id", "type", "function"})
"""The same for a tool call."""
_REQUEST_FIELDS = frozenset({"model", "messages", "tools", "stream", "logprobs", "top_logprobs"})
_REPLY_FIELDS = frozenset({"model", "message", "done", "done_reason", "error", "code", *USAGE.names})


def has_field(name: str, value: Any) -> bool:
    """Whether a `ModelCall` has a field for `name: value` in a request."""
    if name == "think":
        return thinking_to_ours(value) is not None
    if name == "format":
        return isinstance(value, dict) or value == ""
    return name in _REQUEST_FIELDS


def has_option(name: str, value: Any) -> bool:
    """As `has_field`, for `options`. A limit below 1 is special to the server: no limit, or the context size."""
    if name == "num_predict":
        return not isinstance(value, int) or value >= 1
    return name in SAMPLING.names


def thinking_to_ours(think: Any) -> ThinkingLevel | None:
    """Returns our level; None for an unknown value."""
    return _THINKING_TO_OURS.get(think) if isinstance(think, bool | str) else None


def finish_reason_to_ours(raw: str | None, *, calls: bool) -> FinishReason:
    """Returns our finish reason. The format has none for tool calls: a reply that stops with calls has that reason."""
    if raw in ("stop", None) and calls:
        return "tool_calls"
    return _FINISH_REASONS.read(raw, calls=calls)


def finish_reason_to_theirs(reason: FinishReason, *, calls: bool) -> str | None:
    """Returns the format's finish reason; None for an unknown one."""
    if reason == "unknown" and not calls:
        return None
    return "length" if reason == "length" else "stop"


def metadata_to_ours(data: Object) -> Object:
    """Returns the fields of a reply that the schema does not model: durations, the time, log probabilities."""
    return {name: value for name, value in data.items() if name not in _REPLY_FIELDS and value is not None}


def metadata_to_theirs(metadata: Object, warnings: list[CallWarning]) -> Object:
    """Returns the extra fields of a reply."""
    warnings += map(WARNINGS.metadata_field, _REPLY_FIELDS & metadata.keys())
    return metadata_to_ours(metadata)


ENCODABLE = OLLAMA_IMAGES
"""The files that the format supports."""
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
UNKNOWN_TYPE = "image/*"


def image_of(data: bytes) -> ImagePart:
    """Reads an image, whose media type is detected from its first bytes."""
    return ImagePart(Blob.from_bytes(data, _type_of(data)))


def is_at_hand(part: ImagePart) -> bool:
    """Whether the image's content can be sent."""
    return part.blob.form in ("bytes", "file")


def write_image(part: ImagePart, path: str, warnings: list[CallWarning]) -> str:
    """Returns the image as base64; raises `UnsupportedContentError` with its path if its bytes are not available."""
    data = content_of(part.blob, path)
    requested, detected = part.blob.media_type, _type_of(data)
    if requested != detected:
        message = f"the format has no media type: {requested} is read as {detected}"
        warnings.append(CallWarning("relabelled", f"{path}.blob.media_type", message, requested, detected))
    if part.detail is not None:
        message = "the image's detail has no field in this format"
        warnings.append(CallWarning("detail_left_out", f"{path}.detail", message, part.detail))
    return base64.b64encode(data).decode("ascii")


def _type_of(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for start, media_type in _SIGNATURES if data.startswith(start)), UNKNOWN_TYPE)
