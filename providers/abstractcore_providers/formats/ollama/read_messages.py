"""Reads a client's messages (server side). What the schema cannot express is reported in a warning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
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

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments
from ...common.data_urls import read_base64
from ...common.reading import Object, error_at, get_list, get_object, get_text, has_content, message_left_out, text_of
from .images import image_of
from .vocabulary import ARGUMENTS, CALL_FIELDS, MESSAGE_FIELDS, PROVIDER


def read_messages(
    values: Iterable[Any], written: WrittenArguments, origin: str | None, warnings: list[CallWarning]
) -> tuple[Message, ...]:
    """Returns the conversation with the model `origin`; an empty message is omitted.

    Raises `InvalidInputError` with the path of what is wrong, such as a result without its call.
    """
    messages: list[Message] = []
    waiting: list[ToolCall] = []
    for index, value in enumerate(values):
        path = f"messages[{index}]"
        data = get_object(value, path)
        role = get_text(data.get("role"), f"{path}.role").lower()
        if role not in MESSAGE_FIELDS:
            raise InvalidInputError(f"unknown role {data['role']!r}", path=f"{path}.role")
        try:
            if role == "tool":
                message = Message.tool(_result(data, path, waiting))
            else:
                calls = _calls(data, path, index, written) if role == "assistant" else ()
                message = _message(cast(Role, role), data, path, origin, calls)
        except SchemaError as error:
            raise error_at(path, error) from None
        if message is None:
            warnings.append(message_left_out(path))
            continue
        messages.append(message)
        if message.role == "assistant":
            waiting = list(message.tool_calls)
    return tuple(messages)


def _message(role: Role, data: Object, path: str, origin: str | None, calls: Iterable[Part]) -> Message | None:
    parts = _content_parts(data, path)
    if role == "assistant":
        *images, text = parts
        parts = (ReasoningPart(text_of(data, "thinking") or "", origin=origin), text, *calls, *images)
    kept = [part for part in parts if has_content(part)]
    return Message(role, tuple(kept), read_options(data, MESSAGE_FIELDS[role], PROVIDER)) if kept else None


def _result(data: Object, path: str, waiting: list[ToolCall]) -> ToolResult:
    call = _called(data, path, waiting)
    options = read_options(data, MESSAGE_FIELDS["tool"], PROVIDER)
    return ToolResult(call.id, _content_parts(data, path), provider_options=options)


def _content_parts(data: Object, path: str) -> tuple[ImagePart | TextPart, ...]:
    """Reads the images and the text, which may be empty."""
    return (*(image_of(content) for content in _images(data, path)), TextPart(_content(data, path)))


def _content(data: Object, path: str) -> str:
    content = data.get("content")
    return "" if content is None else get_text(content, f"{path}.content")


def _images(data: Object, path: str) -> list[bytes]:
    values = [(value, f"{path}.images[{i}]") for i, value in enumerate(get_list(data, "images", f"{path}."))]
    return [read_base64(value, image_path) for value, image_path in values]


def _calls(data: Object, path: str, turn: int, written: WrittenArguments) -> tuple[Part, ...]:
    calls: list[Part] = []
    taken: set[str] = set()
    for index, value in enumerate(get_list(data, "tool_calls", f"{path}.")):
        function_path = f"{path}.tool_calls[{index}].function"
        call = get_object(value, f"{path}.tool_calls[{index}]")
        function = get_object(call.get("function"), function_path)
        id = text_of(call, "id") or f"call_{turn}_{index}"
        if id in taken:
            raise InvalidInputError("two tool calls have one id", path=f"{path}.tool_calls[{index}].id")
        taken.add(id)
        arguments = function.get(ARGUMENTS)
        given = {} if arguments is None else get_object(arguments, f"{function_path}.arguments")
        freeze_object(given, f"tool_calls[{index}].function.arguments")
        text = "{}" if arguments is None else written.text_of(given)
        options = read_options(call, CALL_FIELDS, PROVIDER)
        calls.append(
            ToolCall(id, get_text(function.get("name"), f"{function_path}.name"), text, provider_options=options)
        )
    return tuple(calls)


def _called(data: Object, path: str, waiting: list[ToolCall]) -> ToolCall:
    """Returns the call that a result belongs to: by its id, else the first of its name without a result."""
    id, name = text_of(data, "tool_call_id"), text_of(data, "tool_name")
    for call in waiting:
        if (call.id == id) if id else (name is None or call.name == name):
            waiting.remove(call)
            return call
    field_name = "tool_call_id" if id else "tool_name"
    raise InvalidInputError("the previous assistant turn has no such tool call", path=f"{path}.{field_name}")
