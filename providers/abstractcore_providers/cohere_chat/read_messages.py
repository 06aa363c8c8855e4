"""Messages as a client writes them, read (server side). What has no place in ours is named in a warning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    Role,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
    freeze_object,
)

from ..data_urls import read_url
from ..json_reading import Object
from ..reading import get_list, get_object, get_text, name_the_rest
from .citations import citation_to_ours, citations_of
from .write_messages import JSON_DOCUMENT

_FIELDS = frozenset({"role", "content"})
_FIELDS_OF: dict[str, frozenset[str]] = {
    "system": _FIELDS,
    "user": _FIELDS,
    "assistant": _FIELDS | {"tool_plan", "tool_calls", "citations"},
    "tool": _FIELDS | {"tool_call_id"},
}


def read_messages(values: Iterable[Any], origin: str | None, warnings: list[CallWarning]) -> tuple[Message, ...]:
    """The conversation with the model `origin`; a message that says nothing is left out.

    Raises `InvalidInputError` with the path of what is wrong.
    """
    messages: list[Message] = []
    for index, value in enumerate(values):
        path = f"messages[{index}]"
        data = get_object(value, path)
        role = get_text(data.get("role"), f"{path}.role")
        if role not in _FIELDS_OF:
            raise InvalidInputError(f"unknown role {role!r}", path=f"{path}.role")
        name_the_rest(data, _FIELDS_OF[role], path, warnings)
        try:
            message = _message(cast(Role, role), data, path, origin)
        except SchemaError as error:
            raise InvalidInputError(error.message, path=f"{path}.{error.path}" if error.path else path) from None
        if message is None:
            warnings.append(CallWarning("message_left_out", path, "the message is empty"))
        else:
            messages.append(message)
    return tuple(messages)


def _message(role: Role, data: Object, path: str, origin: str | None) -> Message | None:
    plan, cited = citations_of(data) if role == "assistant" else ([], {})
    parts = _content(data.get("content"), f"{path}.content", origin, cited)
    if role == "tool":
        call_id = get_text(data.get("tool_call_id"), f"{path}.tool_call_id")
        return Message.tool(ToolResult(call_id, cast("tuple[ContentPart, ...]", tuple(parts))))
    if role == "assistant":
        if data.get("tool_plan") is not None:
            parts.append(_cited(get_text(data["tool_plan"], f"{path}.tool_plan"), plan))
        parts += _calls(data, path)
    said = [part for part in parts if not isinstance(part, TextPart | ReasoningPart) or part.text]
    return Message(role, tuple(said)) if said else None


def _content(content: Any, path: str, origin: str | None, cited: dict[int, list[Object]]) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [_cited(content, cited.get(0, []))]
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of parts, got {type(content).__name__}", path=path)
    blocks = enumerate(cast("list[Any]", content))
    return [_block(get_object(block, f"{path}[{i}]"), f"{path}[{i}]", origin, cited.get(i, [])) for i, block in blocks]


def _block(data: Object, path: str, origin: str | None, cited: list[Object]) -> Part:
    kind = data.get("type")
    if kind == "text":
        return _cited(get_text(data.get("text"), f"{path}.text"), cited)
    if kind == "thinking":
        return ReasoningPart(get_text(data.get("thinking"), f"{path}.thinking"), origin=origin)
    if kind == "image_url":
        image = get_object(data.get("image_url"), f"{path}.image_url")
        place = f"{path}.image_url.url"
        return ImagePart(read_url(get_text(image.get("url"), place), "image/*", place), image.get("detail"))
    if kind == "document":
        document = freeze_object(get_object(data.get("document"), f"{path}.document"), "content.document")
        return DocumentPart(Blob.from_bytes(to_json(document), JSON_DOCUMENT))
    raise InvalidInputError(f"unknown content part {kind!r}", path=f"{path}.type")


def _cited(text: str, citations: list[Object]) -> TextPart:
    return TextPart(text, tuple(citation_to_ours(citation) for citation in citations))


def _calls(data: Object, path: str) -> list[Part]:
    calls: list[Part] = []
    for index, value in enumerate(get_list(data, "tool_calls", f"{path}.")):
        place = f"{path}.tool_calls[{index}]"
        call = get_object(value, place)
        function = get_object(call.get("function"), f"{place}.function")
        arguments = function.get("arguments")
        calls.append(
            ToolCall(
                get_text(call.get("id"), f"{place}.id"),
                get_text(function.get("name"), f"{place}.function.name"),
                "" if arguments is None else get_text(arguments, f"{place}.function.arguments"),
            )
        )
    return calls
