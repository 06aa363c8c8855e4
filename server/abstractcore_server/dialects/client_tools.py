"""Tools of types of a client's API that the client runs, as functions: what they have in common, and OpenAI's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import EMPTY, SchemaError, ToolSpec

TEXT = "input"
"""The argument of a function whose calls are one text in the client's API."""
_TEXT_PARAMETERS = {"type": "object", "properties": {TEXT: {"type": "string"}}, "required": [TEXT]}


@dataclass(frozen=True, slots=True)
class ClientToolFunction:
    """A tool as the function `spec`.

    The client gets its calls with the name `name` and the `options`, fields that distinguish them from calls of
    functions, and with an option `id` that begins with `id_prefix`, if there is one. `defaults` are arguments that the
    client's API requires and the function does not have. With `is_text`, the arguments are one text there. `loss`
    describes what the function lacks, for a warning.
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


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}
_LOCAL_SHELL = schema(
    {
        "command": {**_TEXTS, "description": "The program and its arguments."},
        "env": {"type": "object", "additionalProperties": _TEXT},
        "timeout_ms": _NUMBER,
        "user": _TEXT,
        "working_directory": _TEXT,
    },
    ["command"],
)
_SHELL = schema(
    {
        "commands": {**_TEXTS, "description": "The command lines to run."},
        "timeout_ms": _NUMBER,
        "max_output_length": {**_NUMBER, "description": "The most characters of output that are returned."},
    },
    ["commands"],
)
_APPLY_PATCH = schema(
    {
        "type": {"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
        "path": _TEXT,
        "diff": {
            **_TEXT,
            "description": "The V4A diff of the file, without headers, unless it is deleted: lines that begin with '+' "
            "are added, with '-' removed, with ' ' kept; '@@' and a line of the file name a place.",
        },
    },
    ["type", "path"],
)
_BUILT_IN: dict[str, ClientToolFunction] = {
    "local_shell": ClientToolFunction(
        client_function("local_shell", "Runs a program on the user's machine.", _LOCAL_SHELL),
        "local_shell",
        {"type": "local_shell_call"},
        {"type": "exec", "env": {}},
        id_prefix="lsh_",
    ),
    "shell": ClientToolFunction(
        client_function("shell", "Runs command lines in a shell on the user's machine.", _SHELL),
        "shell",
        {"type": "shell_call", "environment": {"type": "local"}},
    ),
    "apply_patch": ClientToolFunction(
        client_function("apply_patch", "Creates, updates or deletes a file.", _APPLY_PATCH),
        "apply_patch",
        {"type": "apply_patch_call"},
    ),
}
_REFUSED = ("computer", "computer_use_preview")


def chat_tools(definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
    """Returns the functions for a tool of chat completions; None for one that the provider runs. Raises
    `InvalidInputError` for wrong values.
    """
    if definition.get("type") != "custom":
        return None
    custom: Any = definition.get("custom")
    if not isinstance(custom, Mapping):
        raise InvalidInputError("expected an object", path="tools.custom")
    return (_custom(cast("Mapping[str, Any]", custom), {"type": "custom"}),)


def responses_tools(definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
    """Returns the functions for a tool of responses; None for one that the provider runs. Raises `InvalidInputError`
    for wrong values, and `UnsupportedContentError` for a computer.
    """
    kind = str(definition.get("type"))
    if kind in _REFUSED:
        refuse_client_tool(kind)
    if kind == "shell" and _is_hosted(definition.get("environment")):
        return None
    if kind in _BUILT_IN:
        return (_BUILT_IN[kind],)
    read = _READ.get(kind)
    return None if read is None else read(definition)


def _is_hosted(environment: object) -> bool:
    return isinstance(environment, Mapping) and cast("Mapping[str, Any]", environment).get("type") != "local"


def _custom_tools(definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...]:
    return (_custom(definition, {"type": "custom_tool_call"}),)


def _custom(definition: Mapping[str, Any], options: Mapping[str, Any]) -> ClientToolFunction:
    spec, loss = text_function(definition.get("name"), definition.get("description"), definition.get("format"))
    return ClientToolFunction(spec, spec.name, options, is_text=True, loss=loss)


def _searches(definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
    """Returns the function for a tool search that the client runs."""
    if definition.get("execution") != "client":
        return None
    spec = client_function("tool_search", definition.get("description"), definition.get("parameters"))
    return (ClientToolFunction(spec, "tool_search", {"type": "tool_search_call", "execution": "client"}),)


def _namespace(definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...]:
    """Returns the functions of a namespace, whose names begin with its own."""
    tools: Any = definition.get("tools")
    name = definition.get("name")
    if not isinstance(tools, list) or not isinstance(name, str):
        raise InvalidInputError("a namespace needs a name and a list of tools", path="tools")
    return tuple(_in_namespace(name, tool) for tool in cast("list[Any]", tools))


def _in_namespace(namespace: str, definition: Any) -> ClientToolFunction:
    if not isinstance(definition, Mapping):
        raise InvalidInputError("expected an object", path="tools.tools")
    given = cast("Mapping[str, Any]", definition)
    tool = _custom(given, {"type": "custom_tool_call"}) if given.get("type") == "custom" else _function(given)
    spec = replace(tool.spec, name=name_in_namespace(namespace, tool.name))
    return replace(tool, spec=spec, options={**tool.options, "namespace": namespace})


def _function(definition: Mapping[str, Any]) -> ClientToolFunction:
    spec = client_function(*(definition.get(name) for name in ("name", "description", "parameters", "strict")))
    return ClientToolFunction(spec, spec.name)


def name_in_namespace(namespace: str, name: str) -> str:
    """Returns the name of the function for a tool of a namespace."""
    return f"{namespace}{'' if namespace.endswith('_') else '__'}{name}"


_READ: dict[str, Callable[[Mapping[str, Any]], tuple[ClientToolFunction, ...] | None]] = {
    "custom": _custom_tools,
    "function": lambda definition: (_function(definition),),
    "namespace": _namespace,
    "tool_search": _searches,
}
