"""`OfferedTools`: the tools of a call, by the names that models write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from ...schema import JSONObject, ToolSpec

_NAMESPACES: Final = ("functions.", "default_api.", "tools.")
"""What models of OpenAI, Moonshot and Google put before names."""
_NAME: Final = re.compile(r"[^\s<>{}\[\]()\"'`,;=|\\\ud800-\udfff]{1,128}")
_JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


class OfferedTools:
    """The tools that a model may call."""

    __slots__ = ("_tools",)

    def __init__(self, tools: Iterable[ToolSpec]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def named(self, text: object) -> str | None:
        """Returns the name of the tool that `text` means; None if `text` cannot be a name."""
        if not isinstance(text, str):
            return None
        name = text.strip()
        if name in self._tools:
            return name
        for namespace in _NAMESPACES:
            if name.startswith(namespace) and name[len(namespace) :] in self._tools:
                return name[len(namespace) :]
        return name if _NAME.fullmatch(name) else None

    def parameters(self, name: str) -> tuple[str, ...]:
        """Returns the names of a tool's parameters in order; none for a tool that is not offered."""
        return tuple(_properties(self._schema(name)))

    def types(self, name: str, parameter: str) -> frozenset[str]:
        """Returns the JSON types that a parameter accepts; empty if unknown."""
        schema = self._schema(name)
        return frozenset(_types(_properties(schema).get(parameter), schema, 0))

    def _schema(self, name: str) -> JSONObject:
        tool = self._tools.get(name)
        return tool.parameters if tool is not None else {}


def json_type(value: object) -> str:
    """Returns the JSON type of a value."""
    return _JSON_TYPES.get(type(value), "object")


def _properties(schema: JSONObject) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}


def _types(schema: object, root: JSONObject, depth: int) -> set[str]:
    if not isinstance(schema, Mapping) or depth > 8:
        return set()
    node = cast("Mapping[str, Any]", schema)
    if "$ref" in node:
        definitions: Any = root.get("$defs") or root.get("definitions") or {}
        return _types(definitions.get(str(node["$ref"]).rpartition("/")[2]), root, depth + 1)
    given = node.get("type")
    if given is not None:
        return {given} if isinstance(given, str) else set(given)
    if "enum" in node or "const" in node:
        return {json_type(value) for value in node.get("enum", [node.get("const")])}
    choices: list[Any] = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]
    found = [_types(choice, root, depth + 1) for choice in choices]
    none: set[str] = set()
    return none.union(*found) if all(found) else none
