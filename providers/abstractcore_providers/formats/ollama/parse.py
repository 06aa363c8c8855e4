"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads a client's messages (server side). What the schema cannot express is reported in a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    CallWarning,
    ImagePart,
    Message,
    ModelCall,
    OutputSchema,
    Parsed,
    Part,
    ReasoningPart,
    Role,
    Sampling,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
    WireRequest,
    freeze_object,
)

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments, origin_of
from ...common.data_urls import read_base64
from ...common.function_tools import named_schema, read_function_tool
from ...common.reading import (
    Object,
    error_at,
    get_flag,
    get_list,
    get_object,
    get_text,
    has_content,
    message_left_out,
    read_call,
    text_of,
)
from .encode import context_of
from .vocabulary import (
    ARGUMENTS,
    CALL_FIELDS,
    MESSAGE_FIELDS,
    PROVIDER,
    SAMPLING,
    UNTOUCHED,
    has_field,
    has_option,
    image_of,
    thinking_to_ours,
)


def read_messages(
    values: Iterable[Any], written: WrittenArguments, origin: str | None, warnings: list[CallWarning]
) -> tuple[Message, ...]:
    """Returns the conversation with the model `origin`; an empty message is omitted.

    Raises `InvalidInputError` with the path of what is wrong, such as a result without its call.
    """
    messages: list[Message] = []
    waiting: list[ToolCall] = []
    for index, value in enumerate(values):
        path = f"messages[{index}]"
        data = get_object(value, path)
        role = get_text(data.get("role"), f"{path}.role").lower()
        if role not in MESSAGE_FIELDS:
            raise InvalidInputError(f"unknown role {data['role']!r}", path=f"{path}.role")
        try:
            if role == "tool":
                message = Message.tool(_result(data, path, waiting))
            else:
                calls = _calls(data, path, index, written) if role == "assistant" else ()
                message = _message(cast(Role, role), data, path, origin, calls)
        except SchemaError as error:
            raise error_at(path, error) from None
        if message is None:
            warnings.append(message_left_out(path))
            continue
        messages.append(message)
        if message.role == "assistant":
            waiting = list(message.tool_calls)
    return tuple(messages)


def _message(role: Role, data: Object, path: str, origin: str | None, calls: Iterable[Part]) -> Message | None:
    parts = _content_parts(data, path)
    if role == "assistant":
        *images, text = parts
        parts = (ReasoningPart(text_of(data, "thinking") or "", origin=origin), text, *calls, *images)
    kept = [part for part in parts if has_content(part)]
    return Message(role, tuple(kept), read_options(data, MESSAGE_FIELDS[role], PROVIDER)) if kept else None


def _result(data: Object, path: str, waiting: list[ToolCall]) -> ToolResult:
    call = _called(data, path, waiting)
    options = read_options(data, MESSAGE_FIELDS["tool"], PROVIDER)
    return ToolResult(call.id, _content_parts(data, path), provider_options=options)


def _content_parts(data: Object, path: str) -> tuple[ImagePart | TextPart, ...]:
    """Reads the images and the text, which may be empty."""
    return (*(image_of(content) for content in _images(data, path)), TextPart(_content(data, path)))


def _content(data: Object, path: str) -> str:
    content = data.get("content")
    return "" if content is None else get_text(content, f"{path}.content")


def _images(data: Object, path: str) -> list[bytes]:
    values = [(value, f"{path}.images[{i}]") for i, value in enumerate(get_list(data, "images", f"{path}."))]
    return [read_base64(value, image_path) for value, image_path in values]


def _calls(data: Object, path: str, turn: int, written: WrittenArguments) -> tuple[Part, ...]:
    calls: list[Part] = []
    taken: set[str] = set()
    for index, value in enumerate(get_list(data, "tool_calls", f"{path}.")):
        function_path = f"{path}.tool_calls[{index}].function"
        call = get_object(value, f"{path}.tool_calls[{index}]")
        function = get_object(call.get("function"), function_path)
        id = text_of(call, "id") or f"call_{turn}_{index}"
        if id in taken:
            raise InvalidInputError("two tool calls have one id", path=f"{path}.tool_calls[{index}].id")
        taken.add(id)
        arguments = function.get(ARGUMENTS)
        given = {} if arguments is None else get_object(arguments, f"{function_path}.arguments")
        freeze_object(given, f"tool_calls[{index}].function.arguments")
        text = "{}" if arguments is None else written.text_of(given)
        options = read_options(call, CALL_FIELDS, PROVIDER)
        calls.append(
            ToolCall(id, get_text(function.get("name"), f"{function_path}.name"), text, provider_options=options)
        )
    return tuple(calls)


