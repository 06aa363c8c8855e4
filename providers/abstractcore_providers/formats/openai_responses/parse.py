"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads the items of a client's request as messages (server side).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from abstractcore.errors import InvalidInputError, ServerError
from abstractcore.schema import (
    NO_OPTIONS,
    CallWarning,
    ContentPart,
    HostedTool,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    Parsed,
    Part,
    ProviderOptions,
    Role,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    WireRequest,
)

from ...common.call_options import read_options
from ...common.conversations import origin_of
from ...common.function_tools import read_output
from ...common.reading import (
    Object,
    as_objects,
    error_at,
    get_flag,
    get_group,
    get_list,
    get_object,
    get_role,
    get_text,
    has_content,
    message_left_out,
    read_call,
    text_of,
)
from .client_results import answered_id, has_own_form, read_client_result, unchanged
from .client_tools import OUTPUTS, ClientToolItem, called_tool, calls_with_options, client_tool, hosted_calls
from .content import OUTPUT_FIELDS, USER_FIELDS, read_content, read_screenshot
from .items import answers_model, item_options, read_item
from .options import EFFORTS, is_of_call, read_choice, read_tools, rest_of
from .vocabulary import SAMPLING

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_INDEX = re.compile(r"messages\[(\d+)\]")


@dataclass(slots=True)
class _MessageDraft:
    """A message that is being read, starting with the item at `path`."""

    role: Role
    parts: list[Part]
    path: str
    options: ProviderOptions


class ItemReader:
    """Reads items in order: adjacent items of the model are one message."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._origin: str | None = None
        self._warnings: list[CallWarning] = []
        self._turns: list[_MessageDraft] = []
        self._hosted: frozenset[str] = frozenset()
        """The calls that the provider ran."""
        self._asked: dict[str, ToolCall] = {}
        """Unanswered calls with options, of the assistant's last turn."""

    def read(self, data: Object, origin: str | None, warnings: list[CallWarning]) -> None:
        """Returns all messages of a request, with reasoning of the model `origin`.

        Raises `InvalidInputError` with the path of what is wrong.
        """
        self._origin, self._warnings = origin, warnings
        instructions = data.get("instructions")
        if instructions is not None:
            self._add("system", [TextPart(get_text(instructions, "instructions"))], "instructions")
        if isinstance(data.get("input"), str):
            self._add("user", [TextPart(data["input"])], "input")
            return
        values = get_list(data, "input")
        self._hosted = hosted_calls(as_objects(values))
        for index, value in enumerate(values):
            path = f"input[{index}]"
            try:
                self._item(get_object(value, path), path)
            except SchemaError as error:
                raise error_at(path, error) from None

    @property
    def messages(self) -> tuple[Message, ...]:
        """Returns the messages without empty ones."""
        return tuple(Message(turn.role, tuple(turn.parts), turn.options) for turn in self._turns)

    def path_in_request(self, path: str) -> str:
        """Maps a path in the call to one in the request."""
        if path == "messages":
            return "input"
        index = _INDEX.match(path)
        if index is None or int(index[1]) >= len(self._turns):
            return path
        return self._turns[int(index[1])].path

    def _add(self, role: Role, parts: list[Part], path: str, options: ProviderOptions = NO_OPTIONS) -> None:
        kept = [part for part in parts if has_content(part)]
        if not kept:
            self._warnings.append(message_left_out(path))
        elif role == "assistant" and self._turns and self._turns[-1].role == "assistant":
            self._turns[-1].parts.extend(kept)
        else:
            self._turns.append(_MessageDraft(role, kept, path, options))
            if role != "tool":
                self._asked.clear()
        if role == "assistant":
            self._asked |= calls_with_options(kept)

    def _item(self, item: Object, path: str) -> None:
        kind = item.get("type", "message")
        if not isinstance(kind, str):
            raise InvalidInputError("expected the name of an item's type", path=f"{path}.type")
        if kind == "message":
            self._message({**item, "type": kind}, path)
        elif kind == "function_call_output":
            self._add("tool", [self._result(item, path)], path)
        elif kind in OUTPUTS and (result := self._client_result(item, OUTPUTS[kind], path)) is not None:
            self._add("tool", [result], path)
        elif answers_model(item):
            self._add("user", [OpaquePart(self._provider, kind, cast(Any, item))], path)
        else:
            self._add("assistant", self._read_output_item(item, kind, path), path)

    def _message(self, item: Object, path: str) -> None:
        role = get_role(item, _ROLES, path)
        options = item_options(item, self._provider, stored=True) if role == "assistant" else None
        parts = list(
            read_content(item.get("content"), f"{path}.content", self._provider, self._warnings, item_options=options)
        )
        self._add(
            role, parts, path, NO_OPTIONS if options is not None else read_options(item, USER_FIELDS, self._provider)
        )

    def _client_result(self, item: Object, tool: ClientToolItem, path: str) -> ToolResult | None:
        """Reads the result of a built-in tool; None for one whose call is not among these messages."""
        if tool.name == "computer":
            return read_screenshot(item, path, self._provider)
        id = answered_id(item, tool)
        call = self._asked.get(id) if isinstance(id, str) else None
        if call is None or called_tool(call, self._provider) != tool:
            return None
        if has_own_form(tool):
            del self._asked[call.id]
            return read_client_result(item, call, tool, path, self._provider)
        return self._result(item, path)

    def _result(self, item: Object, path: str) -> ToolResult:
        call_id = get_text(item.get("call_id"), f"{path}.call_id")
        content = read_content(item.get("output"), f"{path}.output", self._provider, self._warnings)
        repeated = unchanged(item, self._asked.pop(call_id, None), self._provider)
        options = read_options(item, OUTPUT_FIELDS | repeated, self._provider)
        return _cached(ToolResult(call_id, cast("tuple[ContentPart, ...]", content), provider_options=options))

    def _read_output_item(self, item: Object, kind: str, path: str) -> list[Part]:
        if kind == "function_call":
            for name in ("call_id", "name", "arguments"):
                get_text(item.get(name), f"{path}.{name}")
        tool = client_tool(item, self._hosted)
        if tool is not None:
            get_text(item.get(tool.id_field), f"{path}.{tool.id_field}")
        try:
            return read_item(item, self._provider, self._origin, stored=True, hosted=self._hosted)
        except ServerError as error:
            raise InvalidInputError(error.message, path=path) from None


