"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads a client's messages (server side). What the schema cannot express is reported in a warning. Reads content parts
of a client's messages (server side).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    ContentPart,
    ImagePart,
    Message,
    Modality,
    ModelCall,
    OutputSchema,
    Parsed,
    Part,
    ReasoningPart,
    Role,
    Sampling,
    SchemaError,
    TextPart,
    ThinkingLevel,
    ToolChoice,
    ToolResult,
    ToolSpec,
    WireRequest,
)

from ...common.call_options import read_options
from ...common.conversations import origin_of
from ...common.data_urls import file_part, read_base64, read_file_data, read_url
from ...common.function_tools import read_function_tool, read_output
from ...common.reading import (
    ErrorsAt,
    Object,
    as_object,
    get_flag,
    get_list,
    get_object,
    get_role,
    get_text,
    has_content,
    name_the_rest,
    read_call,
    read_each,
    text_of,
)
from ...common.sounds import read_audio
from .content import REPLY_AUDIO_TYPE, cache_names, kept_audio, read_cache, read_tool_call, thought_of
from .decode import details_in, read_detail, signature_for, with_reasoning
from .dialect import ChatDialect, is_other_choice, is_other_tool, other_tools, read_thinking
from .encode import JSON_MODE, take_instruction
from .vocabulary import AUDIO_FIELDS, SAMPLING, citations_to_ours, has_field, is_schema, message_fields, reasoning_of

_IMAGE = frozenset({"url", "detail"})
_THINKING = frozenset({"type", "thinking", "closed"})


def read_content(
    content: Any, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> tuple[Part, ...]:
    """Returns the parts of a message; fields that are not read are options. Reasoning in it is of the model `origin`.

    Raises `InvalidInputError` with the path of what is wrong.
    """
    if content is None:
        return ()
    if isinstance(content, str):
        return (_text(content, path),)
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of parts, got {type(content).__name__}", path=path)
    parts: list[Part] = []
    for index, value in enumerate(cast("list[Any]", content)):
        part_path = f"{path}[{index}]"
        data = get_object(value, part_path)
        with ErrorsAt(f"{part_path}.{data.get('type')}"):
            part = _part(data, part_path, dialect.provider, warnings)
            if isinstance(part, ReasoningPart):
                name_the_rest(data, _THINKING, part_path, warnings)
                parts.append(replace(part, origin=origin))
            else:
                known = {"type", data["type"], *cache_names(dialect.cache)}
                options = read_options(data, known, dialect.provider)
                cache = read_cache(data, part_path, dialect.cache) if has_content(part) else None
                changed = options or cache is not None
                parts.append(replace(part, cache=cache, provider_options=options) if changed else part)
    return tuple(parts)


def _text(text: str, path: str) -> TextPart:
    try:
        return TextPart(text)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=path) from None


def _part(data: Object, path: str, provider: str, warnings: list[CallWarning]) -> ContentPart | ReasoningPart:
    kind = data.get("type")
    if kind in ("text", "refusal"):
        return _text(get_text(data.get(kind), f"{path}.{kind}"), f"{path}.{kind}")
    if kind == "image_url":
        image = get_object(data.get("image_url"), f"{path}.image_url")
        name_the_rest(image, _IMAGE, f"{path}.image_url", warnings)
        part_path = f"{path}.image_url.url"
        return ImagePart(read_url(image.get("url"), "image/*", part_path), image.get("detail"))
    if kind == "input_audio":
        return AudioPart(read_audio(data.get("input_audio"), f"{path}.input_audio"))
    if kind == "file":
        return file_part(_file(get_object(data.get("file"), f"{path}.file"), f"{path}.file", provider))
    if kind == "thinking":
        return ReasoningPart(thought_of(data))
    raise InvalidInputError(
        f"unknown content part {kind!r}", path=f"{path}.type", hint="Use text, image_url, input_audio or file."
    )


def _file(data: Object, path: str, provider: str) -> Blob:
    name = text_of(data, "filename")
    file_id = text_of(data, "file_id")
    if file_id:
        return Blob.from_provider_file(provider, file_id, "application/pdf", name=name)
    return read_file_data(data.get("file_data"), f"{path}.file_data", name)


