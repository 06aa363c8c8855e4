"""Reads a client's messages (server side). What the schema cannot express is reported in a warning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from abstractcore.schema import AudioPart, Blob, CallWarning, Message, Part, ReasoningPart, Role, TextPart, ToolResult

from ...common.call_options import read_options
from ...common.data_urls import read_base64
from ...common.reading import (
    ErrorsAt,
    Object,
    as_object,
    get_list,
    get_object,
    get_role,
    get_text,
    has_content,
    read_each,
    text_of,
)
from .content import REPLY_AUDIO_TYPE, kept_audio
from .dialect import ChatDialect
from .read_content import read_content
from .reasoning_details import details_in, read_detail
from .reasoning_fields import signature_for, with_reasoning
from .tool_calls import read_call
from .vocabulary import AUDIO_FIELDS, citations_to_ours, message_fields, reasoning_of

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def read_messages(
    values: Iterable[Any], dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> tuple[Message, ...]:
    """Returns the conversation with the model `origin`; an empty message is omitted.

    Raises `InvalidInputError` with the path.
    """
    return read_each(values, lambda data, path: _message(data, path, dialect, origin, warnings), warnings)


def read_message(
    value: Any, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> Message | None:
    """Reads one message; None if it is empty. Raises `InvalidInputError` with the path."""
    with ErrorsAt(path):
        return _message(get_object(value, path), path, dialect, origin, warnings)


def _message(
    data: Object, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> Message | None:
    role = get_role(data, _ROLES, path)
    options = read_options(data, message_fields(role, dialect), dialect.provider)
    parts = read_content(data.get("content"), f"{path}.content", dialect, origin, warnings)
    if role == "tool":
        call_id = get_text(data.get("tool_call_id"), f"{path}.tool_call_id")
        return Message.tool(
            _with_its_cache(ToolResult(call_id, cast("tuple[TextPart, ...]", parts), provider_options=options))
        )
    if role == "assistant":
        parts = with_reasoning(parts, data, dialect, origin)
        audio, calls = _audio(data, path, dialect.provider), _calls(data, path, dialect.provider, warnings)
        parts = _reasoning(data, dialect, origin) + _cited(parts, data) + _refusal(data) + audio + calls
    kept = [part for part in parts if has_content(part)]
    return Message(role, tuple(kept), options) if kept else None


def _with_its_cache(result: ToolResult) -> ToolResult:
    """Returns the result with the cache point of its last part, which is its own."""
    last = result.content[-1] if result.content else None
    if last is None or last.cache is None:
        return result
    return replace(result, content=(*result.content[:-1], replace(last, cache=None)), cache=last.cache)


def _reasoning(data: Object, dialect: ChatDialect, origin: str | None) -> tuple[Part, ...]:
    details = details_in(data, dialect)
    if details:
        return tuple(read_detail(detail, origin) for detail in details)
    reasoning, field = reasoning_of(data)
    return (ReasoningPart(reasoning, signature_for(field, dialect), origin=origin),) if reasoning else ()


def _refusal(data: Object) -> tuple[Part, ...]:
    refusal = text_of(data, "refusal")
    return (TextPart(refusal),) if refusal else ()


def _cited(parts: tuple[Part, ...], data: Object) -> tuple[Part, ...]:
    """Returns the text with the citations that a reply has next to it, if the whole reply is sent back."""
    citations = citations_to_ours(data)
    if citations and len(parts) == 1 and isinstance(parts[0], TextPart):
        return (replace(parts[0], citations=citations),)
    return parts


def _audio(data: Object, path: str, provider: str) -> tuple[Part, ...]:
    """Reads audio of an earlier reply: its id, or the audio if the reply is sent back unchanged."""
    audio = as_object(data.get("audio"))
    id = text_of(audio, "id")
    if not id:
        return ()
    options = read_options(audio, AUDIO_FIELDS, provider)
    content = text_of(audio, "data")
    if content is None:
        return (AudioPart(kept_audio(id, provider), id=id, provider_options=options),)
    blob = Blob.from_bytes(read_base64(content, f"{path}.audio.data"), REPLY_AUDIO_TYPE)
    return (AudioPart(blob, text_of(audio, "transcript"), id, provider_options=options),)


def _calls(data: Object, path: str, provider: str, warnings: list[CallWarning]) -> tuple[Part, ...]:
    calls = enumerate(get_list(data, "tool_calls", f"{path}."))
    return tuple(read_call(call, f"{path}.tool_calls[{i}]", provider, warnings) for i, call in calls)
