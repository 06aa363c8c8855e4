"""Reads the items of `messages=[...]`: messages, responses, tool results, mappings in OpenAI's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from ..errors import InvalidInputError
from ..ports import MessageReader
from ..schema import GenerateResponse, Message, ModelReply, Part, Role, SchemaError, TextPart, ToolResult
from ..schema.base_error import shown
from ..schema.json_values import MAX_DEPTH, check_key, check_number
from ..schema.parts import ALL_PARTS


@runtime_checkable
class Dumpable(Protocol):
    """A pydantic model, such as the message objects of OpenAI's package."""

    def model_dump(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        ...


MessageInput: TypeAlias = Message | GenerateResponse[Any] | ModelReply | ToolResult | Mapping[str, Any] | Dumpable
"""A message; a response, for the assistant's turn with the tools that were run in it; a tool result
(`call.result("sunny")`); or a message in the format of OpenAI's Chat Completions, as a mapping or an object of OpenAI's
package: `{"role": "user", "content": "text"}`."""

_TEXT_ROLES = ("system", "user", "assistant")
_EXPECTED = "expected a Message, a response, a tool result or a mapping"
_MIXED = "Write all parts of a message in OpenAI's format, or all as parts of AbstractCore."
_HINT = "For example: {'role': 'user', 'content': 'text'}, Message.user('text'), a response, call.result('text')."


def read_messages(messages: object, reader: Callable[[], MessageReader], model: str) -> tuple[Message, ...]:
    """Returns the conversation. `reader` returns the reader of mappings with more than a role and a text, for `model`.

    Raises `InvalidInputError` with the path of an invalid item.
    """
    if not isinstance(messages, list | tuple):
        raise InvalidInputError(
            f"expected a list, got {type(messages).__name__}", path="messages", hint=_list_hint(messages)
        )
    items, once = cast("Sequence[object]", messages), cache(reader)
    return tuple(
        message for index, item in enumerate(items) for message in _messages(item, f"messages[{index}]", once, model)
    )


def _list_hint(messages: object) -> str | None:
    if isinstance(messages, Message | GenerateResponse | ModelReply | ToolResult | Mapping):
        return "Pass a list: messages=[...]."
    if isinstance(messages, str):
        return "Pass it as the prompt, generate('text'), or as messages=[Message.user('text')]."
    return None


def _messages(item: object, path: str, reader: Callable[[], MessageReader], model: str) -> tuple[Message, ...]:
    """Returns the messages of an item: those of all rounds for a response of a tool loop, otherwise one."""
    if isinstance(item, GenerateResponse):
        response = cast("GenerateResponse[Any]", item)
        return response.messages if response.tool_steps else (_reply_message(response.reply, path),)
    return (_message(item, path, reader, model),)


def _message(item: object, path: str, reader: Callable[[], MessageReader], model: str) -> Message:
    if isinstance(item, Message):
        return item
    if type(item) is dict:
        return _mapping_message(cast("Mapping[str, object]", item), path, reader, model)
    if isinstance(item, ToolResult):
        return Message.tool(item)
    if isinstance(item, ModelReply):
        return _reply_message(item, path)
    if not isinstance(item, type):
        if isinstance(item, Mapping):
            return _mapping_message(cast("Mapping[str, object]", item), path, reader, model)
        if isinstance(item, Dumpable):
            return _mapping_message(_dumped_fields(item, path), path, reader, model)
    raise InvalidInputError(f"{_EXPECTED}, got {shown(item)}", path=path, hint=_HINT)


def _reply_message(reply: ModelReply, path: str) -> Message:
    message = reply.message()
    if message is None:
        raise InvalidInputError(
            f"the answer is empty (it ended with {reply.finish_reason!r}): there is no message", path=path
        )
    return message


def _mapping_message(item: Mapping[str, object], path: str, reader: Callable[[], MessageReader], model: str) -> Message:
    role, content = item.get("role"), item.get("content")
    if isinstance(role, str) and role in _TEXT_ROLES and len(item) == 2 and _is_ours(content):
        try:
            return Message(cast(Role, role), _parts(content))
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.at(path).path, hint=error.hint) from None
    if "role" not in item:
        raise InvalidInputError(f"{_EXPECTED} with a role, got {shown(item)}", path=path, hint=_HINT)
    try:
        data = _plain_data(item, path)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.path, hint=error.hint) from None
    message, warnings = reader().read_message(data, path, model)
    for warning in warnings:
        raise InvalidInputError(warning.message, path=warning.path, hint="Leave it out.")
    if message is None:
        problem = f"the {role} message is empty: add text, a file or tool calls"
        raise InvalidInputError(problem, path=path, hint=_elsewhere(item))
    return message


def _elsewhere(item: Mapping[str, object]) -> str | None:
    """Returns a hint for fields of a message without content."""
    others = [name for name in item if name not in ("role", "content", "name") and item[name] is not None]
    return (
        f"Unknown fields: {shown(others)}. Put text into `content`, tool calls into `tool_calls`." if others else None
    )


def _is_ours(content: object) -> bool:
    """Returns whether content is text, or texts and parts of the schema, which need no reader."""
    if isinstance(content, str):
        return True
    if not isinstance(content, list | tuple):
        return False
    items = cast("Sequence[object]", content)
    return bool(items) and all(isinstance(item, (str, *ALL_PARTS)) for item in items)


def _parts(content: Any) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(TextPart(item) if isinstance(item, str) else item for item in content)


def _plain_data(value: object, path: str, depth: int = 0) -> object:
    """Returns a copy with dicts, lists, and the data of objects of OpenAI's package.

    Raises `SchemaError` with the path of a value that JSON cannot represent.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return check_number(value, path)
    if depth > MAX_DEPTH:
        raise SchemaError(f"nested deeper than {MAX_DEPTH} levels (or refers to itself)", path)
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {check_key(name, path): _plain_data(item, f"{path}.{name}", depth + 1) for name, item in entries}
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        return [_plain_data(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items)]
    if isinstance(value, ALL_PARTS):
        raise SchemaError(f"expected a content part in OpenAI's format, got {type(value).__name__}", path, hint=_MIXED)
    if isinstance(value, Dumpable) and not isinstance(value, type):
        return _plain_data(_dumped_fields(value, path), path, depth + 1)
    raise SchemaError(f"expected JSON data, got {type(value).__name__}", path)


def _dumped_fields(item: Dumpable, path: str) -> Mapping[str, object]:
    try:
        data: object = item.model_dump()
    except Exception as error:
        raise InvalidInputError(f"{type(item).__name__}.model_dump() failed: {error}", path=path) from error
    if not isinstance(data, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(
            f"{type(item).__name__}.model_dump() returned a {type(data).__name__}, expected a mapping", path=path
        )
    return cast("Mapping[str, object]", data)
