"""Tools and the tool choice, written and read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, HostedTool, HostedToolKind, ModelCall, ToolChoice, ToolSpec

from ...common.call_options import unsupported
from ...common.delta_writer import BodyWriter
from ...common.function_tools import describe_tool, read_tool_spec
from ...common.json_schemas import GEMINI
from ...common.reading import Object, as_object, get_object, name_the_rest, text_of
from .vocabulary import HOSTED_TOOLS, WARNINGS

_KINDS: dict[str, HostedToolKind] = {theirs: ours for ours, theirs in HOSTED_TOOLS.items()}
_FUNCTION = frozenset({"type", "name", "description", "parameters"})
_MODES = {"auto": "auto", "none": "none", "required": "any"}
_ANY = "any"


def write_tools(call: ModelCall, writer: BodyWriter) -> list[Object]:
    """Returns the functions, then the hosted tools.

    Raises `InvalidInputError` for a schema that cannot be sent, and for a type among the options of a hosted tool, and
    `UnsupportedContentError` for a hosted tool that the format does not have.
    """
    if any(tool.kind not in HOSTED_TOOLS for tool in call.hosted_tools):
        raise WARNINGS.hosted_tools(call, HOSTED_TOOLS)
    tools = [_write_function(tool, f"tools[{i}]", writer) for i, tool in enumerate(call.tools)]
    for index, tool in enumerate(call.hosted_tools):
        if "type" in tool.options:
            path = f"hosted_tools[{index}].options.type"
            raise InvalidInputError("the kind of the tool is its type", path=path, hint="Remove the option.")
        tools.append({"type": HOSTED_TOOLS[tool.kind], **tool.options})
    return tools


def _write_function(tool: ToolSpec, path: str, writer: BodyWriter) -> Object:
    from ...common.json_schemas.fitting import fit_tool

    WARNINGS.fields(tool, path, ("cache",), writer.warnings)
    if tool.strict is not None:
        writer.warnings.append(unsupported(f"{path}.strict", tool.strict, "strict arguments for a single tool"))
    function: Object = {"type": "function", **describe_tool(tool)}
    parameters, _ = fit_tool(tool, path, GEMINI, writer.warnings)
    if parameters:
        function["parameters"] = parameters
    return function


def is_other_tool(value: Any) -> bool:
    """Whether `value` is a tool that a call has no field for, such as a remote MCP server."""
    kind = text_of(as_object(value), "type")
    return kind is not None and kind != "function" and kind not in _KINDS


def read_tools(tools: Iterable[Any], warnings: list[CallWarning]) -> tuple[list[ToolSpec], list[HostedTool]]:
    """Reads the functions and the hosted tools that a call can express.

    Raises `InvalidInputError` with the path of what is wrong.
    """
    functions: list[ToolSpec] = []
    hosted: list[HostedTool] = []
    for index, value in enumerate(tools):
        path = f"tools[{index}]"
        data = get_object(value, path)
        kind = text_of(data, "type")
        if kind in _KINDS:
            hosted.append(HostedTool(_KINDS[kind], {name: value for name, value in data.items() if name != "type"}))
        elif kind == "function":
            name_the_rest(data, _FUNCTION, path, warnings)
            schema = data.get("parameters")
            parameters = {} if schema is None else get_object(schema, f"{path}.parameters")
            functions.append(read_tool_spec(data, path, parameters))
        elif kind is None:
            raise InvalidInputError("expected the type of a tool", path=f"{path}.type", hint="Use 'function'.")
    return functions, hosted


def write_tool_choice(choice: ToolChoice) -> Any:
    """Returns the mode, or the only tool that may be called."""
    if choice.mode == "tool":
        return {"allowed_tools": {"mode": _ANY, "tools": [choice.tool]}}
    return _MODES[choice.mode]


def read_tool_choice(value: Any) -> ToolChoice | None:
    """Reads the choice; None if there is none, or one that a call cannot express, such as several tools."""
    if isinstance(value, str):
        return next((ToolChoice(cast(Any, ours)) for ours, theirs in _MODES.items() if theirs == value), None)
    choice = as_object(value)
    allowed = as_object(choice.get("allowed_tools"))
    names = allowed.get("tools")
    one = isinstance(names, list) and len(cast("list[Any]", names)) == 1 and isinstance(names[0], str)
    if not one or len(choice) != 1 or allowed.keys() != {"mode", "tools"} or allowed["mode"] != _ANY:
        return None
    return ToolChoice("tool", cast("list[str]", names)[0])
