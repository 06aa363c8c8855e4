"""`OfferedTool`: a tool as an MCP server lists it, and the JSON Schema of its results."""

from __future__ import annotations

import copy
import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import mcp_types as types
from pydantic import TypeAdapter

from ...errors import InvalidInputError
from ...schema import ToolSpec
from ...schema.base_error import shown
from ...tools.signatures import definition_of, is_argument_type
from ...tools.tool import Tool

_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""The names that clients accept (specification 2025-11-25, Server Features, Tools, "Tool Names")."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of a server. `output_schema` describes its structured content; None if that is unknown.

    With `data_is_output`, the structured content is the `data` of the `ToolOutput` that it returns.
    """

    tool: Tool[..., Any]
    output_schema: Mapping[str, Any] | None = None
    data_is_output: bool = False

    @classmethod
    def of(cls, tool: Tool[..., Any]) -> OfferedTool:
        """Returns the tool with the schema of what its function is annotated to return."""
        return cls(tool, output_schema_of(tool))

    @property
    def description(self) -> types.Tool:
        """The tool as `tools/list` has it."""
        spec = self.tool.spec
        return types.Tool(
            name=spec.name,
            description=spec.description or None,
            input_schema=_input_schema(spec),
            output_schema=None if self.output_schema is None else dict(self.output_schema),
            annotations=_annotations(spec),
        )


def tools_by_name(tools: Iterable[OfferedTool]) -> dict[str, OfferedTool]:
    """Returns the tools by name; raises `InvalidInputError` for two of one name, and for names that clients refuse."""
    found: dict[str, OfferedTool] = {}
    for each in tools:
        name = each.tool.spec.name
        if _NAME.fullmatch(name) is None:
            raise InvalidInputError(
                f"{shown(name)} cannot be the name of an MCP tool: 1 to 128 letters, digits, '_', '-' and '.' can",
                path="tools",
                hint='Give it another name: @tool(name="NAME").',
            )
        if name in found:
            raise InvalidInputError(
                f"two tools are named {shown(name)}", path="tools", hint='Rename one: @tool(name="NAME").'
            )
        found[name] = each
    return found


def output_schema_of(tool: Tool[..., Any]) -> dict[str, Any] | None:
    """Returns the JSON Schema of the objects that a tool returns; None if it is not annotated to return objects."""
    returned: Any = tool.function if tool.is_type else _return_type(tool)
    is_type = is_argument_type(returned) and returned.__module__.partition(".")[0] != "abstractcore"
    if not is_type and typing.get_origin(returned) not in (dict, Mapping):
        return None
    try:
        schema = TypeAdapter[Any](returned).json_schema(mode="serialization")
    except Exception:  # hooks of types may raise any exception: the result is text then
        return None
    return schema if schema.get("type") == "object" else None


def _return_type(tool: Tool[..., Any]) -> Any:
    try:
        return typing.get_type_hints(definition_of(tool.function), include_extras=True).get("return")
    except Exception:  # an annotation whose names cannot be resolved here
        return None


def _input_schema(spec: ToolSpec) -> dict[str, Any]:
    schema = cast("dict[str, Any]", copy.deepcopy(spec.parameters))
    return {"type": "object", **schema}


def _annotations(spec: ToolSpec) -> types.ToolAnnotations | None:
    """Returns the hints that the tool declares. A flag that is not set declares nothing."""
    reaches_out = bool({"untrusted", "sends"} & set(spec.labels))
    hints = types.ToolAnnotations(
        read_only_hint=spec.read_only or None,
        destructive_hint=spec.destructive or None,
        idempotent_hint=spec.idempotent or None,
        open_world_hint=reaches_out if spec.labels else None,
    )
    return hints if hints.model_dump(exclude_none=True) else None
