"""Tools of a client's API for models of other APIs: hosted tools, and those that the client runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import abstractcore
from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    EMPTY,
    CallWarning,
    Delta,
    HostedTool,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolChoice,
    ToolResult,
)

from ..dialects.base import ClientDialect
from ..dialects.client_tools import TEXT, ClientToolFunction, name_in_namespace, refuse_client_tool

_COMPUTER = "computer_use"
_KIND, _NAMESPACE = "type", "namespace"
"""The options of a call that name the type and the namespace of its tool."""
_TEXT_CALLS = ("custom", "custom_tool_call")
_SEARCH = "tool_search_call"
_ITEM = "additional_tools"


class AdaptedCall(NamedTuple):
    """A call whose client tools are functions, those whose calls are other ones at the client, and the types of the
    tools that are left: those that a provider runs, of which the call has no more.
    """

    call: ModelCall
    tools: ClientTools
    others: tuple[str, ...] = ()
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientTools:
    """The tools of a client, by the names of their functions. `provider` has the options of its calls."""

    provider: str = ""
    tools: Mapping[str, ClientToolFunction] = field(default_factory=dict[str, ClientToolFunction])

    def in_reply(self, reply: ModelReply) -> ModelReply:
        """Returns a reply with calls as the client knows them."""
        if not any(call.name in self.tools for call in reply.tool_calls):
            return reply
        return replace(reply, parts=tuple(self._in_part(part) for part in reply.parts))

    def _in_part(self, part: Part) -> Part:
        return self.in_call(part) if isinstance(part, ToolCall) else part

    def in_call(self, call: ToolCall) -> ToolCall:
        """Returns a call as the client knows it. One whose arguments are no object stays the call of a function, if the
        client's tool needs an object.
        """
        tool = self.tools.get(call.name)
        if tool is None:
            return call
        if tool.is_text:
            text: Any = (call.arguments or {}).get(TEXT)
            call = replace(call, arguments_text=text if isinstance(text, str) else call.arguments_text)
        elif call.arguments is None and _KIND in tool.options:
            return replace(call, name=tool.name)
        elif tool.defaults:
            call = replace(call, arguments_text=_json({**tool.defaults, **(call.arguments or {})}))
        id = {"id": f"{tool.id_prefix}{call.id}"} if tool.id_prefix else {}
        options = {**tool.options, **id}
        return replace(call, name=tool.name, provider_options={self.provider: options} if options else {})


class StreamedClientTools:
    """Calls of client tools in the deltas of one stream. They are sent when they are complete."""

    def __init__(self, tools: ClientTools) -> None:
        self._tools = tools
        self._calls: dict[int, tuple[ToolCallStart, list[str]]] = {}

    def in_deltas(self, deltas: Sequence[Delta]) -> Sequence[Delta]:
        """Returns deltas with calls as the client knows them."""
        return [each for delta in deltas for each in self._in_delta(delta)] if self._tools.tools else deltas

    def _in_delta(self, delta: Delta) -> Iterator[Delta]:
        if isinstance(delta, ToolCallStart) and delta.name in self._tools.tools:
            self._calls[delta.block] = delta, []
        elif isinstance(delta, ToolCallDelta) and delta.block in self._calls:
            self._calls[delta.block][1].append(delta.arguments_text)
        elif isinstance(delta, ToolCallEnd) and delta.block in self._calls:
            start, pieces = self._calls.pop(delta.block)
            call = self._tools.in_call(ToolCall(start.id, start.name, "".join(pieces)))
            yield replace(start, name=call.name, provider_options=call.provider_options)
            yield ToolCallDelta(start.sequence, start.block, call.arguments_text)
            yield delta
        else:
            yield delta


def adapted_client_tools(call: ModelCall, dialect: ClientDialect) -> AdaptedCall:
    """Returns a call of a client of another API than its model's, as a wire format has parsed it.

    Raises `InvalidInputError` for a tool that is not well-formed, and `UnsupportedContentError` for one that the client
    runs and no function can stand for.
    """
    given: Mapping[str, Any] = call.provider_options.get(call.provider, EMPTY)
    reader = _Reader(call, dialect)
    for definition in cast("Iterable[Mapping[str, Any]]", given.get("tools") or ()):
        reader.add(definition)
    hosted = tuple(tool for tool in call.hosted_tools if not reader.adds_computer(tool))
    messages = reader.messages()
    tools = ClientTools(call.provider, {name: tool for name, tool in reader.tools.items() if not tool.is_function})
    choice = _choice(given.get("tool_choice"), tools)
    if not (reader.tools or reader.others or choice or messages is not call.messages):
        return AdaptedCall(call, tools)
    left_out = {"tools"} if choice is None else {"tools", "tool_choice"}
    options = {name: value for name, value in given.items() if name not in left_out}
    call = call.with_(
        tools=(*call.tools, *(tool.spec for tool in reader.tools.values())),
        hosted_tools=hosted,
        messages=messages,
        tool_choice=choice or call.tool_choice,
        provider_options={**call.provider_options, call.provider: options},
    )
    losses = (tool.loss for tool in reader.tools.values() if tool.loss)
    warnings = tuple(CallWarning("unsupported_option", "tools", loss) for loss in losses)
    return AdaptedCall(call, tools, tuple(reader.others), warnings)


class _Reader:
    """Collects the client tools of one call."""

    def __init__(self, call: ModelCall, dialect: ClientDialect) -> None:
        self._call = call
        self._dialect = dialect
        self._functions = {tool.name for tool in call.tools}
        self._names: dict[tuple[Any, Any, str], str] = {}
        """The names of functions, by what distinguishes calls of their tools from others."""
        self.tools: dict[str, ClientToolFunction] = {}
        self.others: list[str] = []

    def add(self, definition: Mapping[str, Any]) -> None:
        """Adds the tools of a definition, or its type to the others."""
        found = self._dialect.client_tools(definition)
        if found is None:
            self.others.append(str(definition.get(_KIND) or next(iter(definition), "")))
        for tool in found or ():
            self._add(tool)

    def _add(self, tool: ClientToolFunction) -> None:
        name, number = tool.spec.name, 2
        while name in self._functions or name in self.tools:
            name, number = f"{tool.spec.name}_{number}", number + 1
        self.tools[name] = replace(tool, spec=replace(tool.spec, name=name))
        self._names[(tool.options.get(_KIND), tool.options.get(_NAMESPACE), tool.name)] = name

    def adds_computer(self, hosted: HostedTool) -> bool:
        """Whether a hosted tool was one that the client runs, which was added."""
        if hosted.kind != _COMPUTER:
            return False
        kind = hosted.options.get(_KIND, _COMPUTER)
        found = self._dialect.client_tools({"name": "computer", **hosted.options, _KIND: kind})
        if found is None:
            refuse_client_tool(str(kind))
        for tool in found:
            self._add(tool)
        return True

    def messages(self) -> tuple[Message, ...]:
        """Returns the conversation with calls of client tools as calls of functions, and adds the tools that are in it:
        those of items, and those that a search of the client has found.
        """
        messages = self._without_items()
        provider = self._call.provider
        calls = {
            part.id: options
            for message in messages
            for part in message.tool_calls
            if not {_KIND, _NAMESPACE}.isdisjoint(options := part.provider_options.get(provider, EMPTY))
        }
        if not calls:
            return messages
        for message in messages:
            for part in message.parts if message.role == "tool" else ():
                if isinstance(part, ToolResult) and calls.get(part.call_id, EMPTY).get(_KIND) == _SEARCH:
                    self._add_found(part)
        return tuple(self._message(message, calls) for message in messages)

    def _without_items(self) -> tuple[Message, ...]:
        """Returns the conversation without items that have tools, and adds these."""
        messages = self._call.messages
        items = [part for message in messages for part in message.parts if _has_tools(part)]
        for item in items:
            for definition in _objects(cast("Mapping[str, object]", cast(OpaquePart, item).data).get("tools")):
                self.add(definition)
        if not items:
            return messages
        rest = ((message, tuple(part for part in message.parts if not _has_tools(part))) for message in messages)
        return tuple(replace(message, parts=parts) for message, parts in rest if parts)

    def _add_found(self, result: ToolResult) -> None:
        text = "".join(part.text for part in result.content if isinstance(part, TextPart))
        try:
            found: Any = json.loads(text)
        except ValueError:
            return
        for definition in _objects(found):
            for tool in self._dialect.client_tools(definition) or ():
                if tool.spec.name not in self._functions and tool.spec.name not in self.tools:
                    self._add(tool)

    def _message(self, message: Message, calls: Mapping[str, Mapping[str, Any]]) -> Message:
        if message.role not in ("assistant", "tool"):
            return message
        parts = (self._part(part, calls) for part in message.parts)
        return replace(message, parts=tuple(parts))

    def _part(self, part: Part, calls: Mapping[str, Mapping[str, Any]]) -> Part:
        if isinstance(part, ToolCall) and part.id in calls:
            return self._as_function(part, calls[part.id])
        if isinstance(part, ToolResult) and part.call_id in calls:
            return _plain_result(part, self._call.provider)
        return part

    def _as_function(self, call: ToolCall, options: Mapping[str, Any]) -> ToolCall:
        kind, namespace = options.get(_KIND), options.get(_NAMESPACE)
        usual = call.name if namespace is None else name_in_namespace(str(namespace), call.name)
        name = self._names.get((kind, namespace, call.name), usual)
        text = call.arguments_text
        tool = self.tools.get(name)
        if kind in _TEXT_CALLS:
            text = _json({TEXT: text})
        elif tool is not None and tool.defaults and call.arguments is not None:
            text = _json({key: value for key, value in call.arguments.items() if tool.defaults.get(key) != value})
        return replace(call, name=name, arguments_text=text, provider_options={})


def _has_tools(part: Part) -> bool:
    """Whether it is an item with tools, as newer versions of Codex send them in place of the field."""
    return isinstance(part, OpaquePart) and part.kind == _ITEM and isinstance(part.data, Mapping)


def _objects(values: object) -> list[Mapping[str, Any]]:
    """Returns the objects of a list; nothing of anything else."""
    given = cast("list[object]", values) if isinstance(values, list) else []
    return [cast("Mapping[str, Any]", each) for each in given if isinstance(each, Mapping)]


def _plain_result(result: ToolResult, provider: str) -> ToolResult:
    """Returns a result whose texts have what was beside them, such as the exit code of a command."""
    content = (
        TextPart(_json({"output": part.text, **part.provider_options[provider]}))
        if isinstance(part, TextPart) and provider in part.provider_options
        else part
        for part in result.content
    )
    return replace(result, content=tuple(content), provider_options={})


def _choice(given: Any, tools: ClientTools) -> ToolChoice | None:
    """Returns the choice of a client tool; None for any other one."""
    if not isinstance(given, Mapping):
        return None
    choice = cast("Mapping[str, Any]", given)
    inner: Any = choice.get("custom")
    named = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else choice
    name = named.get("name") or choice.get(_KIND)
    found = (function for function, tool in tools.tools.items() if tool.name == name)
    function = next(found, None)
    return None if function is None else ToolChoice("tool", function)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_PROBE = (Message.user("hi"),)


def adapted_hosted_tools(
    llm: abstractcore.LLM, call: ModelCall, others: Sequence[str] = (), *, must_call: bool = False
) -> tuple[ModelCall, list[CallWarning]]:
    """Returns a call of a client of another API without the hosted tools that its model does not have, alone or beside
    the call's functions, and without options of another vendor's; with a warning for each. `others` are the types of
    hosted tools that the request has and the call has no field for.

    Raises `UnsupportedContentError` for the first tool that is lacking if the call must have it: if its tool choice
    requires a call that no other tool can be, or is one that only the client's API has (`must_call`), and in strict
    mode.
    """
    kept: list[HostedTool] = []
    lacking = [UnsupportedContentError(f"tools: {llm.provider}/{llm.model} has no tool {kind!r}.") for kind in others]
    warnings = [_left_out(llm, kind) for kind in others]
    for given in call.hosted_tools:
        tool = HostedTool(given.kind)
        refusal = None if tool in kept else _refusal(llm, call, [*kept, tool])
        if refusal is not None:
            lacking.append(refusal)
            warnings.append(_left_out(llm, tool.kind))
            continue
        if tool not in kept:
            kept.append(tool)
        warnings += (_option_left_out(llm, tool, name) for name in given.options)
    if lacking and (call.strict or must_call or _needs_lacking(call, kept)):
        raise lacking[0]
    if tuple(kept) == call.hosted_tools and not others:
        return call, []
    left = call.with_(hosted_tools=tuple(kept))
    if not (kept or call.tools):
        left = left.with_(tool_choice=None, parallel_tool_calls=None)
    return left, warnings


def _refusal(llm: abstractcore.LLM, call: ModelCall, hosted: Sequence[HostedTool]) -> UnsupportedContentError | None:
    """Returns why a model cannot have hosted tools beside the functions of a call: the wire format decides, but for
    searches in files, which only the client's vendor has.
    """
    if hosted[-1].kind == "file_search":
        return UnsupportedContentError(f"tools: {llm.model} has no access to the files of file_search.")
    if llm.profile.tools == "never":
        return UnsupportedContentError(f"tools: {llm.model} accepts no tools at the provider {llm.provider!r}.")
    probe = ModelCall(call.model, _PROBE, provider=call.provider, tools=call.tools)
    try:
        llm.transpiler.encode(probe)
    except UnsupportedContentError:
        return None  # the functions are what is refused
    try:
        llm.transpiler.encode(probe.with_(hosted_tools=tuple(hosted)))
    except UnsupportedContentError as error:
        return error
    return None


def _needs_lacking(call: ModelCall, kept: Sequence[HostedTool]) -> bool:
    choice = call.tool_choice
    if choice is None or choice.mode in ("auto", "none"):
        return False
    if choice.mode == "required":
        return not (kept or call.tools)
    return choice.tool not in {*(tool.name for tool in call.tools), *(tool.kind for tool in kept)}


def _left_out(llm: abstractcore.LLM, kind: str) -> CallWarning:
    message = f"{llm.provider}/{llm.model} has no hosted tool {kind}, which is left out"
    return CallWarning("tool_left_out", "tools", message, kind)


def _option_left_out(llm: abstractcore.LLM, tool: HostedTool, name: str) -> CallWarning:
    message = f"{llm.provider} has no such option of {tool.kind}"
    return CallWarning("field_left_out", f"tools.{tool.kind}.{name}", message)
