"""Tool definitions, written and read.

`tool_choice` and `parallel_tool_calls`, written and read. The schema of an answer, in a request's `output_config`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, HostedTool, ModelCall, OutputSchema, ToolChoice, ToolSpec, to_data

from ...common.function_tools import (
    bare_schema,
    describe_tool,
    named_schema,
    read_parameters,
    read_tool_spec,
    write_parameters,
)
from ...common.json_schemas import ANTHROPIC
from ...common.reading import ErrorsAt, Object, as_object, get_flag, get_object, get_text, name_the_rest, text_of
from .blocks import TOOL_SEARCH, hosted_tool_to_ours, hosted_tool_to_theirs, is_own_tool
from .content import RequestState, with_cache
from .vocabulary import cache_to_ours

_FIELDS = frozenset({"type", "name", "description", "input_schema", "strict", "cache_control"})
_SEARCHED = _FIELDS | {"defer_loading"}
"""The fields of tools in a request with a tool search."""


def tools_to_theirs(call: ModelCall, others: Any, path: str, writing: RequestState, computer: str) -> list[Object]:
    """Returns the definitions: the caller's, the hosted ones, and `others` (at `path`), which the schema does not
    model. `computer` is the type of the model's tool for computer use.
    """
    searched = any(tool.kind == "tool_search" for tool in call.hosted_tools)
    tools = [_tool(tool, f"tools[{i}]", writing, searched) for i, tool in enumerate(call.tools)]
    tools += [
        hosted_tool_to_theirs(tool, f"hosted_tools[{i}]", computer, writing.warnings)
        for i, tool in enumerate(call.hosted_tools)
    ]
    if others is None:
        return tools
    if not isinstance(others, list) or not others:
        raise InvalidInputError("expected a list of definitions", path=path)
    for index, other in enumerate(cast("list[Any]", others)):
        if is_modelled(other, computer):
            raise InvalidInputError("the call has a field for this", path=f"{path}[{index}]")
        tools.append(other)
    return tools


def is_modelled(data: Any, computer: str) -> bool:
    """Whether the schema models a definition."""
    tool = as_object(data)
    return not tool or is_own_tool(tool) or hosted_tool_to_ours(tool, computer) is not None


def _tool(tool: ToolSpec, path: str, writing: RequestState, searched: bool) -> Object:
    """Returns a definition. `defer` is written if the call has a tool search; the API then refuses a cache point."""
    data = describe_tool(tool)
    data["input_schema"], strict = write_parameters(tool, path, ANTHROPIC, writing.warnings)
    if strict is not None:
        data["strict"] = strict
    if not (tool.defer and searched):
        return with_cache(data, tool, path, writing)
    data["defer_loading"] = True
    if tool.cache is not None:
        message = "a deferred tool accepts no cache point"
        writing.warnings.append(CallWarning("cache_left_out", f"{path}.cache", message, to_data(tool.cache)))
    return data


def tools_to_ours(
    values: Iterable[Any], computer: str, warnings: list[CallWarning]
) -> tuple[list[ToolSpec], list[HostedTool]]:
    """Returns the caller's tools and the hosted ones, as far as the schema models them."""
    tools: list[ToolSpec] = []
    hosted: list[HostedTool] = []
    given = [get_object(value, f"tools[{index}]") for index, value in enumerate(values)]
    searched = any((text_of(data, "type") or "").startswith(TOOL_SEARCH) for data in given)
    for index, data in enumerate(given):
        found = hosted_tool_to_ours(data, computer)
        if found is not None:
            hosted.append(found)
        elif is_own_tool(data):
            tools.append(_tool_to_ours(data, f"tools[{index}]", searched, warnings))
    return tools, hosted


def _tool_to_ours(data: Object, path: str, searched: bool, warnings: list[CallWarning]) -> ToolSpec:
    name_the_rest(data, _SEARCHED if searched else _FIELDS, path, warnings)
    schema = get_object(data.get("input_schema"), f"{path}.input_schema")
    strict = get_flag(data, "strict", f"{path}.")
    defer = searched and get_flag(data, "defer_loading", f"{path}.") is True
    with ErrorsAt(path):
        cache = cache_to_ours(data.get("cache_control"))
    return read_tool_spec(data, path, read_parameters(schema), strict=strict, cache=cache, defer=defer)


_CHOICES = {ToolChoice("auto"): "auto", ToolChoice("none"): "none", ToolChoice("required"): "any"}
_AUTO = ToolChoice("auto")


def choice_to_theirs(call: ModelCall, warnings: list[CallWarning]) -> Object:
    """Returns the field `tool_choice`, which includes `parallel_tool_calls`; empty if neither is set."""
    choice, parallel = call.tool_choice, call.parallel_tool_calls
    if choice is not None and choice.mode == "none":
        if parallel is not None:
            message = "no tools may be called"
            warnings.append(CallWarning("no_effect", "parallel_tool_calls", message, parallel))
        return {"tool_choice": {"type": "none"}}
    if choice == _AUTO and parallel is not None:
        message = "it is the default"
        warnings.append(CallWarning("no_effect", "tool_choice", message, to_data(choice)))
    if choice is None and parallel is None:
        return {}
    data: Object = {"type": _CHOICES.get(choice, "tool") if choice is not None else "auto"}
    if choice is not None and choice.tool is not None:
        data["name"] = choice.tool
    if parallel is not None:
        data["disable_parallel_tool_use"] = not parallel
    return {"tool_choice": data}


def choice_to_ours(value: Any) -> tuple[ToolChoice | None, bool | None]:
    """Reads `tool_choice` and `parallel_tool_calls`. "auto" together with the latter counts as not set."""
    if value is None:
        return None, None
    data = get_object(value, "tool_choice")
    kind = get_text(data.get("type"), "tool_choice.type")
    one = get_flag(data, "disable_parallel_tool_use", "tool_choice.")
    parallel = None if one is None else not one
    if kind == "tool":
        return ToolChoice("tool", get_text(data.get("name"), "tool_choice.name")), parallel
    choice = next((ours for ours, theirs in _CHOICES.items() if theirs == kind), None)
    if choice is None:
        raise InvalidInputError(f"unknown tool choice {kind!r}", path="tool_choice.type")
    return None if choice == _AUTO and parallel is not None else choice, parallel


_PATH = "output_config.format.schema"


def output_to_theirs(output: OutputSchema, warnings: list[CallWarning]) -> Object:
    """Returns the format of an answer; raises `InvalidInputError` for a schema that cannot be sent."""
    return {"type": "json_schema", "schema": bare_schema(output, ANTHROPIC, warnings)}


def output_to_ours(data: Any) -> OutputSchema | None:
    """Returns the schema in a request's `output_config`; None if there is none. Raises `InvalidInputError` with the
    path.
    """
    return named_schema(get_object(as_object(data["format"]).get("schema"), _PATH), _PATH) if has_output(data) else None


def has_output(config: Any) -> bool:
    """Whether a request's `output_config` contains a schema that a call can express."""
    asked = as_object(as_object(config).get("format"))
    return asked.get("type") == "json_schema" and asked.keys() == {"type", "schema"}
