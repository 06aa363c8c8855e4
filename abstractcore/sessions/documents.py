"""Sessions as JSON: what `save` writes and `load` reads, and messages whose files are elsewhere."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias, cast

from ..errors import SessionError
from ..schema import (
    MEDIA_PARTS,
    TOKEN_COUNTS,
    Blob,
    HostedToolResult,
    Message,
    Part,
    SchemaError,
    TextPart,
    ToolResult,
    Usage,
    from_data,
    to_data,
)
from ..schema.base_error import shown, shown_file_name
from .history import ContextGroup, SessionExchange, SessionHistory

FORMAT, VERSION = "abstractcore-session", 1
_TOKEN_COUNTS = frozenset(TOKEN_COUNTS)
_MOST_COUNT = 2**53
_log = logging.getLogger("abstractcore")

BlobChange: TypeAlias = Callable[[Blob], Blob | TextPart]
"""Returns what stands in a message for the file of a blob."""


class OpenAIMessages(list[dict[str, Any]]):
    """Messages in the format of OpenAI's Chat Completions. `warnings` name what the format cannot express."""

    warnings: Sequence[Any] = ()


def document_of(history: SessionHistory, id: str, system_prompt: str | None) -> dict[str, Any]:
    """Returns a session as JSON data, with the content of its files. Raises `OSError` and `SchemaError` for a file that
    was deleted or changed.
    """
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "id": id}
    if system_prompt is not None:
        document["system_prompt"] = system_prompt
    document["exchanges"] = [exchange_data(each, inline) for each in [*history.exchanges]]
    if history.groups:
        document["compacted"] = [group_data(each, inline) for each in history.groups]
    spent = [each for each in history.spent if each.calls or each.usage != Usage()]
    if spent:
        document["spent"] = [exchange_data(each, inline) for each in spent]
    return document


def read_document(data: Mapping[str, Any]) -> tuple[SessionHistory, str, str | None]:
    """Returns the history, the id and the system prompt of a document; raises `SessionError` for another one."""
    version = data.get("version")
    if data.get("format") != FORMAT or type(version) is not int:
        raise SessionError("the file is not a session", hint="Give one that session.save(path) has written.")
    if version > VERSION:
        raise _later_version(version)
    try:
        exchanges = [read_exchange(each, f"exchanges[{i}]") for i, each in enumerate(_list(data, "exchanges"))]
        groups = [read_group(each, f"compacted[{i}]") for i, each in enumerate(_list(data, "compacted"))]
        spent = [read_exchange(each, f"spent[{i}]") for i, each in enumerate(_list(data, "spent"))]
        id, prompt = data.get("id"), data.get("system_prompt")
        if not isinstance(id, str) or not isinstance(prompt, str | None):
            raise SchemaError("expected text", "id" if not isinstance(id, str) else "system_prompt")
        if sum(group.exchanges for group in groups) > len(exchanges):
            raise SchemaError("stands for more exchanges than there are", "compacted")
        for i in range(1, len(exchanges)):
            if exchanges[i].number <= exchanges[i - 1].number:
                raise SchemaError("expected numbers that ascend", f"exchanges[{i}].number")
    except SchemaError as error:
        raise SessionError(f"the session is damaged: {error}") from None
    return SessionHistory(exchanges, groups, spent), id, prompt


def _later_version(version: int) -> SessionError:
    hint = "Install a later release of AbstractCore."
    return SessionError(f"the session has version {version}: this release reads version {VERSION}", hint=hint)


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    found = data.get(name, [])
    if not isinstance(found, list):
        raise SchemaError(f"expected a list, got {shown(found)}", name)
    return cast("list[Any]", found)


def exchange_data(exchange: SessionExchange, change: BlobChange) -> dict[str, Any]:
    """Returns an exchange as JSON data, with its blobs changed by a function. The state of a tool loop is left out."""
    data: dict[str, Any] = {
        "number": exchange.number,
        "messages": [to_data(each) for each in with_blobs(exchange.messages, change)],
    }
    for name in ("asked", "calls", "tokens", "provider", "model", "partial"):
        value = getattr(exchange, name)
        if value:
            data[name] = value
    if exchange.usage != Usage():
        data["usage"] = to_data(exchange.usage)
    for name in ("cost", "estimated_cost", "saved_cost"):
        value = getattr(exchange, name)
        if value is not None:
            data[name] = f"{value:f}"
    return data


def read_exchange(data: object, path: str, messages: tuple[Message, ...] | None = None) -> SessionExchange:
    """Returns the exchange of JSON data, or of `messages`; raises `SchemaError` with the path of an invalid value."""
    fields = _object(data, path)
    if messages is None:
        messages = read_messages(_list(fields, "messages"), f"{path}.messages")
    values = _read_fields(fields, _FIELDS_OF_EXCHANGES, path)
    return SessionExchange(values.pop("number", 0), messages, **values)


