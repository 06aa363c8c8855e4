"""Tools and `tool_choice`, written and read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    CallWarning,
    HostedTool,
    HostedToolCall,
    HostedToolKind,
    HostedToolResult,
    Message,
    ModelCall,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    to_data,
)

from ...common.function_tools import describe_tool, read_parameters, read_tool_spec, write_parameters
from ...common.json_schemas import BEDROCK
from ...common.reading import Object, get_flag, get_list, get_object, get_text, name_the_rest
from ...common.thinking import CacheTimes
from .read_blocks import read_cache, write_cache
from .vocabulary import ConverseDialect

_SYSTEM_TOOLS: dict[HostedToolKind, str] = {"web_search": "nova_grounding", "code_interpreter": "nova_code_interpreter"}
_NO_CALLS = ToolChoice("none")
_USES = (ToolCall, ToolResult, HostedToolCall, HostedToolResult)
_SPEC = frozenset({"name", "description", "inputSchema", "strict"})


def write_tool_config(
    call: ModelCall, dialect: ConverseDialect, times: CacheTimes, warnings: list[CallWarning]
) -> tuple[Object, bool]:
    """Returns the format's `toolConfig`, empty if there are no tools, and whether a field of the model forbids tool
    calls.

    A conversation with tool calls needs definitions: without any, those of `_stubs` are sent. Raises
    `UnsupportedContentError` for a hosted tool that the format does not have.
    """
    choice, offered = call.tool_choice, bool(call.tools or call.hosted_tools)
    forbidden = choice is not None and choice.mode == "none"
    if forbidden and not (dialect.tool_choice_none and offered) and not _used(call.messages):
        return _without_tools(call, warnings), False
    tools: list[Object] = []
    for index, tool in enumerate(call.tools):
        tools += _tool(tool, f"tools[{index}]", times, warnings)
    tools += [_hosted(tool, f"hosted_tools[{i}]", call, warnings) for i, tool in enumerate(call.hosted_tools)]
    if not offered and _used(call.messages):
        return _stubs(call, dialect, warnings)
    config: Object = {"tools": tools} if tools else {}
    if tools and forbidden and dialect.tool_choice_none:
        return config, True
    if choice is not None:
        if tools and not forbidden:
            config["toolChoice"] = _choice(choice)
        else:
            _leave_out_choice(call, warnings)
    return config, False


def _used(messages: Iterable[Message]) -> bool:
    """Whether the conversation has tool calls, for which the format requires definitions."""
    return any(isinstance(part, _USES) for message in messages for part in message.parts)


def _stubs(call: ModelCall, dialect: ConverseDialect, warnings: list[CallWarning]) -> tuple[Object, bool]:
    """Returns definitions of the tools that the conversation used, which the call does not offer any more: the names
    alone. The model is forbidden to call them, where there is a field for that.

    The API's error without them: `The toolConfig field must be defined when using toolUse and toolResult content
    blocks`.
    """
    parts = [part for message in call.messages for part in message.parts]
    names = dict.fromkeys(part.name for part in parts if isinstance(part, ToolCall))
    hosted = dict.fromkeys(part.name for part in parts if isinstance(part, HostedToolCall))
    config: Object = {
        "tools": [
            *({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in names),
            *({"systemTool": {"name": name}} for name in hosted if name in _SYSTEM_TOOLS.values()),
        ]
    }
    if not config["tools"]:
        _leave_out_choice(call, warnings)
        return {}, False
    message = "a conversation with tool calls needs their definitions: the names alone are sent"
    for field, added in zip(("tools", "hosted_tools"), read_tools(config, []), strict=True):
        if added:
            warnings.append(CallWarning("tools_added", field, message, [], [to_data(tool) for tool in added]))
    if not dialect.tool_choice_none:
        _leave_out_choice(call, warnings)
        return config, False
    if call.tool_choice != _NO_CALLS:
        sent: Any = to_data(_NO_CALLS)
        before: Any = call.tool_choice and to_data(call.tool_choice)
        warnings.append(CallWarning("tool_choice_changed", "tool_choice", "the call offers no tools", before, sent))
    return config, True


def _leave_out_choice(call: ModelCall, warnings: list[CallWarning]) -> None:
    if call.tool_choice is not None:
        warnings.append(CallWarning("unsupported_option", "tool_choice", "it is not supported for these tools"))


def _without_tools(call: ModelCall, warnings: list[CallWarning]) -> Object:
    message = "the format cannot forbid tools: they are left out"
    names = [name for name in ("tools", "hosted_tools", "tool_choice") if getattr(call, name)]
    warnings += [CallWarning("tools_left_out", name, message) for name in names]
    return {}


def _tool(tool: ToolSpec, path: str, times: CacheTimes, warnings: list[CallWarning]) -> list[Object]:
    schema, strict = write_parameters(tool, path, BEDROCK, warnings)
    spec = {**describe_tool(tool), "inputSchema": {"json": schema}}
    if strict is not None:
        spec["strict"] = strict
    cache = times.fit(tool.cache, path, warnings)
    return [{"toolSpec": spec}] if cache is None else [{"toolSpec": spec}, write_cache(cache)]


def _hosted(tool: HostedTool, path: str, call: ModelCall, warnings: list[CallWarning]) -> Object:
    name = _SYSTEM_TOOLS.get(tool.kind)
    if name is None:
        raise UnsupportedContentError(
            f"{path}: the Converse format has no hosted tool for {tool.kind}",
            hint=f"It has {' and '.join(_SYSTEM_TOOLS)}; or use a tool of your own.",
            provider=call.provider or None,
            model=call.model,
        )
    if tool.options:
        message = "hosted tools have no options in this format"
        warnings.append(CallWarning("options_left_out", f"{path}.options", message))
    return {"systemTool": {"name": name}}


def _choice(choice: ToolChoice) -> Object:
    if choice.mode == "tool":
        return {"tool": {"name": choice.tool}}
    return {"any" if choice.mode == "required" else "auto": {}}


def read_tools(config: Object, warnings: list[CallWarning]) -> tuple[tuple[ToolSpec, ...], tuple[HostedTool, ...]]:
    """Reads the client's own tools and the hosted ones; raises `InvalidInputError` with the path of what is wrong."""
    tools: list[ToolSpec] = []
    hosted: list[HostedTool] = []
    for index, value in enumerate(get_list(config, "tools", "toolConfig.")):
        path = f"toolConfig.tools[{index}]"
        entry = get_object(value, path)
        if "toolSpec" in entry:
            tools.append(_read_spec(get_object(entry["toolSpec"], f"{path}.toolSpec"), f"{path}.toolSpec", warnings))
        elif "systemTool" in entry:
            hosted += _read_system_tool(get_object(entry["systemTool"], f"{path}.systemTool"), path, warnings)
        elif "cachePoint" in entry and tools and tools[-1].cache is None:
            point = read_cache(get_object(entry["cachePoint"], f"{path}.cachePoint"))
            tools[-1] = replace(tools[-1], cache=point)
        else:
            warnings.append(CallWarning("tool_left_out", path, "unknown kind of tool"))
    return tuple(tools), tuple(hosted)


def _read_spec(spec: Object, path: str, warnings: list[CallWarning]) -> ToolSpec:
    name_the_rest(spec, _SPEC, path, warnings)
    schema = get_object(spec.get("inputSchema"), f"{path}.inputSchema")
    parameters = read_parameters(get_object(schema.get("json"), f"{path}.inputSchema.json"))
    return read_tool_spec(spec, path, parameters, strict=get_flag(spec, "strict", f"{path}."))


def _read_system_tool(tool: Object, path: str, warnings: list[CallWarning]) -> list[HostedTool]:
    hosted = [HostedTool(kind) for kind, name in _SYSTEM_TOOLS.items() if name == tool.get("name")]
    if not hosted:
        warnings.append(CallWarning("tool_left_out", path, f"unknown hosted tool {tool.get('name')!r}"))
    return hosted


def read_choice(config: Object) -> ToolChoice | None:
    """Reads the tool choice; raises `InvalidInputError` with the path of what is wrong."""
    value = config.get("toolChoice")
    if value is None:
        return None
    choice = get_object(value, "toolConfig.toolChoice")
    if "tool" in choice:
        named = get_object(choice["tool"], "toolConfig.toolChoice.tool")
        return ToolChoice("tool", get_text(named.get("name"), "toolConfig.toolChoice.tool.name"))
    if "any" in choice or "auto" in choice:
        return ToolChoice("required" if "any" in choice else "auto")
    raise InvalidInputError("expected auto, any or tool", path="toolConfig.toolChoice")
