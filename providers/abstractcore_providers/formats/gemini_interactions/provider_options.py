"""Provider options: written into a request, and read from a client's request.

Interactions are not stored unless `store` is set.
"""

from __future__ import annotations

from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONObject, ModelCall, SchemaError, ThinkingLevel, freeze_object

from ...common.json_reading import Object, as_object
from ...common.provider_options import duplicate_option_error, options_for
from .response_formats import read_response_format
from .tools import is_other_tool, read_tool_choice
from .vocabulary import LEVELS, SAMPLING

_CONFIG, _FORMAT = "generation_config", "response_format"
_OF_CALL = frozenset({"background", "input", "model", "stream", "system_instruction"})
_THINKING = ("thinking_level", "thinking_summaries")


def interaction_options(call: ModelCall, provider: str, warnings: list[CallWarning]) -> JSONObject:
    """Returns the call's options for `provider`, with a warning for those for others.

    Raises `InvalidInputError` for one that would repeat the messages.
    """
    options = options_for(call, provider, warnings)
    name = "previous_interaction_id"
    if options.get(name) is not None and any(message.role == "assistant" for message in call.messages):
        raise InvalidInputError(
            "the provider adds its stored conversation before these messages, which already contain it",
            path=f"provider_options.{provider}.{name}",
            hint="Remove the option, or pass only the new messages.",
        )
    return options


def add_options(body: Object, options: JSONObject, provider: str, warnings: list[CallWarning]) -> None:
    """Adds `options` to a request, with a warning for those that change nothing.

    Raises `InvalidInputError` for those that duplicate a field of the call.
    """
    path = f"provider_options.{provider}"
    for name, value in options.items():
        if name == "background" and value is True:
            raise InvalidInputError("a background call returns no reply", path=f"{path}.{name}")
        if name == _CONFIG:
            _add_config(body, value, f"{path}.{name}")
        elif name == "tools":
            _add_tools(body, value, f"{path}.{name}")
        elif name in _OF_CALL or (name == _FORMAT and (name in body or _is_of_call(value))):
            raise duplicate_option_error(f"{path}.{name}")
        else:
            body[name] = value
    if options:
        new = freeze_object(read_provider_options(body))
        if new != options:
            message = "some of these are sent by default"
            warnings.append(CallWarning("no_effect", path, message, options, new or None))


def _add_config(body: Object, value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInputError("expected an object", path=path)
    given = cast(Object, value)
    config: Object = body.setdefault(_CONFIG, {})
    for name, item in given.items():
        if name in config or is_of_config(name, given):
            raise duplicate_option_error(f"{path}.{name}")
        if item is not None:
            config[name] = item


def _add_tools(body: Object, value: Any, path: str) -> None:
    if not isinstance(value, list):
        raise InvalidInputError("expected a list", path=path)
    tools = cast("list[Any]", value)
    for index, tool in enumerate(tools):
        if not is_other_tool(tool):
            raise duplicate_option_error(f"{path}[{index}]")
    body["tools"] = [*body.get("tools", []), *tools]


def _is_of_call(value: Any) -> bool:
    try:
        return read_response_format(value) is not None
    except SchemaError:
        return True


def is_of_config(name: str, config: Object) -> bool:
    """Whether a call has a field for the field `name` of a generation config."""
    if name == "tool_choice":
        return read_tool_choice(config[name]) is not None
    return name in SAMPLING.names or (name in _THINKING and read_thinking(config) is not None)


def write_thinking(level: str) -> Object:
    """Returns the fields of a level, with thoughts included."""
    return dict(zip(_THINKING, (level, "auto"), strict=True))


def read_thinking(config: Object) -> ThinkingLevel | None:
    """Reads the level of a generation config; None for what a call cannot express."""
    level, summaries = (config.get(name) for name in _THINKING)
    return LEVELS.get(level) if isinstance(level, str) and summaries == "auto" else None


def read_provider_options(data: Object) -> Object:
    """Returns the fields of a request that a call does not have, without our defaults."""
    rest = {name: value for name, value in data.items() if name not in _OF_CALL and value is not None}
    if rest.get("store") is False:
        del rest["store"]
    config = as_object(rest.get(_CONFIG))
    if _CONFIG in rest:
        left = {n: value for n, value in config.items() if value is not None and not is_of_config(n, config)}
        _keep(rest, _CONFIG, left)
    if "tools" in rest:
        _keep(rest, "tools", [tool for tool in rest["tools"] if is_other_tool(tool)])
    if _FORMAT in rest and read_response_format(rest[_FORMAT]) is not None:
        del rest[_FORMAT]
    return rest


def _keep(rest: Object, name: str, left: Any) -> None:
    if left or not rest[name]:
        rest[name] = left
    else:
        del rest[name]