def group_data(group: ContextGroup, change: BlobChange) -> dict[str, Any]:
    """Returns a group of the context as JSON data."""
    return {
        "messages": [to_data(each) for each in with_blobs(group.messages, change)],
        "exchanges": group.exchanges,
        "tokens": group.tokens,
        "is_summary": group.is_summary,
    }


def read_group(data: object, path: str) -> ContextGroup:
    """Returns the group of JSON data; raises `SchemaError` with the path of an invalid value."""
    fields = _object(data, path)
    messages = read_messages(_list(fields, "messages"), f"{path}.messages")
    values = _read_fields(fields, _FIELDS_OF_GROUPS, path)
    return ContextGroup(messages, values.pop("exchanges", 0), values.pop("tokens", 0), **values)


def read_messages(data: Sequence[object], path: str) -> tuple[Message, ...]:
    """Returns the messages of JSON data; raises `SchemaError` with the path of an invalid value."""
    read = (from_data(Message, each, f"{path}[{index}]") for index, each in enumerate(data))
    return with_blobs(read, without_path)


def without_path(blob: Blob) -> Blob:
    """Returns a blob that was read; raises `SchemaError` for a path. None is ever written, and with one, a session of
    somebody else would send any file of this machine.
    """
    if blob.form == "file":
        raise SchemaError("expected the content of a file, got a path", "blob")
    return blob


def with_blobs(messages: Iterable[Message], change: BlobChange) -> tuple[Message, ...]:
    """Returns messages whose blobs are changed by a function; those without files are the same objects."""
    return tuple(_with_blobs(message, change) for message in messages)


def _with_blobs(message: Message, change: BlobChange) -> Message:
    parts = tuple(_part_with_blobs(part, change) for part in message.parts)
    return (
        message if parts == message.parts and all(map(_same, parts, message.parts)) else replace(message, parts=parts)
    )


def _same(one: object, other: object) -> bool:
    return one is other


def _part_with_blobs(part: Part, change: BlobChange) -> Part:
    if isinstance(part, MEDIA_PARTS):
        made = change(part.blob)
        if isinstance(made, TextPart):
            return made
        return part if made is part.blob else replace(part, blob=made)
    if isinstance(part, ToolResult | HostedToolResult) and any(isinstance(each, MEDIA_PARTS) for each in part.content):
        return replace(part, content=cast(Any, tuple(_part_with_blobs(each, change) for each in part.content)))
    return part


def lost_file(blob: Blob, error: Exception) -> TextPart:
    """Returns what is written for a file that was deleted or changed before it was written, and logs a warning."""
    _log.warning("a file is left out of a session, since it cannot be read: %s", error)
    return TextPart(f"[The file {shown_file_name(blob.name or 'without a name')} was deleted or changed.]\n")


def inline(blob: Blob) -> Blob:
    """Returns the blob of a file with its content. Raises `OSError`, and `SchemaError` for a file that was changed."""
    if blob.form != "file":
        return blob
    return Blob.from_bytes(blob.read(), blob.media_type, name=blob.name)


def read_json(text: str | bytes, what: str) -> Any:
    """Returns JSON data; raises `SessionError` for anything else."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SessionError(f"{what} is not JSON: {error}") from None


def _object(data: object, path: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise SchemaError(f"expected an object, got {shown(data)}", path)
    return cast("Mapping[str, Any]", data)


def _read_fields(
    fields: Mapping[str, Any], readers: Mapping[str, Callable[[object], Any]], path: str
) -> dict[str, Any]:
    """Returns the values of the fields that have a reader; others are of later releases. Paths are built for errors
    only: a long session has tens of thousands of fields.
    """
    values: dict[str, Any] = {}
    name = ""
    try:
        for name, value in fields.items():
            if name in readers:
                values[name] = readers[name](value)
    except SchemaError as error:
        raise error.at(f"{path}.{name}") from None
    return values


def _usage(data: object) -> Usage:
    """Returns token counts, which `Usage` checks: faster than the general reader, which reads anything beside them."""
    counts = cast("dict[str, Any]", data)
    if type(data) is dict and _TOKEN_COUNTS.issuperset(counts):
        return Usage(**counts)
    return from_data(Usage, counts)


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_COUNT:
        raise SchemaError(f"expected a whole number, got {shown(value)}")
    return value


def _text(value: object) -> str | None:
    if not isinstance(value, str | None):
        raise SchemaError(f"expected text, got {shown(value)}")
    return value


def _decimal(value: object) -> Decimal | None:
    return None if value is None else from_data(Decimal, value)


def _is_true(value: object) -> bool:
    return value is True


_FIELDS_OF_EXCHANGES: Mapping[str, Callable[[object], Any]] = {
    **dict.fromkeys(("number", "asked", "calls", "tokens"), _count),
    **dict.fromkeys(("provider", "model"), _text),
    **dict.fromkeys(("cost", "estimated_cost", "saved_cost"), _decimal),
    "usage": _usage,
    "partial": _is_true,
}
_FIELDS_OF_GROUPS: Mapping[str, Callable[[object], Any]] = {
    **dict.fromkeys(("exchanges", "tokens"), _count),
    "is_summary": _is_true,
}
