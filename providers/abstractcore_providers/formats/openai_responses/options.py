"""Provider options and defaults of requests, written and read.

Tools and `tool_choice`, written and read.

Responses are not stored unless `store` is set, and reasoning is returned encrypted, so that it can be sent back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    HostedTool,
    JSONObject,
    ModelCall,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
    freeze_object,
)
from abstractcore.schema.tools import HostedToolKind

from ...common.call_options import duplicate_option_error, options_for
from ...common.function_tools import describe_tool, read_tool_spec
from ...common.json_schemas import OPENAI
from ...common.reading import Object, as_object, get_flag, get_object, get_text, name_the_rest, text_of

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


EFFORTS: Mapping[str, ThinkingLevel] = {
    "none": "off",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}
_ENCRYPTED = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"
_KEPT_CONVERSATIONS = ("conversation", "previous_response_id")
_OF_CALL = frozenset(
    {
        "input",
        "instructions",
        "max_output_tokens",
        "model",
        "parallel_tool_calls",
        "stream",
        "temperature",
        "top_logprobs",
        "top_p",
    }
)


def default_include(encrypted_reasoning: bool, logprobs: bool) -> list[str]:
    """Returns the fields to include beyond the plain answer."""
    encrypted = [_ENCRYPTED] if encrypted_reasoning else []
    return [*encrypted, _LOGPROBS] if logprobs else encrypted


def is_stored(options: JSONObject) -> bool:
    """Whether the provider is asked to store the reply. It stores what works in the background."""
    return options.get("store") is True or options.get("background") is True


def options_of(call: ModelCall, provider: str, warnings: list[CallWarning]) -> JSONObject:
    """Returns the call's options for `provider`, with a warning for those for others.

    Raises `InvalidInputError` for one that would repeat the messages, and for a background call that is not stored.
    """
    options = options_for(call, provider, warnings)
    for name in _KEPT_CONVERSATIONS:
        if options.get(name) is not None and any(message.role == "assistant" for message in call.messages):
            raise InvalidInputError(
                "the provider adds its stored conversation before these messages, which already contain it",
                path=f"provider_options.{provider}.{name}",
                hint="Remove the option, or pass only the new messages.",
            )
    _check_background(options, f"provider_options.{provider}")
    return options


def _check_background(options: JSONObject, path: str) -> None:
    background = options.get("background")
    if background is not None and not isinstance(background, bool):
        raise InvalidInputError("expected true or false", path=f"{path}.background")
    if background is True and options.get("store") is False:
        hint = "Remove store: the provider stores what works in the background."
        raise InvalidInputError("a background call is stored", path=f"{path}.store", hint=hint)


def add_options(
    body: Object, options: JSONObject, provider: str, encrypted_reasoning: bool, warnings: list[CallWarning]
) -> None:
    """Adds `options` to a request with our defaults, with a warning for those that change nothing.

    Raises `InvalidInputError` for those that duplicate a field of the call.
    """
    path = f"provider_options.{provider}"
    for name, value in options.items():
        if name in ("reasoning", "text"):
            body[name] = _merged(as_object(body.get(name)), value, name, path)
        elif name == "tools":
            body[name] = [*body.get(name, []), *_other_tools(value, path)]
        elif name == "include":
            body[name] = _included(value, body.get(name, []), path)
        elif name in _OF_CALL or (name == "tool_choice" and (name in body or not is_other_choice(value))):
            raise duplicate_option_error(f"{path}.{name}")
        else:
            body[name] = value
    if options:
        _warn_of_defaults(options, freeze_object(rest_of(body, encrypted_reasoning)), path, warnings)


def _warn_of_defaults(options: JSONObject, new: JSONObject, path: str, warnings: list[CallWarning]) -> None:
    if new != options:
        message = "some of these are sent by default"
        warnings.append(CallWarning("no_effect", path, message, options, new or None))


def _merged(ours: Object, value: Any, name: str, path: str) -> Object:
    if not isinstance(value, Mapping):
        raise duplicate_option_error(f"{path}.{name}")
    theirs: Object = {name: inner for name, inner in cast(Object, value).items() if inner is not None}
    for field, inner in theirs.items():
        if field in ours or is_of_call(name, field, inner):
            raise duplicate_option_error(f"{path}.{name}.{field}")
    return {**ours, **theirs}


def is_of_call(name: str, field: str, value: Any) -> bool:
    """Whether a call has a field for this field of `reasoning` or `text`."""
    if name == "reasoning":
        return field == "effort" and isinstance(value, str) and value in EFFORTS
    return field == "format" and isinstance(value, Mapping) and cast(Object, value).get("type") == "json_schema"


def _other_tools(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise duplicate_option_error(f"{path}.tools")
    tools = cast("list[Any]", value)
    for index, tool in enumerate(tools):
        if not is_other_tool(tool):
            raise duplicate_option_error(f"{path}.tools[{index}]")
    return tools


def _included(value: Any, ours: list[str], path: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInputError(f"expected a list, got {type(value).__name__}", path=f"{path}.include")
    asked = cast("list[Any]", value)
    return [*asked, *(name for name in ours if name not in asked)]


def rest_of(data: Object, encrypted_reasoning: bool) -> Object:
    """Returns the fields of a request that a call does not have, without our defaults."""
    rest = {name: value for name, value in data.items() if name not in _OF_CALL and value is not None}
    for name in ("background", "store"):
        if rest.get(name) is False:
            del rest[name]
    for name in ("reasoning", "text"):
        if name in rest:
            _keep(rest, name, {f: v for f, v in rest[name].items() if v is not None and not is_of_call(name, f, v)})
    if "tools" in rest:
        _keep(rest, "tools", [tool for tool in rest["tools"] if is_other_tool(tool)])
    if "include" in rest:
        defaults = default_include(encrypted_reasoning, logprobs=True)
        _keep(rest, "include", [name for name in rest["include"] if name not in defaults])
    if not is_other_choice(rest.get("tool_choice")):
        rest.pop("tool_choice", None)
    return rest


def _keep(rest: Object, name: str, left: Any) -> None:
    if left or not rest[name]:
        rest[name] = left
    else:
        del rest[name]
