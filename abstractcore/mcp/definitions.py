"""The definitions of a server's tools as `ToolSpec`s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..schema import CallWarning, SchemaError, ToolSpec
from ..schema.base_error import shown
from ..toolservers import UNTRUSTED_AND_SENDS, Definition, Labels, cleaned, cleaned_name, cleaned_schema, labels_of

if TYPE_CHECKING:
    from mcp_types import Tool as MCPTool

    from .listing import ListedTools

_LONGEST_NAME = 256
_LONGEST_DESCRIPTION = 16_000
_LONGEST_SCHEMA = 256_000


def definitions_of(
    listed: ListedTools, server: str, labels: Labels | None, *, defer: bool
) -> tuple[list[Definition], list[CallWarning]]:
    """Returns the definitions of a server's tools in its order, and a warning for each that cannot be offered.

    Characters that a person cannot see are removed. Labels that are not given follow from `openWorldHint`, which is
    true unless a server says otherwise (https://modelcontextprotocol.io/specification, `ToolAnnotations`).
    """
    found: dict[str, Definition] = {}
    warnings = [_left_out(name, server, problem) for name, problem in listed.invalid]
    for tool in listed.tools:
        name = cleaned_name(tool.name)
        problem = _problem(tool, name, found)
        if problem is None:
            try:
                found[name] = Definition.of(tool.name, _spec(tool, name, labels, defer=defer))
            except SchemaError as error:
                problem = str(error)
        if problem is not None:
            warnings.append(_left_out(tool.name, server, problem))
    return list(found.values()), warnings


def _left_out(name: str, server: str, problem: str) -> CallWarning:
    message = f"the tool {shown(name)} of the server {server} is not offered: {problem}"
    return CallWarning("tool_left_out", f"tools.{server}", message)


def _problem(tool: MCPTool, name: str, found: Mapping[str, Definition]) -> str | None:
    """Returns why a tool cannot be offered, if it cannot."""
    if not name:
        return "it has no name"
    if len(name) > _LONGEST_NAME:
        return f"its name has {len(name):,} characters (at most {_LONGEST_NAME})"
    if name in found:
        return "another one has the same name"
    if len(tool.description or "") > _LONGEST_DESCRIPTION:
        return f"its description has {len(tool.description or ''):,} characters (at most {_LONGEST_DESCRIPTION:,})"
    if len(repr(tool.input_schema)) > _LONGEST_SCHEMA:
        return f"the schema of its arguments is longer than {_LONGEST_SCHEMA:,} characters"
    return None


def _spec(tool: MCPTool, name: str, labels: Labels | None, *, defer: bool) -> ToolSpec:
    hints = tool.annotations
    read_only = hints is not None and hints.read_only_hint is True
    is_open = hints is None or hints.open_world_hint is not False
    return ToolSpec(
        name,
        cleaned(tool.description or tool.title or ""),
        cleaned_schema(tool.input_schema),
        read_only=read_only,
        idempotent=read_only or (hints is not None and hints.idempotent_hint is True),
        destructive=not read_only and (hints is None or hints.destructive_hint is not False),
        defer=defer,
        labels=labels_of(name, labels, default=UNTRUSTED_AND_SENDS if is_open else ()),
    )
