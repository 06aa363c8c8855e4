"""Function tools and their calls as in OpenAI's chat format and similar ones: `{"type": "function", "function":
{...}}`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from abstractcore.schema import EMPTY, CallWarning, ToolCall, ToolSpec

from .item_options import read_options
from .json_reading import Object, object_of, text_of
from .json_schemas import SchemaRules
from .raw_arguments import received_arguments
from .reading import get_flag, get_object, get_text, name_the_rest
from .tool_parameters import describe_tool, read_parameters, read_tool_spec, write_parameters

_TOOL = frozenset({"type", "function"})
_FUNCTION = frozenset({"name", "description", "parameters"})
_STRICT = _FUNCTION | {"strict"}
_CALLED = frozenset({"name", "arguments"})


def write_function_tool(
    tool: ToolSpec,
    path: str,
    rules: SchemaRules,
    warnings: list[CallWarning],
    *,
    own_strict: bool = False,
    described: bool = False,
) -> Object:
    """Writes the tool at `path`.

    With `own_strict`, each tool has its own `strict`; with `described`, each has a description.
    """
    function = describe_tool(tool) | ({"description": tool.description} if described else {})
    function["parameters"], strict = write_parameters(tool, path, rules, warnings)
    if own_strict and strict is not None:
        function["strict"] = strict
    return {"type": "function", "function": function}


def read_function_tool(
    value: Any, path: str, warnings: list[CallWarning], *, strict: bool | None = None, own_strict: bool = False
) -> ToolSpec:
    """Reads the tool in a client's request. `strict` is that of all tools; with `own_strict`, each tool has its own.

    Raises `InvalidInputError` with the path of what is wrong.
    """
    data, function_path = get_object(value, path), f"{path}.function"
    function = get_object(data.get("function"), function_path)
    name_the_rest(data, _TOOL, path, warnings)
    name_the_rest(function, _STRICT if own_strict else _FUNCTION, function_path, warnings)
    parameters = function.get("parameters")
    schema = EMPTY if parameters is None else read_parameters(get_object(parameters, f"{function_path}.parameters"))
    strict = get_flag(function, "strict", f"{function_path}.") if own_strict else strict
    return read_tool_spec(function, function_path, schema, strict=strict)


def write_function_call(id: str, name: str, arguments: Any) -> Object:
    """Writes a call of a function."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def decode_function_call(call: Object, known: Collection[str], provider: str) -> ToolCall:
    """Reads the call in a reply; its id may be empty. `known` are the fields that are not options."""
    function = object_of(call, "function")
    name, arguments = text_of(function, "name") or "", received_arguments(function.get("arguments"))
    return ToolCall(text_of(call, "id") or "", name, arguments, provider_options=read_options(call, known, provider))


def read_function_call(
    value: Any,
    path: str,
    known: Collection[str],
    provider: str,
    warnings: list[CallWarning],
    *,
    needs_arguments: bool = True,
) -> ToolCall:
    """Reads the call in a client's message; raises `InvalidInputError` with the path of what is wrong."""
    call, function_path = get_object(value, path), f"{path}.function"
    function = get_object(call.get("function"), function_path)
    name_the_rest(function, _CALLED, function_path, warnings)
    arguments = function.get("arguments")
    return ToolCall(
        get_text(call.get("id"), f"{path}.id"),
        get_text(function.get("name"), f"{function_path}.name"),
        "" if arguments is None and not needs_arguments else get_text(arguments, f"{function_path}.arguments"),
        provider_options=read_options(call, known, provider),
    )