def _called(data: Object, path: str, waiting: list[ToolCall]) -> ToolCall:
    """Returns the call that a result belongs to: by its id, else the first of its name without a result."""
    id, name = text_of(data, "tool_call_id"), text_of(data, "tool_name")
    for call in waiting:
        if (call.id == id) if id else (name is None or call.name == name):
            waiting.remove(call)
            return call
    field_name = "tool_call_id" if id else "tool_name"
    raise InvalidInputError("the previous assistant turn has no such tool call", path=f"{path}.{field_name}")


def parse(request: WireRequest, context_size: int | None) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong.

    A context size that the call would get by default is not an option.
    """

    def read(data: Object, warnings: list[CallWarning]) -> ModelCall:
        call = _call(data, WrittenArguments(request.body, ARGUMENTS), warnings)
        return _without_usual_context(call, context_size)

    return read_call(request, PROVIDER, read)


def _call(data: Object, written: WrittenArguments, warnings: list[CallWarning]) -> ModelCall:
    model = get_text(data.get("model"), "model")
    options = get_object(data.get("options") or {}, "options")
    stream = get_flag(data, "stream")
    return ModelCall(
        model=model,
        provider=PROVIDER,
        messages=read_messages(get_list(data, "messages"), written, origin_of(PROVIDER, model), warnings),
        tools=tuple(
            read_function_tool(tool, f"tools[{i}]", warnings) for i, tool in enumerate(get_list(data, "tools"))
        ),
        sampling=_sampling(data, options, warnings),
        output=_output(data.get("format")),
        thinking=thinking_to_ours(data.get("think")),
        stream=True if stream is None else stream,
        provider_options={PROVIDER: _rest(data, options)},
    )


def _rest(data: Object, options: Object) -> Object:
    rest = {name: value for name, value in data.items() if name != "options" and _is_option(name, value)}
    kept = {name: value for name, value in options.items() if value is not None and not has_option(name, value)}
    return rest | {"options": kept} if kept else rest


def _is_option(name: str, value: Any) -> bool:
    if name in UNTOUCHED and value is UNTOUCHED[name]:
        return False
    return value is not None and not has_field(name, value)


def _without_usual_context(call: ModelCall, context_size: int | None) -> ModelCall:
    given = call.provider_options.get(PROVIDER, {})
    options = given.get("options")
    if not isinstance(options, dict) or "num_ctx" not in options:
        return call
    less = {name: value for name, value in options.items() if name != "num_ctx"}
    rest = {name: value for name, value in given.items() if name != "options"}
    plain = call.with_(provider_options={PROVIDER: rest | {"options": less} if less else rest})
    try:
        usual = context_of(plain, context_size)
    except (InvalidInputError, UnsupportedContentError):
        return call
    return plain if options["num_ctx"] == usual else call


def _sampling(data: Object, options: Object, warnings: list[CallWarning]) -> Sampling:
    asked = {name: value for name, value in options.items() if has_option(name, value)}
    if isinstance(asked.get("stop"), str):
        asked["stop"] = (asked["stop"],)
    alternatives = data.get("top_logprobs")
    if get_flag(data, "logprobs"):
        alternatives = 0 if alternatives is None else alternatives
    elif alternatives is not None:
        warnings.append(CallWarning("field_left_out", "top_logprobs", "logprobs is not set", alternatives))
        alternatives = None
    return SAMPLING.read(asked, top_logprobs=alternatives)


def _output(schema: Any) -> OutputSchema | None:
    """Reads the schema of the answer; None for an empty text, or the name of a format."""
    return named_schema(cast(Object, schema), "format") if isinstance(schema, dict) else None
