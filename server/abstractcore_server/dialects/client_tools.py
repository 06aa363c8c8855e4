"""`ClientTool`: a tool of one API's own type that its clients run, as a function for models of other APIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import EMPTY, SchemaError, ToolSpec

TEXT = "input"
"""The argument of a function whose calls are one text in the client's API."""
_TEXT_PARAMETERS = {"type": "object", "properties": {TEXT: {"type": "string"}}, "required": [TEXT]}


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool as the function `spec`.

    The client gets its calls with the name `name` and the `options`, fields that tell them from calls of functions, and
    with an option `id` that begins with `id_prefix`, if there is one. `defaults` are arguments that the client's API
    requires and the function does not have. With `is_text`, the arguments are one text there. `loss` describes what the
    function lacks, for a warning.
    """

    spec: ToolSpec
    name: str
    options: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    defaults: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    id_prefix: str = ""
    is_text: bool = False
    loss: str = ""

    @property
    def is_function(self) -> bool:
        """Whether its calls are those of the function."""
        return self.spec.name == self.name and not (self.options or self.is_text)


def client_function(name: object, description: object, parameters: object, strict: object = None) -> ToolSpec:
    """Returns the function that stands for a tool of a request; raises `InvalidInputError` for wrong values."""
    if strict is not None and not isinstance(strict, bool):
        raise InvalidInputError(f"expected true or false, got {type(strict).__name__}", path="tools.strict")
    try:
        return ToolSpec(_text(name, "name"), _text(description, "description"), _object(parameters), strict)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=f"tools.{error.path}") from None


def text_function(name: object, description: object, format: object) -> tuple[ToolSpec, str]:
    """Returns the function for a tool whose input is a text, and what it lacks: a function cannot be held to the
    grammar that `format` may have, so that the description has it.
    """
    lines, loss = [_text(description, "description")], ""
    grammar = _grammar_of(format)
    if grammar.get("definition"):
        lines.append(f"The argument {TEXT!r} is a text of this {grammar.get('syntax')} grammar, and nothing else:")
        lines.append(str(grammar["definition"]))
        loss = f"the grammar of {name!r} is in its description, and nothing enforces it"
    return client_function(name, "\n\n".join(line for line in lines if line), _TEXT_PARAMETERS), loss


def _grammar_of(format: object) -> Mapping[str, Any]:
    """Returns the grammar of a format, in a field of its own or beside the type; empty if it has none."""
    given: Mapping[str, Any] = cast("Mapping[str, Any]", format) if isinstance(format, Mapping) else {}
    if given.get("type") != "grammar":
        return {}
    inner: object = given.get("grammar")
    return cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else given


def schema(properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    """Returns the JSON Schema of an object."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def refuse_client_tool(kind: str) -> NoReturn:
    """Raises `UnsupportedContentError` for a tool that clients run and no function can stand for."""
    raise UnsupportedContentError(
        f"tools: the calls of {kind!r} are in terms of the client's API, which models of other APIs do not know.",
        hint="Leave it out, define functions in its place, or choose a model of that API.",
    )


def _text(value: object, name: str) -> str:
    if value is None and name == "description":
        return ""
    if isinstance(value, str):
        return value
    raise InvalidInputError(f"expected a text, got {type(value).__name__}", path=f"tools.{name}")


def _object(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    raise InvalidInputError(f"expected an object, got {type(value).__name__}", path="tools.parameters")
