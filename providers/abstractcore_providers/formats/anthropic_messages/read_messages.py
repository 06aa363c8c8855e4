"""Reads a client's messages (server side). What the schema cannot express is reported in a warning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from abstractcore.schema import NO_OPTIONS, CallWarning, ContentPart, Message, Part, ProviderOptions, Role, ToolResult

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments
from ...common.reading import (
    ErrorsAt,
    Object,
    as_object,
    get_flag,
    get_list,
    get_object,
    get_role,
    get_text,
    has_content,
    message_left_out,
    name_the_rest,
)
from .block_fields import BLOCK_FIELDS, MESSAGE_FIELDS
from .blocks import CALLS, is_hosted_result, read_block
from .read_content import read_by_tool, read_content, read_input_block
from .system_messages import read_system
from .vocabulary import cache_to_ours

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_NEEDED = {
    "text": ("text",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
    **dict.fromkeys(CALLS, ("id", "name")),
}
_MESSAGE = re.compile(r"messages\[(\d+)\]")


class MessagesReader:
    """Reads the conversation of one request to `provider`."""

    def __init__(self, provider: str, body: bytes) -> None:
        self._provider = provider
        self._origin: str | None = None
        self._inputs = WrittenArguments(body, "input")
        self._warnings: list[CallWarning] = []
        self._messages: list[Message] = []
        self._request_paths: list[str] = []

    def read(self, data: Object, origin: str | None, warnings: list[CallWarning]) -> tuple[Message, ...]:
        """Returns the messages of the system prompt, then the others; an empty one is omitted.

        Reasoning in them is of the model `origin`. Raises `InvalidInputError` with the path of what is wrong.
        """
        self._origin, self._warnings = origin, warnings
        system = data.get("system")
        groups = read_system(cast("list[Any]", system)) if isinstance(system, list) else [system] if system else []
        for group in groups:
            self._add("system", read_content(group, "system", self._read_input_block), "system")
        for index, value in enumerate(get_list(data, "messages")):
            self._read_message(get_object(value, f"messages[{index}]"), f"messages[{index}]")
        return tuple(self._messages)

    def path_in_request(self, path: str) -> str:
        """Maps a path in the messages to one in the request."""
        found = _MESSAGE.match(path)
        return path if found is None else self._request_paths[int(found[1])] + path[found.end() :]

    def _read_message(self, data: Object, path: str) -> None:
        role = get_role(data, _ROLES, path)
        read = self._read_assistant_block if role == "assistant" else self._read_input_block
        parts = read_content(data.get("content"), f"{path}.content", read)
        results = tuple(part for part in parts if isinstance(part, ToolResult))
        others = tuple(part for part in parts if not isinstance(part, ToolResult))
        if results and role == "user":
            self._add("tool", results, path)
        if others or not results:
            self._add(role, others, path, read_options(data, MESSAGE_FIELDS, self._provider))
        else:
            name_the_rest(data, MESSAGE_FIELDS, path, self._warnings)

    def _add(self, role: Role, parts: Iterable[Part], path: str, options: ProviderOptions = NO_OPTIONS) -> None:
        kept = tuple(part for part in parts if has_content(part))
        if not kept:
            self._warnings.append(message_left_out(path))
            return
        with ErrorsAt(path):
            self._messages.append(Message(role, kept, options))
        self._request_paths.append(path)

    def _read_input_block(self, data: Object, path: str) -> Part:
        """Reads a block of a user's or a system message."""
        if data["type"] != "tool_result":
            return read_input_block(data, path, self._provider)
        content = read_content(data.get("content"), f"{path}.content", self._read_result_block)
        call_id = get_text(data.get("tool_use_id"), f"{path}.tool_use_id")
        is_error = get_flag(data, "is_error", f"{path}.") or False
        cache = cache_to_ours(data.get("cache_control"))
        options = read_options(data, BLOCK_FIELDS["tool_result"], self._provider)
        return ToolResult(call_id, cast("tuple[ContentPart, ...]", content), is_error, cache, options)

    def _read_result_block(self, data: Object, path: str) -> Part:
        return read_by_tool(data, path, self._provider)

    def _read_assistant_block(self, data: Object, path: str) -> Part:
        """Reads a block of an assistant's message."""
        kind = str(data["type"])
        for name in (*_NEEDED.get(kind, ()), *(("tool_use_id",) if is_hosted_result(kind) else ())):
            get_text(data.get(name), f"{path}.{name}")
        if kind not in CALLS:
            return read_block(data, self._provider, self._origin, "")
        input_ = get_object(data.get("input"), f"{path}.input")
        return read_block(data, self._provider, self._origin, self._inputs.text_of(as_object(input_)))
