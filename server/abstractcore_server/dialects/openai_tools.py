"""Tools of OpenAI's own types that its clients run, as functions.

The arguments are the fields of their calls in the types of the openai package 3.54: `LocalShellCallAction`,
`response_function_shell_tool_call.Action` and `response_apply_patch_tool_call.Operation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from abstractcore.errors import InvalidInputError

from .client_tools import ClientTool, client_function, refuse_client_tool, schema, text_function

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
_BUILT_IN: dict[str, ClientTool] = {
    "local_shell": ClientTool(
        client_function("local_shell", "Runs a program on the user's machine.", _LOCAL_SHELL),
        "local_shell",
        {"type": "local_shell_call"},
        {"type": "exec", "env": {}},
        id_prefix="lsh_",
    ),
    "shell": ClientTool(
        client_function("shell", "Runs command lines in a shell on the user's machine.", _SHELL),
        "shell",
        {"type": "shell_call", "environment": {"type": "local"}},
    ),
    "apply_patch": ClientTool(
        client_function("apply_patch", "Creates, updates or deletes a file.", _APPLY_PATCH),
        "apply_patch",
        {"type": "apply_patch_call"},
    ),
}
_REFUSED = ("computer", "computer_use_preview")


def chat_tools(definition: Mapping[str, Any]) -> tuple[ClientTool, ...] | None:
    """Returns the functions for a tool of chat completions; None for one that the provider runs. Raises
    `InvalidInputError` for wrong values.
    """
    if definition.get("type") != "custom":
        return None
    custom: Any = definition.get("custom")
    if not isinstance(custom, Mapping):
        raise InvalidInputError("expected an object", path="tools.custom")
    return (_custom(cast("Mapping[str, Any]", custom), {"type": "custom"}),)


def responses_tools(definition: Mapping[str, Any]) -> tuple[ClientTool, ...] | None:
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


def _custom_tools(definition: Mapping[str, Any]) -> tuple[ClientTool, ...]:
    return (_custom(definition, {"type": "custom_tool_call"}),)


def _custom(definition: Mapping[str, Any], options: Mapping[str, Any]) -> ClientTool:
    spec, loss = text_function(definition.get("name"), definition.get("description"), definition.get("format"))
    return ClientTool(spec, spec.name, options, is_text=True, loss=loss)


def _searches(definition: Mapping[str, Any]) -> tuple[ClientTool, ...] | None:
    """Returns the function for a tool search that the client runs."""
    if definition.get("execution") != "client":
        return None
    spec = client_function("tool_search", definition.get("description"), definition.get("parameters"))
    return (ClientTool(spec, "tool_search", {"type": "tool_search_call", "execution": "client"}),)


def _namespace(definition: Mapping[str, Any]) -> tuple[ClientTool, ...]:
    """Returns the functions of a namespace, whose names begin with its own."""
    tools: Any = definition.get("tools")
    name = definition.get("name")
    if not isinstance(tools, list) or not isinstance(name, str):
        raise InvalidInputError("a namespace needs a name and a list of tools", path="tools")
    return tuple(_in_namespace(name, tool) for tool in cast("list[Any]", tools))


def _in_namespace(namespace: str, definition: Any) -> ClientTool:
    if not isinstance(definition, Mapping):
        raise InvalidInputError("expected an object", path="tools.tools")
    given = cast("Mapping[str, Any]", definition)
    tool = _custom(given, {"type": "custom_tool_call"}) if given.get("type") == "custom" else _function(given)
    spec = replace(tool.spec, name=name_in_namespace(namespace, tool.name))
    return replace(tool, spec=spec, options={**tool.options, "namespace": namespace})


def _function(definition: Mapping[str, Any]) -> ClientTool:
    spec = client_function(*(definition.get(name) for name in ("name", "description", "parameters", "strict")))
    return ClientTool(spec, spec.name)


def name_in_namespace(namespace: str, name: str) -> str:
    """Returns the name of the function for a tool of a namespace."""
    return f"{namespace}{'' if namespace.endswith('_') else '__'}{name}"


_READ: dict[str, Callable[[Mapping[str, Any]], tuple[ClientTool, ...] | None]] = {
    "custom": _custom_tools,
    "function": lambda definition: (_function(definition),),
    "namespace": _namespace,
    "tool_search": _searches,
}
