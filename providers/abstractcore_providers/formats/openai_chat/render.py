"""Renders a reply as a `chat.completion` object (server side)."""

from __future__ import annotations

import base64

from pydantic_core import to_json

from abstractcore.schema import (
    AudioPart,
    CallWarning,
    Citation,
    JSONObject,
    ModelReply,
    Part,
    ReasoningPart,
    Rendered,
    TextPart,
    ToolCall,
)

from ...common.call_options import name_options_left_out
from ...common.conversations import in_order
from ...common.reading import Object
from ...common.response_bodies import BillingTable, merge
from .content import REPLY_AUDIO_TYPE, write_call
from .decode import OPENING
from .dialect import ChatDialect
from .vocabulary import (
    FINISH_REASONS,
    PART_ORDER,
    REPLY_FIELDS,
    WARNINGS,
    citations_to_theirs,
    has_sources,
    usage_to_theirs,
)

_NO_OBJECT = "text has no object here"


def render(reply: ModelReply, dialect: ChatDialect) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    warnings: list[CallWarning] = []
    metadata, logprobs = metadata_to_theirs(reply.provider_metadata, dialect.billing, warnings)
    choice: Object = {
        "index": 0,
        "message": _message(reply, dialect.provider, warnings),
        "finish_reason": _finish_reason(reply, warnings),
        "logprobs": logprobs,
    }
    body: Object = {
        "id": reply.id or "",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or "",
        "choices": [choice],
        **metadata,
    }
    body = merge(body, usage_to_theirs(reply.usage, dialect.billing, metadata))
    WARNINGS.billing(reply.usage.billing, dialect.billing.read(body), warnings)
    return Rendered(to_json(body), tuple(warnings))


def metadata_to_theirs(
    metadata: JSONObject, billing: BillingTable, warnings: list[CallWarning]
) -> tuple[Object, object]:
    """Returns the extra fields of the reply, and the log probabilities, which belong to the choice."""
    logprobs = metadata.get("logprobs")
    if not isinstance(logprobs, dict):
        logprobs = None
    written = {name: value for name, value in metadata.items() if _is_metadata(name, value, billing)}
    written_fields = written if logprobs is None else {**written, "logprobs": logprobs}
    WARNINGS.metadata(metadata, written_fields, warnings)
    return written, logprobs


def _is_metadata(name: str, value: object, billing: BillingTable) -> bool:
    if name == "logprobs" or name in REPLY_FIELDS or (name == "created" and not _is_time(value)):
        return False
    return billing.is_rest(name, value)


def _is_time(value: object) -> bool:
    return type(value) is int and value != 0


def _finish_reason(reply: ModelReply, warnings: list[CallWarning]) -> str:
    theirs = FINISH_REASONS.to_theirs[reply.finish_reason]
    if not (reply.finish_reason == "refusal" and reply.text):
        read = FINISH_REASONS.read(theirs, calls=bool(reply.tool_calls))
        WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    return theirs


def _message(reply: ModelReply, provider: str, warnings: list[CallWarning]) -> Object:
    message: Object = {"role": "assistant", "content": None, "refusal": None}
    text, reasoning, annotations = "", "", list[Object]()
    kept = [item for item in enumerate(reply.parts) if _is_kept(*item, reply.parts, warnings)]
    for index, part in in_order(kept, PART_ORDER, "parts", warnings):
        part_path = f"parts[{index}]"
        if isinstance(part, TextPart):
            _warn_of_citations(part.citations, part_path, warnings)
            name_options_left_out(part, part_path, provider, _NO_OBJECT, warnings)
            annotations += citations_to_theirs(part.citations, len(text))
            text += part.text
        elif isinstance(part, ReasoningPart):
            WARNINGS.fields(part, part_path, ("signature", "redacted_data"), warnings)
            reasoning += part.text
        elif isinstance(part, ToolCall):
            WARNINGS.fields(part, part_path, ("signature",), warnings)
            call = write_call(part, part.arguments_text, part_path, provider, warnings)
            message.setdefault("tool_calls", []).append(call)
        elif isinstance(part, AudioPart):
            message["audio"] = audio_to_theirs(part)
            name_options_left_out(part, part_path, provider, "the format has no field for options of audio", warnings)
            if part.blob.media_type != REPLY_AUDIO_TYPE:
                warnings.append(_media_type_warning(part, part_path))
    if text:
        message["refusal" if reply.finish_reason == "refusal" else "content"] = text
    if reasoning:
        message["reasoning_content"] = reasoning
    elif text.lstrip().startswith(OPENING):
        message["reasoning_content"] = ""  # text that looks like reasoning is part of the answer
    if annotations or has_sources(reply.provider_metadata):
        message["annotations"] = annotations
    return message


def _is_kept(index: int, part: Part, parts: tuple[Part, ...], warnings: list[CallWarning]) -> bool:
    """Whether the format supports a part; warns if it does not. There can be only one audio part."""
    if isinstance(part, TextPart | ReasoningPart | ToolCall):
        return True
    first = next((other for other in parts if is_audible(other)), None)
    if part is first:
        return True
    warnings.append(WARNINGS.part(part, f"parts[{index}]"))
    return False


def is_audible(part: Part) -> bool:
    """Whether it is audio whose bytes are available."""
    return isinstance(part, AudioPart) and part.blob.form in ("bytes", "file")


def _media_type_warning(part: AudioPart, path: str) -> CallWarning:
    requested = part.blob.media_type
    message = f"the format has no media type: {requested} is read as {REPLY_AUDIO_TYPE}"
    return CallWarning("relabelled", f"{path}.blob.media_type", message, requested, REPLY_AUDIO_TYPE)


def _warn_of_citations(citations: tuple[Citation, ...], path: str, warnings: list[CallWarning]) -> None:
    for index, citation in enumerate(citations):
        WARNINGS.fields(citation, f"{path}.citations[{index}]", ("quote", "provider_metadata"), warnings)


def audio_to_theirs(part: AudioPart) -> Object:
    """Returns the format's audio object."""
    return {
        "id": part.id or "",
        "data": base64.b64encode(part.blob.read()).decode("ascii"),
        "transcript": part.transcript or "",
        "expires_at": 0,
    }