_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def read_messages(
    values: Iterable[Any], dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> tuple[Message, ...]:
    """Returns the conversation with the model `origin`; an empty message is omitted.

    Raises `InvalidInputError` with the path.
    """
    return read_each(values, lambda data, path: _message(data, path, dialect, origin, warnings), warnings)


def read_message(
    value: Any, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> Message | None:
    """Reads one message; None if it is empty. Raises `InvalidInputError` with the path."""
    with ErrorsAt(path):
        return _message(get_object(value, path), path, dialect, origin, warnings)


def _message(
    data: Object, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> Message | None:
    role = get_role(data, _ROLES, path)
    options = read_options(data, message_fields(role, dialect), dialect.provider)
    parts = read_content(data.get("content"), f"{path}.content", dialect, origin, warnings)
    if role == "tool":
        call_id = get_text(data.get("tool_call_id"), f"{path}.tool_call_id")
        return Message.tool(
            _with_its_cache(ToolResult(call_id, cast("tuple[TextPart, ...]", parts), provider_options=options))
        )
    if role == "assistant":
        parts = with_reasoning(parts, data, dialect, origin)
        audio, calls = _audio(data, path, dialect.provider), _calls(data, path, dialect.provider, warnings)
        parts = _reasoning(data, dialect, origin) + _with_citations(parts, data) + _refusal(data) + audio + calls
    kept = [part for part in parts if has_content(part)]
    return Message(role, tuple(kept), options) if kept else None


def _with_its_cache(result: ToolResult) -> ToolResult:
    """Returns the result with the cache point of its last part, which is its own."""
    last = result.content[-1] if result.content else None
    if last is None or last.cache is None:
        return result
    return replace(result, content=(*result.content[:-1], replace(last, cache=None)), cache=last.cache)


def _reasoning(data: Object, dialect: ChatDialect, origin: str | None) -> tuple[Part, ...]:
    details = details_in(data, dialect)
    if details:
        return tuple(read_detail(detail, origin) for detail in details)
    reasoning, field = reasoning_of(data)
    return (ReasoningPart(reasoning, signature_for(field, dialect), origin=origin),) if reasoning else ()


def _refusal(data: Object) -> tuple[Part, ...]:
    refusal = text_of(data, "refusal")
    return (TextPart(refusal),) if refusal else ()


def _with_citations(parts: tuple[Part, ...], data: Object) -> tuple[Part, ...]:
    """Returns the text with the citations that a reply has next to it, if the whole reply is sent back."""
    citations = citations_to_ours(data)
    if citations and len(parts) == 1 and isinstance(parts[0], TextPart):
        return (replace(parts[0], citations=citations),)
    return parts


def _audio(data: Object, path: str, provider: str) -> tuple[Part, ...]:
    """Reads audio of an earlier reply: its id, or the audio if the reply is sent back unchanged."""
    audio = as_object(data.get("audio"))
    id = text_of(audio, "id")
    if not id:
        return ()
    options = read_options(audio, AUDIO_FIELDS, provider)
    content = text_of(audio, "data")
    if content is None:
        return (AudioPart(kept_audio(id, provider), id=id, provider_options=options),)
    blob = Blob.from_bytes(read_base64(content, f"{path}.audio.data"), REPLY_AUDIO_TYPE)
    return (AudioPart(blob, text_of(audio, "transcript"), id, provider_options=options),)


def _calls(data: Object, path: str, provider: str, warnings: list[CallWarning]) -> tuple[Part, ...]:
    calls = enumerate(get_list(data, "tool_calls", f"{path}."))
    return tuple(read_tool_call(call, f"{path}.tool_calls[{i}]", provider, warnings) for i, call in calls)


_STREAM_OPTIONS = frozenset({"include_usage"})
_JSON_SCHEMA = "response_format.json_schema"


def parse(request: WireRequest, dialect: ChatDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    return read_call(request, dialect.provider, partial(_call, dialect))


def _call(dialect: ChatDialect, data: Object, warnings: list[CallWarning]) -> ModelCall:
    # Usage is always streamed; other stream options are not supported.
    name_the_rest(as_object(data.get("stream_options")), _STREAM_OPTIONS, "stream_options", warnings)
    model = get_text(data.get("model"), "model")
    messages, output = get_list(data, "messages"), _output(data.get("response_format"))
    if output is None and dialect.json_mode_only and data.get("response_format") == JSON_MODE:
        messages, instruction = take_instruction(messages)
        if instruction is not None:
            output = read_output(instruction, _JSON_SCHEMA)
            del data["response_format"]
    return ModelCall(
        model=model,
        provider=dialect.provider,
        messages=read_messages(messages, dialect, origin_of(dialect.provider, model), warnings),
        tools=tuple(
            _tool(tool, f"tools[{i}]", dialect, warnings)
            for i, tool in enumerate(get_list(data, "tools"))
            if not is_other_tool(tool)
        ),
        tool_choice=_tool_choice(data.get("tool_choice")),
        parallel_tool_calls=get_flag(data, "parallel_tool_calls"),
        sampling=_sampling(data, dialect, warnings),
        output=output,
        thinking=_thinking(data, dialect, warnings),
        modalities=cast("tuple[Modality, ...]", tuple(get_list(data, "modalities"))),
        stream=get_flag(data, "stream") or False,
        provider_options={dialect.provider: _rest(data, dialect)},
    )


def _tool(value: Any, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> ToolSpec:
    data = get_object(value, path)
    cache = read_cache(data, path, dialect.cache)
    names = cache_names(dialect.cache)
    known = {name: value for name, value in data.items() if name not in names}
    tool = read_function_tool(known, path, warnings, own_strict=True)
    return tool if cache is None else replace(tool, cache=cache)


def _rest(data: Object, dialect: ChatDialect) -> dict[str, Any]:
    others = other_tools(data.get("tools"))
    given = {**data, "tools": others} if others else data
    return {name: value for name, value in given.items() if value is not None and not has_field(name, value, dialect)}


def _thinking(data: Object, dialect: ChatDialect, warnings: list[CallWarning]) -> ThinkingLevel | int | None:
    found: ThinkingLevel | int | None = None
    for name, value in data.items():
        thinking = read_thinking(name, value, dialect.thinking)
        if found is None:
            found = thinking
        elif thinking is not None:
            warnings.append(CallWarning("field_left_out", name, "another field sets thinking", value))
    return found


def _sampling(data: Object, dialect: ChatDialect, warnings: list[CallWarning]) -> Sampling:
    stop, limit, old_limit = data.get("stop"), data.get("max_completion_tokens"), data.get("max_tokens")
    if limit is not None and old_limit is not None:
        message = "max_completion_tokens is used"
        warnings.append(CallWarning("field_left_out", "max_tokens", message, old_limit, limit))
    alternatives = data.get("logprobs" if dialect.counted_logprobs else "top_logprobs")
    if alternatives is None and get_flag(data, "logprobs"):
        alternatives = 0
    paths = {
        "max_output_tokens": "max_tokens" if limit is None else "max_completion_tokens",
        "seed": dialect.seed_field,
        "top_logprobs": "logprobs" if dialect.counted_logprobs else "top_logprobs",
    }
    return SAMPLING.read(
        data,
        paths,
        seed=data.get(dialect.seed_field),
        max_output_tokens=old_limit if limit is None else limit,
        top_logprobs=alternatives,
        stop=(stop,) if isinstance(stop, str) else tuple(get_list(data, "stop")),
    )


def _tool_choice(data: Any) -> ToolChoice | None:
    if data is None or is_other_choice(data):
        return None
    if data in ("auto", "none", "required"):
        return ToolChoice(data)
    function = get_object(get_object(data, "tool_choice").get("function"), "tool_choice.function")
    return ToolChoice("tool", get_text(function.get("name"), "tool_choice.function.name"))


def _output(data: Any) -> OutputSchema | None:
    return read_output(as_object(data).get("json_schema"), _JSON_SCHEMA) if is_schema(data) else None
