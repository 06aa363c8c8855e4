"""`OfferedTools`: the tools of a call, by the names that models write.

What a parser finds in a model's text: calls, reasoning, and the protocol of parsers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, cast

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


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A tool call found in text. `arguments_text` is JSON, or the model's text if it cannot be read as JSON.

    `repair` describes what was wrong with the text of the call, such as "trailing comma".
    """

    name: str
    arguments_text: str = "{}"
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedReasoning:
    """Reasoning that the format marks as such: ReAct's thoughts, Harmony's analysis channel."""

    text: str


Piece: TypeAlias = str | ParsedCall | ParsedReasoning
"""Text of the answer, a call, or reasoning."""


class CallParser(Protocol):
    """Finds calls in the text of one reply, however the text is split.

    Text without a marker of the format is returned unchanged. White space between a text and a call is dropped.
    """

    @property
    def cut_at(self) -> str | None:
        """The marker of an invented tool result or turn: the text from there on was dropped."""
        ...

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call, and complete calls."""
        ...

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the rest. A call without its end is completed, unless the reply is `truncated`: then it is text."""
        ...