def _cached(result: ToolResult) -> ToolResult:
    """A cache point of the last part of an output is that of the result."""
    last: Any = result.content[-1] if result.content else None
    if last is None or last.cache is None:
        return result
    return replace(result, content=(*result.content[:-1], replace(last, cache=None)), cache=last.cache)


def parse(request: WireRequest, provider: str, encrypted_reasoning: bool) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    conversation = ItemReader(provider)
    read = partial(_call, conversation, provider, encrypted_reasoning)
    return read_call(request, provider, read, conversation.path_in_request)


def _call(
    conversation: ItemReader, provider: str, encrypted_reasoning: bool, data: Object, warnings: list[CallWarning]
) -> ModelCall:
    get_flag(data, "background")
    model = get_text(data.get("model"), "model")
    conversation.read(data, origin_of(provider, model), warnings)
    tools = read_tools(get_list(data, "tools"), warnings)
    reasoning, text = get_group(data, "reasoning"), get_group(data, "text")
    get_list(data, "include")
    return ModelCall(
        model=model,
        provider=provider,
        messages=conversation.messages,
        tools=tuple(tool for tool in tools if isinstance(tool, ToolSpec)),
        hosted_tools=tuple(tool for tool in tools if isinstance(tool, HostedTool)),
        tool_choice=read_choice(data.get("tool_choice")),
        parallel_tool_calls=get_flag(data, "parallel_tool_calls"),
        sampling=SAMPLING.read(data),
        output=_output(text.get("format")),
        thinking=EFFORTS.get(text_of(reasoning, "effort") or ""),
        stream=get_flag(data, "stream") or False,
        provider_options={provider: rest_of(data, encrypted_reasoning)},
    )


def _output(data: Any) -> OutputSchema | None:
    return read_output(data, "text.format") if is_of_call("text", "format", data) else None
