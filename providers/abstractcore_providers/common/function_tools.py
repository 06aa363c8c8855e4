"""Function tools and their calls as in OpenAI's chat format and similar ones: `{"type": "function", "function":
{...}}`.

Tool parameters: most vendors require an object schema, also for a tool without parameters. Schemas of answers: alone,
or as in OpenAI's formats with a name, a description and `strict`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from abstractcore.schema import (
    EMPTY,
    CachePoint,
    CallWarning,
    JSONObject,
    OutputSchema,
    SchemaError,
    ToolCall,
    ToolSpec,
    freeze_object,
)

from .call_options import read_options
from .conversations import received_arguments
from .json_schemas import SchemaRules
from .reading import ErrorsAt, Object, as_object, get_flag, get_object, get_text, name_the_rest, object_of, text_of

NO_PARAMETERS = freeze_object(
    {
        "type": "object",
        "description": "No parameters.",
        "properties": {},
        "required": (),
        "additionalProperties": False,
    }
)
"""The schema that is sent for a tool without parameters. OpenAI's strict mode requires the keywords; the description
distinguishes it from an equal schema of the caller's.
"""


def write_parameters(
    tool: ToolSpec, path: str, rules: SchemaRules, warnings: list[CallWarning]
) -> tuple[JSONObject, bool | None]:
    """Returns the schema of the parameters of the tool at `path`, and whether they are strict; raises as `fit_tool`
    does.
    """
    if tool.parameters and tool.parameters != NO_PARAMETERS:
        from .json_schemas.fitting import fit_tool

        return fit_tool(tool, path, rules, warnings)
    if tool.parameters:
        message = "it is the default for a tool without parameters"
        warnings.append(CallWarning("no_effect", f"{path}.parameters", message, tool.parameters))
    return NO_PARAMETERS, tool.strict


def read_parameters(schema: JSONObject) -> JSONObject:
    """Reads the parameters in a client's request; empty if the schema has none."""
    same = len(schema) == len(NO_PARAMETERS) and freeze_object(schema) == NO_PARAMETERS
    return EMPTY if same else schema


def describe_tool(tool: ToolSpec) -> Object:
    """Returns the name of a tool, and its description if it has one."""
    return {"name": tool.name, "description": tool.description} if tool.description else {"name": tool.name}


def read_tool_spec(
    data: Object,
    path: str,
    parameters: JSONObject,
    *,
    strict: bool | None = None,
    cache: CachePoint | None = None,
    defer: bool = False,
) -> ToolSpec:
    """Reads the tool at `path` in a client's request; raises `InvalidInputError` with the path of what is wrong."""
    with ErrorsAt(path):
        name, description = get_text(data.get("name"), f"{path}.name"), text_of(data, "description") or ""
        return ToolSpec(name, description, parameters, strict, cache=cache, defer=defer)


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


_UNNAMED = "output"


def bare_schema(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> JSONObject:
    """Returns the schema adapted to these rules, with its name as title, and a warning for what cannot be sent.

    Raises `InvalidInputError` for a schema that cannot be sent.
    """
    from .json_schemas.fitting import fit_output

    sent, _ = fit_output(output, rules, warnings)
    name = _name_of(sent)
    if name != output.name:
        message = "the name of a schema is sent only as its title"
        warnings.append(CallWarning("name_left_out", "output.name", message, output.name, name))
    if output.description is not None:
        message = "a description is sent only within the schema"
        warnings.append(CallWarning("description_left_out", "output.description", message, output.description))
    if not output.strict:
        warnings.append(CallWarning("always_strict", "output.strict", "schemas are always enforced", False, True))
    return sent


def named_schema(schema: Mapping[str, Any], path: str) -> OutputSchema:
    """Reads a client's schema at `path`; raises `SchemaError` with the path of an invalid one."""
    try:
        return OutputSchema(_name_of(schema), schema)
    except SchemaError as error:
        raise SchemaError(error.message, error.path.replace("schema", path, 1)) from None


def write_output(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> Object:
    """Returns the adapted schema with its name, as in OpenAI's formats; raises `InvalidInputError` if it cannot be
    sent.
    """
    from .json_schemas.fitting import fit_output

    sent, strict = fit_output(output, rules, warnings)
    described: Object = {} if output.description is None else {"description": output.description}
    return {"name": output.name, **described, "schema": sent, "strict": strict}


def read_output(value: Any, path: str) -> OutputSchema:
    """Reads a client's schema with its name at `path`; raises `InvalidInputError` with the path of what is wrong."""
    data = get_object(value, path)
    with ErrorsAt(path):
        return OutputSchema(
            name=get_text(data.get("name"), f"{path}.name"),
            schema=as_object(data.get("schema")),
            description=text_of(data, "description"),
            strict=get_flag(data, "strict", f"{path}.") or False,
        )


def _name_of(schema: Mapping[str, Any]) -> str:
    title = schema.get("title")
    return title if isinstance(title, str) else _UNNAMED
