"""Tools as OpenAI's chat format writes them, which others have taken up: `{"type": "function", "function": {...}}`."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import CallWarning, SchemaError, ToolSpec

from .json_reading import Object, text_of
from .json_schemas import SchemaRules
from .reading import get_flag, get_object, get_text, name_the_rest
from .tool_parameters import read_parameters, write_parameters

_TOOL = frozenset({"type", "function"})
_FUNCTION = frozenset({"name", "description", "parameters"})
_STRICT = _FUNCTION | {"strict"}


def write_function_tool(tool: ToolSpec, path: str, rules: SchemaRules, warnings: list[CallWarning]) -> Object:
    """The tool at `path`, for vendors that are not told of each tool whether its arguments are strict."""
    parameters, _ = write_parameters(tool, path, rules, warnings)
    function: Object = {"name": tool.name, "parameters": parameters}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}


def read_function_tool(
    value: Any, path: str, warnings: list[CallWarning], *, strict: bool | None = None, own_strict: bool = False
) -> ToolSpec:
    """The tool in a client's request. `strict` is said of all tools; with `own_strict`, each tool says it of itself.

    Raises `InvalidInputError` and `SchemaError` with the path of what is wrong.
    """
    data, place = get_object(value, path), f"{path}.function"
    function = get_object(data.get("function"), place)
    name_the_rest(data, _TOOL, path, warnings)
    name_the_rest(function, _STRICT if own_strict else _FUNCTION, place, warnings)
    parameters = function.get("parameters")
    try:
        return ToolSpec(
            name=get_text(function.get("name"), f"{place}.name"),
            description=text_of(function, "description") or "",
            parameters={} if parameters is None else read_parameters(get_object(parameters, f"{place}.parameters")),
            strict=get_flag(function, "strict", f"{place}.") if own_strict else strict,
        )
    except SchemaError as error:
        raise error.at(place) from None
