"""Provider options: written into a request, and read from a client's request.

Interactions are not stored unless `store` is set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONObject, Message, ModelCall, SchemaError, ThinkingLevel, freeze_object

from ...common.call_options import duplicate_option_error, options_for
from ...common.reading import Object, as_object
from .response_formats import read_response_format
from .tools import is_other_tool, read_tool_choice
from .vocabulary import LEVELS, SAMPLING

AGENT = "agent"
"""The field with the name of an agent, in place of a model; the option says that the call's model is one."""
_CONFIG, _FORMAT, _PREVIOUS = "generation_config", "response_format", "previous_interaction_id"
_OF_CALL = frozenset({"input", "model", "stream", "system_instruction"})
_THINKING = ("thinking_level", "thinking_summaries")


def interaction_options(
    call: ModelCall, defaults: JSONObject, provider: str, warnings: list[CallWarning]
) -> JSONObject:
    """Returns the call's options for `provider` with `defaults`, and a warning for those for others.

    Raises `InvalidInputError` for one that would repeat the messages, and for a call that is not streamed of an agent
    that works in the background, unless the call's own options say so.
    """
    given = options_for(call, provider, warnings)
    options = {**defaults, **given}
    path = f"provider_options.{provider}"
    first, *others = [message for message in call.messages if message.role != "system"] or [None]
    known = [message for message in (first, *others) if message is not None and message.role == "assistant"]
    if options.get(_PREVIOUS) is not None and known and (known != [first] or not known[0].tool_calls):
        raise InvalidInputError(
            "the provider adds its stored conversation before these messages, which already contain it",
            path=f"{path}.{_PREVIOUS}",
            hint="Remove the option, or pass only the new messages, after the turn whose calls they answer.",
        )
    if options.get("background") is True and given.get("background") is not True and not call.stream:
        hint = (
            "Stream the answer: llm.stream(...). Or pass background: true yourself, and read the reply later with the "
            'operation "retrieve_reply".'
        )
        raise InvalidInputError("a background call returns no reply", path=f"{path}.background", hint=hint)
    if options.get("background") is True and options.get("store") is False:
        hint = "Remove store: the provider stores what works in the background."
        raise InvalidInputError("a background call is stored", path=f"{path}.store", hint=hint)
    if options.get(AGENT, True) is not True:
        hint = "Pass the agent's name as model, and true here."
        raise InvalidInputError("expected true", path=f"{path}.{AGENT}", hint=hint)
    return options


def stored_turn(messages: Sequence[Message], options: JSONObject) -> int | None:
    """Returns the index of the model's turn that the provider stores, whose calls the messages answer, if any."""
    if options.get(_PREVIOUS) is None:
        return None
    first = next((index for index, message in enumerate(messages) if message.role != "system"), None)
    return first if first is not None and messages[first].role == "assistant" else None


def add_options(body: Object, options: JSONObject, provider: str, warnings: list[CallWarning]) -> None:
    """Adds `options` to a request, with a warning for those that change nothing.

    Raises `InvalidInputError` for those that duplicate a field of the call.
    """
    path = f"provider_options.{provider}"
    for name, value in options.items():
        if name == AGENT:
            continue
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
    for name in ("background", "store"):
        if rest.get(name) is False:
            del rest[name]
    if AGENT in rest:
        rest[AGENT] = True
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
