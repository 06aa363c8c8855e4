"""Reads a client's messages (server side)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, Part, Role, SchemaError, ToolResult

from ...common.reading import get_list, get_object, get_role, has_content, message_left_out, name_the_rest
from .dialect import ConverseDialect
from .read_blocks import BlockReader
from .turns import is_boundary
from .vocabulary import SEPARATOR

_FIELDS = frozenset({"role", "content"})
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


def read_messages(
    system: Sequence[Any], values: Iterable[Any], reader: BlockReader, dialect: ConverseDialect
) -> tuple[Message, ...]:
    """Returns the conversation, system messages first; raises `InvalidInputError` with the path of what is wrong.

    Adjacent texts of the system or the user are separate messages, and tool results are a message before them.
    """
    messages = _apart("system", reader.blocks(system, "system", "system"))
    for index, value in enumerate(values):
        if value == SEPARATOR and dialect.results_alone and messages and messages[-1].role == "tool":
            continue
        path = f"messages[{index}]"
        data = get_object(value, path)
        name_the_rest(data, _FIELDS, path, reader.warnings)
        role = get_role(data, _ROLES, path)
        parts = reader.blocks(get_list(data, "content", f"{path}."), f"{path}.content", role)
        try:
            message_group = _messages(role, parts)
        except SchemaError as error:
            raise InvalidInputError(error.message, path=f"{path}.content") from None
        if not message_group:
            reader.warnings.append(message_left_out(path))
        messages += message_group
    return tuple(messages)


def _messages(role: Role, parts: Sequence[Part]) -> list[Message]:
    if role == "assistant":
        kept = [part for part in parts if has_content(part)]
        return [Message(role, tuple(kept))] if kept else []
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    others = [part for part in parts if not isinstance(part, ToolResult)]
    return ([Message("tool", results)] if results else []) + _apart(role, others)


def _apart(role: Role, parts: Iterable[Part]) -> list[Message]:
    groups: list[list[Part]] = []
    for part in parts:
        if not has_content(part):
            continue
        if groups and not is_boundary(groups[-1][-1], part):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [Message(role, tuple(some)) for some in groups]
