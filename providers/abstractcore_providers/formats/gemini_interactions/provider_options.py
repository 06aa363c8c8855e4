"""Provider options: written into a request, and read from a client's request.

The schema and the modalities of an answer: `response_format`, written and read. Tools and the tool choice, written
and read.

Interactions are not stored unless `store` is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    HostedTool,
    HostedToolKind,
    JSONObject,
    Message,
    Modality,
    ModelCall,
    OutputSchema,
    SchemaError,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
    freeze_object,
)

from ...common.call_options import duplicate_option_error, options_for, unsupported
from ...common.delta_writer import BodyWriter
from ...common.function_tools import bare_schema, describe_tool, named_schema, read_tool_spec
from ...common.json_schemas import GEMINI
from ...common.reading import Object, as_object, get_object, name_the_rest, text_of
from .vocabulary import HOSTED_TOOLS, LEVELS, MODALITIES, SAMPLING, WARNINGS

_JSON = "application/json"


class RequestedOutput(NamedTuple):
    """What a client wants the answer to be."""

    output: OutputSchema | None = None
    modalities: tuple[Modality, ...] = ()


def write_response_format(call: ModelCall, warnings: list[CallWarning]) -> Any:
    """Returns one entry, or one for each modality; None if the call says nothing about the answer.

    Raises `InvalidInputError` for a schema that cannot be sent.
    """
    text: Object = {"type": "text"}
    if call.output is not None:
        text |= {"mime_type": _JSON, "schema": bare_schema(call.output, GEMINI, warnings)}
    if not call.modalities:
        return None if call.output is None else text
    names: list[str] = list(call.modalities)
    if call.output is not None and "text" not in names:
        names.append("text")
        message = "an answer that matches a schema is text"
        warnings.append(CallWarning("modalities_changed", "modalities", message, list(call.modalities), names))
    return [text if name == "text" else {"type": name} for name in names]


def read_response_format(value: Any) -> RequestedOutput | None:
    """Reads the format of the answer; None for one that a call cannot express.

    Raises `SchemaError` with the path of an invalid schema.
    """
    if not isinstance(value, list):
        output = _output(value, "response_format")
        return None if output is None else RequestedOutput(output)
    entries = [as_object(entry) for entry in cast("list[Any]", value)]
    names = [entry.get("type") for entry in entries]
    if not names or len(names) != len({str(name) for name in names}):
        return None
    output: OutputSchema | None = None
    for index, entry in enumerate(entries):
        own = _output(entry, f"response_format[{index}]")
        if own is None and not (entry.keys() == {"type"} and entry["type"] in tuple(MODALITIES)):
            return None
        output = own or output
    return RequestedOutput(output, tuple(MODALITIES[str(name)] for name in names))


def _output(value: Any, path: str) -> OutputSchema | None:
    entry = as_object(value)
    schema = entry.get("schema")
    fields = entry.keys() == {"type", "mime_type", "schema"} and isinstance(schema, dict)
    if not fields or entry["type"] != "text" or entry["mime_type"] != _JSON:
        return None
    return named_schema(cast(Object, schema), f"{path}.schema")


_KINDS: dict[str, HostedToolKind] = {theirs: ours for ours, theirs in HOSTED_TOOLS.items()}
_FUNCTION = frozenset({"type", "name", "description", "parameters"})
_MODES = {"auto": "auto", "none": "none", "required": "any"}
_ANY = "any"


def write_tools(call: ModelCall, writer: BodyWriter) -> list[Object]:
    """Returns the functions, then the hosted tools.

    Raises `InvalidInputError` for a schema that cannot be sent, and for a type among the options of a hosted tool, and
    `UnsupportedContentError` for a hosted tool that the format does not have.
    """
    if any(tool.kind not in HOSTED_TOOLS for tool in call.hosted_tools):
        raise WARNINGS.hosted_tools(call, HOSTED_TOOLS)
    tools = [_write_function(tool, f"tools[{i}]", writer) for i, tool in enumerate(call.tools)]
    for index, tool in enumerate(call.hosted_tools):
        if "type" in tool.options:
            path = f"hosted_tools[{index}].options.type"
            raise InvalidInputError("the kind of the tool is its type", path=path, hint="Remove the option.")
        tools.append({"type": HOSTED_TOOLS[tool.kind], **tool.options})
    return tools


def _write_function(tool: ToolSpec, path: str, writer: BodyWriter) -> Object:
    from ...common.json_schemas.fitting import fit_tool

    WARNINGS.fields(tool, path, ("cache",), writer.warnings)
    if tool.strict is not None:
        writer.warnings.append(unsupported(f"{path}.strict", tool.strict, "strict arguments for a single tool"))
    function: Object = {"type": "function", **describe_tool(tool)}
    parameters, _ = fit_tool(tool, path, GEMINI, writer.warnings)
    if parameters:
        function["parameters"] = parameters
    return function


def is_other_tool(value: Any) -> bool:
    """Whether `value` is a tool that a call has no field for, such as a remote MCP server."""
    kind = text_of(as_object(value), "type")
    return kind is not None and kind != "function" and kind not in _KINDS


def read_tools(tools: Iterable[Any], warnings: list[CallWarning]) -> tuple[list[ToolSpec], list[HostedTool]]:
    """Reads the functions and the hosted tools that a call can express.

    Raises `InvalidInputError` with the path of what is wrong.
    """
    functions: list[ToolSpec] = []
    hosted: list[HostedTool] = []
    for index, value in enumerate(tools):
        path = f"tools[{index}]"
        data = get_object(value, path)
        kind = text_of(data, "type")
        if kind in _KINDS:
            hosted.append(HostedTool(_KINDS[kind], {name: value for name, value in data.items() if name != "type"}))
        elif kind == "function":
            name_the_rest(data, _FUNCTION, path, warnings)
            schema = data.get("parameters")
            parameters = {} if schema is None else get_object(schema, f"{path}.parameters")
            functions.append(read_tool_spec(data, path, parameters))
        elif kind is None:
            raise InvalidInputError("expected the type of a tool", path=f"{path}.type", hint="Use 'function'.")
    return functions, hosted


def write_tool_choice(choice: ToolChoice) -> Any:
    """Returns the mode, or the only tool that may be called."""
    if choice.mode == "tool":
        return {"allowed_tools": {"mode": _ANY, "tools": [choice.tool]}}
    return _MODES[choice.mode]


def read_tool_choice(value: Any) -> ToolChoice | None:
    """Reads the choice; None if there is none, or one that a call cannot express, such as several tools."""
    if isinstance(value, str):
        return next((ToolChoice(cast(Any, ours)) for ours, theirs in _MODES.items() if theirs == value), None)
    choice = as_object(value)
    allowed = as_object(choice.get("allowed_tools"))
    names = allowed.get("tools")
    one = isinstance(names, list) and len(cast("list[Any]", names)) == 1 and isinstance(names[0], str)
    if not one or len(choice) != 1 or allowed.keys() != {"mode", "tools"} or allowed["mode"] != _ANY:
        return None
    return ToolChoice("tool", cast("list[str]", names)[0])


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
