"""Provider options: written into a request, and read from a client's request."""

from __future__ import annotations

from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ModelCall

from ...common.call_options import duplicate_option_error, options_for
from ...common.reading import Object, as_object, as_objects
from .vocabulary import (
    HOSTED_TOOLS,
    LEVELS,
    MODALITIES,
    SAMPLING,
    SERVER_SIDE_CALLS,
    SERVER_SIDE_TOOLS,
    GenerateContentDialect,
    named,
    with_names,
)

_OBJECTS = ("generationConfig", "toolConfig")
"""Objects with fields of a call and others: options are merged into them."""
_OF_CALL = frozenset({"contents", "systemInstruction", "model"})
_OF_CONFIG = frozenset({*SAMPLING.names, "responseLogprobs", "logprobs"})


def add_provider_options(body: Object, call: ModelCall, provider: str, warnings: list[CallWarning]) -> None:
    """Adds `call`'s options for `provider` to the body; options for another are reported in a warning.

    Raises `InvalidInputError` for one that duplicates a field of the call.
    """
    for name, value in options_for(call, provider, warnings).items():
        path = f"provider_options.{provider}.{name}"
        if named(name) in _OBJECTS:
            _put_object(body, named(name), value, path)
        elif named(name) == "tools":
            _put_tools(body, value, path)
        elif named(name) in _OF_CALL or name in body:
            raise duplicate_option_error(path)
        else:
            body[name] = value


def _put_object(body: Object, name: str, value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInputError("expected an object", path=path)
    inner: Object = body.setdefault(name, {})
    for key, item in cast(Object, value).items():
        if named(key) in inner or is_of_call(name, named(key), item):
            raise duplicate_option_error(f"{path}.{key}")
        inner[key] = item


def _put_tools(body: Object, value: Any, path: str) -> None:
    if not isinstance(value, list):
        raise InvalidInputError("expected a list", path=path)
    for index, tool in enumerate(cast("list[Any]", value)):
        if not isinstance(tool, dict) or is_tool_of_call(cast(Object, tool)):
            raise duplicate_option_error(f"{path}[{index}]")
        body.setdefault("tools", []).append(tool)


def is_tool_of_call(tool: Object) -> bool:
    """Whether an entry of `tools` has functions, or one hosted tool that the schema models."""
    names = {named(name) for name in tool}
    return not names or "functionDeclarations" in names or (len(names) == 1 and names <= set(HOSTED_TOOLS.values()))


def is_of_call(name: str, key: str, value: Any) -> bool:
    """Whether a `ModelCall` has a field for `key: value` in the object `name` of a request."""
    if name == "toolConfig":
        return key == "functionCallingConfig" and is_tool_choice(with_names(as_object(value)))
    if key == "thinkingConfig":
        return is_thinking(with_names(as_object(value)))
    if key == "responseModalities":
        return isinstance(value, list) and all(
            isinstance(item, str) and item in MODALITIES for item in cast("list[Any]", value)
        )
    return key in _OF_CONFIG or key in ("responseJsonSchema", "responseSchema")


def is_tool_choice(config: Object) -> bool:
    """Whether it is a tool choice that a call can express."""
    allowed = config.get("allowedFunctionNames")
    if allowed is not None and not (isinstance(allowed, list) and len(cast("list[Any]", allowed)) == 1):
        return False
    modes = ("ANY",) if allowed else ("ANY", "AUTO", "NONE")
    return config.keys() <= {"mode", "allowedFunctionNames"} and config.get("mode") in modes


def is_thinking(config: Object) -> bool:
    """Whether it is a budget or a level that a call can express."""
    budget, level, shown = (config.get(name) for name in ("thinkingBudget", "thinkingLevel", "includeThoughts"))
    if not config.keys() <= {"thinkingBudget", "thinkingLevel", "includeThoughts"}:
        return False
    if level is not None:
        return isinstance(level, str) and level.upper() in LEVELS and budget is None and shown is True
    if type(budget) is not int or budget < 0:
        return False
    return shown is True or (budget == 0 and shown is None)


def needs_server_side_calls(body: Object) -> bool:
    """Whether a request has functions beside hosted tools."""
    names = {named(name) for tool in as_objects(body.get("tools")) for name in tool}
    return "functionDeclarations" in names and not names.isdisjoint(SERVER_SIDE_TOOLS)


def asks_for_server_side_calls(body: Object) -> bool:
    """Whether a request says if the calls of hosted tools are parts of the reply."""
    return with_names(as_object(body.get("toolConfig"))).get(SERVER_SIDE_CALLS) is not None


def read_provider_options(body: Object, dialect: GenerateContentDialect) -> Object:
    """Returns the fields of a client's request that a call does not have."""
    options: Object = {}
    implied = dialect.server_side_calls and needs_server_side_calls(body)
    for name, value in body.items():
        if value is None or name in _OF_CALL:
            continue
        rest = value
        if name in _OBJECTS:
            rest = {key: item for key, item in with_names(as_object(value)).items() if _is_left(name, key, item, value)}
            if implied and rest.get(SERVER_SIDE_CALLS) is True:
                del rest[SERVER_SIDE_CALLS]
        elif name == "tools":
            rest = [tool for tool in cast("list[Any]", value) if not is_tool_of_call(as_object(tool))]
        if rest or name not in (*_OBJECTS, "tools"):
            options[name] = rest
    return options


def _is_left(name: str, key: str, item: Any, whole: Any) -> bool:
    if item is None or is_of_call(name, key, item):
        return False
    return key != "responseMimeType" or not with_names(as_object(whole)).keys() & {
        "responseJsonSchema",
        "responseSchema",
    }
