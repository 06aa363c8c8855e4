"""Provider options and defaults of requests, written and read.

Responses are not stored unless `store` is set, and reasoning is returned encrypted, so that it can be sent back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONObject, ModelCall, ThinkingLevel, freeze_object

from ...common.call_options import duplicate_option_error, options_for
from ...common.reading import Object, as_object
from .tools import is_other_choice, is_other_tool

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
