"""Tools and `tool_choice`, written and read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast, get_args

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, HostedTool, ToolChoice, ToolSpec
from abstractcore.schema.tools import HostedToolKind

from ...common.function_tools import describe_tool, read_tool_spec
from ...common.json_schemas import OPENAI
from ...common.reading import Object, get_flag, get_object, get_text, name_the_rest, text_of

_TYPES: dict[HostedToolKind, tuple[str, ...]] = {
    "web_search": (
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    ),
    "code_interpreter": ("code_interpreter",),
    "file_search": ("file_search",),
    "computer_use": ("computer", "computer_use_preview"),
    "tool_search": ("tool_search",),
}
"""The types of hosted tools; the first is the default."""
assert set(_TYPES) == set(get_args(HostedToolKind))
_KINDS: dict[str, HostedToolKind] = {type: kind for kind, types in _TYPES.items() for type in types}
_DEFAULTS: dict[str, Object] = {"code_interpreter": {"container": {"type": "auto"}}}
"""Required fields of a tool of a type, with their usual values."""
_FUNCTION = frozenset({"type", "name", "description", "parameters", "strict"})
_SEARCHED = _FUNCTION | {"defer_loading"}
"""The fields of functions in a request with a tool search."""


def is_other_tool(value: Any) -> bool:
    """Whether `value` is a tool that a call has no field for, such as a remote MCP server."""
    data = cast(Object, value) if isinstance(value, dict) else {}
    kind = data.get("type")
    return isinstance(kind, str) and kind != "function" and (kind not in _KINDS or _runs_at_client(data))


def _runs_at_client(data: Object) -> bool:
    """Whether it is a tool search whose calls the caller answers, with tools of its own schema."""
    return data.get("type") == "tool_search" and data.get("execution") == "client"


def write_tool(tool: ToolSpec, path: str, warnings: list[CallWarning], *, searched: bool = False) -> Object:
    """Returns a function; without `strict`, the provider decides. `defer` is written if the call has a tool search.

    Raises `InvalidInputError` for a schema that cannot be sent.
    """
    from ...common.json_schemas.fitting import fit_tool

    parameters, strict = fit_tool(tool, path, OPENAI, warnings)
    return {
        "type": "function",
        **describe_tool(tool),
        "parameters": parameters or None,
        "strict": strict,
        **({"defer_loading": True} if tool.defer and searched else {}),
    }


def write_hosted_tool(tool: HostedTool, path: str, warnings: list[CallWarning]) -> Object:
    """Returns a hosted tool, with a warning for options that equal the defaults.

    Raises `InvalidInputError` if the options are those of another tool.
    """
    type = tool.options.get("type") or _TYPES[tool.kind][0]
    if type not in _TYPES[tool.kind]:
        raise InvalidInputError(
            f"{type!r} is not a type of {tool.kind}",
            path=f"{path}.options.type",
            hint=f"Use {' or '.join(map(repr, _TYPES[tool.kind]))}.",
        )
    given = {name: value for name, value in tool.options.items() if value is not None}
    written: Object = {"type": type, **_DEFAULTS.get(str(type), {}), **given}
    if _runs_at_client(written):
        raise InvalidInputError(
            "a tool search that you run is not hosted",
            path=f"{path}.options.execution",
            hint="Leave it out, or put the tool into provider_options={'openai-responses': {'tools': [...]}}.",
        )
    new = _hosted(written).options
    if new != tool.options:
        message = "some of these are sent by default"
        warnings.append(CallWarning("no_effect", f"{path}.options", message, tool.options, new or None))
    return written


def _hosted(data: Object) -> HostedTool:
    type = str(data["type"])
    kind, defaults = _KINDS[type], _DEFAULTS.get(type, {})
    options = {name: value for name, value in data.items() if name != "type" and defaults.get(name) != value}
    return HostedTool(kind, options if type == _TYPES[kind][0] else {"type": type, **options})


def read_tools(values: Iterable[Any], warnings: list[CallWarning]) -> list[ToolSpec | HostedTool]:
    """Reads the functions and the hosted tools of a request, without those that `is_other_tool`."""
    given = [get_object(value, f"tools[{i}]") for i, value in enumerate(values)]
    searched = any(data.get("type") == _TYPES["tool_search"][0] and not _runs_at_client(data) for data in given)
    return [
        _read_tool(data, f"tools[{i}]", searched, warnings) for i, data in enumerate(given) if not is_other_tool(data)
    ]


def _read_tool(data: Object, path: str, searched: bool, warnings: list[CallWarning]) -> ToolSpec | HostedTool:
    """Reads a function or a hosted tool; raises `InvalidInputError` with the path of what is wrong."""
    if text_of(data, "type") in _KINDS:
        return _hosted(data)
    name_the_rest(data, _SEARCHED if searched else _FUNCTION, path, warnings)
    parameters = data.get("parameters")
    schema = {} if parameters is None else get_object(parameters, f"{path}.parameters")
    strict = get_flag(data, "strict", f"{path}.")
    defer = searched and get_flag(data, "defer_loading", f"{path}.") is True
    return read_tool_spec(data, path, schema, strict=strict, defer=defer)


def write_choice(choice: ToolChoice) -> Any:
    """Returns the mode, or the function that must be called."""
    return {"type": "function", "name": choice.tool} if choice.mode == "tool" else choice.mode


def is_other_choice(value: Any) -> bool:
    """Whether `value` is a choice that a call has no field for, such as a hosted tool."""
    return isinstance(value, dict) and cast(Object, value).get("type") != "function"


def read_choice(value: Any) -> ToolChoice | None:
    """Reads the choice; None if there is none, or one that `is_other_choice`."""
    if value is None or is_other_choice(value):
        return None
    if value in ("auto", "none", "required"):
        return ToolChoice(value)
    return ToolChoice("tool", get_text(get_object(value, "tool_choice").get("name"), "tool_choice.name"))
