"""Tool parameters: most vendors require an object schema, also for a tool without parameters."""

from __future__ import annotations

from abstractcore.schema import EMPTY, CachePoint, CallWarning, JSONObject, ToolSpec, freeze_object

from .json_reading import Object, text_of
from .json_schemas import SchemaRules
from .reading import ErrorsAt, get_text

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
