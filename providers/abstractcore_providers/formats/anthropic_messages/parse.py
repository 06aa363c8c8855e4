"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads a client's messages (server side). What the schema cannot express is reported in a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

from abstractcore.schema import (
    NO_OPTIONS,
    CallWarning,
    ContentPart,
    Message,
    ModelCall,
    Parsed,
    Part,
    ProviderOptions,
    Role,
    ToolResult,
    WireRequest,
)

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments, origin_of
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
    read_call,
)
from ...common.thinking import Thinking, has_thinking, read_claude_thinking
from .blocks import CALLS, is_hosted_result, read_block
from .content import BLOCK_FIELDS, MESSAGE_FIELDS, read_by_tool, read_content, read_input_block
from .dialect import VERSION, MessagesDialect, betas_to_ours, model_in
from .tools import choice_to_ours, has_output, is_modelled, output_to_ours, tools_to_ours
from .vocabulary import CALL_FIELDS, SAMPLING, THINKING_BLOCKS, cache_to_ours
from .write_messages import read_system

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


def parse(request: WireRequest, dialect: MessagesDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    reader = MessagesReader(dialect.provider, request.body)
    model = model_in(request.url) if dialect.raw_predict else None
    read = partial(_call, reader, model, request.headers, dialect)
    return read_call(request, dialect.provider, read, reader.path_in_request)


def _call(
    reader: MessagesReader,
    model: str | None,
    headers: Mapping[str, str],
    dialect: MessagesDialect,
    data: Object,
    warnings: list[CallWarning],
) -> ModelCall:
    model = model or get_text(data.get("model"), "model")
    messages = reader.read(data, origin_of(dialect.provider, model), warnings)
    definitions = [get_object(value, f"tools[{i}]") for i, value in enumerate(get_list(data, "tools"))]
    tools, hosted = tools_to_ours(definitions, dialect.computer_tool, warnings)
    choice, parallel = choice_to_ours(data.get("tool_choice"))
    effort = as_object(data.get("output_config")).get("effort")
    replays = dialect.block_binding and has_thinking(data.get("messages"), THINKING_BLOCKS)
    thinking, rest = read_claude_thinking(data.get("thinking"), effort, replays=replays, settings=dialect)
    get_list(data, "stop_sequences")
    options = _rest(data, thinking, rest)
    if dialect.raw_predict:
        options.pop(VERSION, None)
    others = [tool for tool in definitions if not is_modelled(tool, dialect.computer_tool)]
    betas = betas_to_ours(headers, data)
    options |= {name: values for name, values in (("tools", others), ("betas", betas)) if values}
    return ModelCall(
        model=model,
        messages=messages,
        provider=dialect.provider,
        tools=tuple(tools),
        hosted_tools=tuple(hosted),
        tool_choice=choice,
        parallel_tool_calls=parallel,
        sampling=SAMPLING.read(data),
        output=output_to_ours(data.get("output_config")),
        thinking=thinking,
        stream=get_flag(data, "stream") or False,
        provider_options={dialect.provider: options},
    )


def _rest(data: Object, thinking: Thinking, rest_of_thinking: Any) -> Object:
    """Returns the fields that the call does not have; among them what `thinking` has beside the call's value."""
    rest = {name: value for name, value in data.items() if name not in CALL_FIELDS and name != "tools"}
    if "thinking" in rest:
        rest["thinking"] = rest_of_thinking
    config = as_object(rest.get("output_config"))
    if config:
        ours = {"format"} if has_output(config) else set[str]()
        ours |= {"effort"} if isinstance(thinking, str) and thinking != "off" else set()
        rest["output_config"] = {name: value for name, value in config.items() if name not in ours} or None
    return rest
