"""Messages as the format writes them, with a warning for everything it has no place for."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    CallWarning,
    Citation,
    Message,
    ModelCall,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    to_data,
)

from ..call_ids import CallIds
from ..json_reading import Object
from ..openai_words import origin_of
from .call_ids import call_ids
from .content import media_in_result, spoken_blob, write_part
from .dialect import Dialect
from .part_order import in_order


def write_messages(call: ModelCall, dialect: Dialect, warnings: list[CallWarning]) -> list[Object]:
    """The conversation of `call`; a message of which nothing is left is left out.

    Raises `UnsupportedContentError` for content without a shape here, or if no message is left.
    """
    written: list[Object] = []
    ids = call_ids(call.messages, dialect.call_id_size)
    origin = origin_of(dialect.provider, call.model) if dialect.reasoning_field is not None else None
    for turn, message in enumerate(call.messages):
        path = f"messages[{turn}].parts"
        if message.role == "tool":
            for index, part in enumerate(message.parts):
                written.append(_tool_result(part, f"{path}[{index}]", turn, ids, warnings))
        elif message.role == "assistant":
            body = _assistant(message, path, dialect, origin, warnings)
            for written_call in body.get("tool_calls", ()):
                written_call["id"] = ids.of_call(turn, written_call["id"])
            if len(body) > 1:
                written.append(body)
        else:
            content = _content(message, path, dialect, warnings)
            if content:
                written.append({"role": message.role, "content": content})
    if not written:
        raise UnsupportedContentError("the chat completions format has no place for any part of these messages.")
    return written


def _content(message: Message, path: str, dialect: Dialect, warnings: list[CallWarning]) -> Any:
    """The content of a user's or system message: one text as a string, anything else as a list."""
    content: list[Object] = []
    for index, part in enumerate(message.parts):
        place = f"{path}[{index}]"
        if isinstance(part, OpaquePart):
            warnings.append(_left_out(part, place))
            continue
        body = write_part(part, place, dialect.provider)
        _warn_of_extras(part, place, warnings)
        warn_of_cache(part, place, warnings)
        if body["type"] == "text" and content and content[-1]["type"] == "text":
            content[-1]["text"] += body["text"]
        else:
            content.append(body)
    return content[0]["text"] if len(content) == 1 and content[0]["type"] == "text" else content


def _left_out(part: Part, path: str) -> CallWarning:
    return CallWarning("part_left_out", path, f"the chat completions format has no place for {part.type} parts")


def _warn_of_extras(part: Part, path: str, warnings: list[CallWarning]) -> None:
    """What a part says beyond its content."""
    if isinstance(part, TextPart):
        warn_of_citations(part.citations, path, warnings)
    elif isinstance(part, AudioPart):
        warnings += [
            CallWarning(f"{name}_left_out", f"{path}.{name}", f"audio is sent without its {name}")
            for name in ("transcript", "id")
            if getattr(part, name) is not None
        ]


def warn_of_cache(item: Part | ToolSpec, path: str, warnings: list[CallWarning]) -> None:
    """The format cannot say how much is to be kept; its providers choose by themselves."""
    if getattr(item, "cache", None) is not None:
        warnings.append(CallWarning("cache_left_out", f"{path}.cache", "a cache point cannot be sent"))


def warn_of_citations(citations: tuple[Citation, ...], path: str, warnings: list[CallWarning]) -> None:
    """Citations are for replies only."""
    if citations:
        warnings.append(CallWarning("citations_left_out", f"{path}.citations", "citations cannot be sent back"))


def _assistant(
    message: Message, path: str, dialect: Dialect, origin: str | None, warnings: list[CallWarning]
) -> Object:
    kept: list[tuple[int, Part]] = []
    spoken = False
    for index, part in enumerate(message.parts):
        if isinstance(part, TextPart | ToolCall) or _goes_back(part, origin):
            kept.append((index, part))
        elif isinstance(part, AudioPart) and part.id is not None and not spoken:
            spoken = True
            kept.append((index, part))
        else:
            warnings.append(_left_out(part, f"{path}[{index}]"))
    body: Object = {"role": "assistant"}
    for index, part in in_order(kept, path, warnings):
        place = f"{path}[{index}]"
        warn_of_cache(part, place, warnings)
        if isinstance(part, TextPart):
            warn_of_citations(part.citations, place, warnings)
            body["content"] = body.get("content", "") + part.text
        elif isinstance(part, ReasoningPart) and dialect.reasoning_field is not None:
            _warn_of_secrets(part, place, warnings)
            body[dialect.reasoning_field] = body.get(dialect.reasoning_field, "") + part.text
        elif isinstance(part, AudioPart):
            body["audio"] = _spoken(part, place, dialect, warnings)
        elif isinstance(part, ToolCall):
            body.setdefault("tool_calls", []).append(_tool_call(part, place, warnings))
    return body


def _goes_back(part: Part, origin: str | None) -> bool:
    """Whether it is reasoning of the model `origin`, which is shown it again."""
    return isinstance(part, ReasoningPart) and bool(part.text) and origin is not None and part.origin == origin


def _warn_of_secrets(part: ReasoningPart, path: str, warnings: list[CallWarning]) -> None:
    for name in ("signature", "redacted_data"):
        if getattr(part, name) is not None:
            message = f"the chat completions format has no place for {name}"
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))


def _spoken(part: AudioPart, path: str, dialect: Dialect, warnings: list[CallWarning]) -> Object:
    """Earlier speech is named, not sent: the provider keeps it."""
    kept = spoken_blob(part.id or "", dialect.provider)
    if part.blob != kept:
        message = "the provider's own copy stands for this audio"
        warnings.append(CallWarning("sent_by_reference", f"{path}.blob", message, sent=to_data(kept)))
    if part.transcript is not None:
        warnings.append(CallWarning("transcript_left_out", f"{path}.transcript", "the provider has its own"))
    return {"id": part.id}


def _tool_call(call: ToolCall, path: str, warnings: list[CallWarning]) -> Object:
    if call.signature is not None:
        warnings.append(CallWarning("signature_left_out", f"{path}.signature", "signatures have no place here"))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_text}}


def _tool_result(part: Part, path: str, turn: int, ids: CallIds, warnings: list[CallWarning]) -> Object:
    assert isinstance(part, ToolResult)
    warn_of_cache(part, path, warnings)
    if part.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "a result cannot be marked as an error"))
    text = ""
    for index, content in enumerate(part.content):
        place = f"{path}.content[{index}]"
        if not isinstance(content, TextPart):
            raise media_in_result(content, part.call_id, place)
        warn_of_citations(content.citations, place, warnings)
        warn_of_cache(content, place, warnings)
        text += content.text
    return {"role": "tool", "tool_call_id": ids.of_result(turn, part.call_id), "content": text}
