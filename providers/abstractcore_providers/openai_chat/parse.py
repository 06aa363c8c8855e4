"""From a client's request to a call (server side). What the schema has no field for becomes a provider option."""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    DocumentPart,
    ImagePart,
    Message,
    Modality,
    ModelCall,
    OutputSchema,
    Parsed,
    Part,
    Role,
    Sampling,
    SchemaError,
    TextPart,
    ThinkingLevel,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    WireRequest,
)

from ..json_reading import Object, as_object, read_json, text_of
from .content import AUDIO_FORMATS
from .dialect import Dialect

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_SAMPLING = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
_EFFORTS: dict[str, ThinkingLevel] = {
    "none": "off",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
}
_READ = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "logprobs",
        "top_logprobs",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "modalities",
        "stream",
        "stream_options",
        *_SAMPLING,
    }
)
_AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}
assert set(_AUDIO_TYPES.values()) <= set(AUDIO_FORMATS)


def parse(request: WireRequest, dialect: Dialect) -> Parsed:
    """The call; raises `InvalidInputError` with the path of what is wrong."""
    try:
        body = read_json(request.body)
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None
    data = _object(body, "")
    warnings: list[CallWarning] = []
    try:
        call = ModelCall(
            model=_text(data.get("model"), "model"),
            provider=dialect.provider,
            messages=tuple(_message(message, f"messages[{i}]") for i, message in enumerate(_list(data, "messages"))),
            tools=tuple(_tool(tool, f"tools[{i}]") for i, tool in enumerate(_list(data, "tools"))),
            tool_choice=_tool_choice(data.get("tool_choice")),
            parallel_tool_calls=data.get("parallel_tool_calls"),
            sampling=_sampling(data),
            output=_output(data.get("response_format")),
            thinking=_EFFORTS.get(text_of(data, "reasoning_effort") or ""),
            modalities=cast("tuple[Modality, ...]", tuple(_list(data, "modalities"))),
            stream=data.get("stream") is True,
            provider_options=_rest(data, dialect),
        )
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.path) from None
    return Parsed(call, tuple(warnings))


def _rest(data: Object, dialect: Dialect) -> dict[str, Any]:
    rest = {name: value for name, value in data.items() if name not in _READ and value is not None}
    if rest.get("reasoning_effort") in _EFFORTS:
        del rest["reasoning_effort"]
    response_format = as_object(data.get("response_format"))
    if response_format.get("type") == "json_object":
        rest["response_format"] = response_format
    return {dialect.provider: rest} if rest else {}


def _sampling(data: Object) -> Sampling:
    stop = data.get("stop")
    values = {name: data[name] for name in _SAMPLING if data.get(name) is not None}
    limit = data.get("max_completion_tokens")
    return Sampling(
        **values,
        max_output_tokens=data.get("max_tokens") if limit is None else limit,
        top_logprobs=data.get("top_logprobs"),
        stop=(stop,) if isinstance(stop, str) else tuple(_list(data, "stop")),
    )


def _object(value: Any, path: str) -> Object:
    if not isinstance(value, dict):
        raise InvalidInputError(f"expected an object, got {type(value).__name__}", path=path)
    return cast(Object, value)


def _list(data: Object, name: str, path: str = "") -> list[Any]:
    value = data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidInputError(f"expected a list, got {type(value).__name__}", path=f"{path}{name}")
    return cast("list[Any]", value)


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"expected text, got {type(value).__name__}", path=path)
    return value


def _tool(data: Any, path: str) -> ToolSpec:
    function = _object(_object(data, path).get("function"), f"{path}.function")
    return ToolSpec(
        name=_text(function.get("name"), f"{path}.function.name"),
        description=text_of(function, "description") or "",
        parameters=as_object(function.get("parameters")),
        strict=function.get("strict"),
    )


def _tool_choice(data: Any) -> ToolChoice | None:
    if data is None:
        return None
    if data in ("auto", "none", "required"):
        return ToolChoice(data)
    function = _object(_object(data, "tool_choice").get("function"), "tool_choice.function")
    return ToolChoice("tool", _text(function.get("name"), "tool_choice.function.name"))


def _output(data: Any) -> OutputSchema | None:
    format = as_object(data)
    if format.get("type") != "json_schema":
        return None
    schema = _object(format.get("json_schema"), "response_format.json_schema")
    return OutputSchema(
        name=_text(schema.get("name"), "response_format.json_schema.name"),
        schema=as_object(schema.get("schema")),
        description=text_of(schema, "description"),
        strict=schema.get("strict") is True,
    )


def _message(value: Any, path: str) -> Message:
    data = _object(value, path)
    role = _ROLES.get(_text(data.get("role"), f"{path}.role"))
    if role is None:
        raise InvalidInputError(f"unknown role {data['role']!r}", path=f"{path}.role")
    try:
        if role == "tool":
            call_id = _text(data.get("tool_call_id"), f"{path}.tool_call_id")
            texts = _content(data.get("content"), f"{path}.content")
            return Message.tool(ToolResult(call_id, cast("tuple[TextPart, ...]", texts)))
        parts = _content(data.get("content"), f"{path}.content")
        if role == "assistant":
            parts += _spoken(data) + _calls(data, path)
        return Message(role, parts)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=f"{path}.{error.path}" if error.path else path) from None


def _spoken(data: Object) -> tuple[Part, ...]:
    id = text_of(as_object(data.get("audio")), "id")
    return (AudioPart(Blob.from_provider_file("openai", id, "audio/wav"), id=id),) if id else ()


def _calls(data: Object, path: str) -> tuple[Part, ...]:
    calls: list[Part] = []
    for index, value in enumerate(_list(data, "tool_calls", f"{path}.")):
        place = f"{path}.tool_calls[{index}]"
        call = _object(value, place)
        function = _object(call.get("function"), f"{place}.function")
        calls.append(
            ToolCall(
                _text(call.get("id"), f"{place}.id"),
                _text(function.get("name"), f"{place}.function.name"),
                _text(function.get("arguments"), f"{place}.function.arguments"),
            )
        )
    return tuple(calls)


def _content(content: Any, path: str) -> tuple[Part, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (TextPart(content),)
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of parts, got {type(content).__name__}", path=path)
    return tuple(_part(part, f"{path}[{index}]") for index, part in enumerate(cast("list[Any]", content)))


def _part(value: Any, path: str) -> Part:
    data = _object(value, path)
    kind = data.get("type")
    if kind in ("text", "refusal"):
        return TextPart(_text(data.get(kind), f"{path}.{kind}"))
    if kind == "image_url":
        image = _object(data.get("image_url"), f"{path}.image_url")
        url = _text(image.get("url"), f"{path}.image_url.url")
        detail = image.get("detail")
        return ImagePart(_blob(url, "image/*", f"{path}.image_url.url"), detail)
    if kind == "input_audio":
        audio = _object(data.get("input_audio"), f"{path}.input_audio")
        media_type = _AUDIO_TYPES.get(text_of(audio, "format") or "")
        if media_type is None:
            raise InvalidInputError("use 'wav' or 'mp3'", path=f"{path}.input_audio.format")
        content = _base64(_text(audio.get("data"), f"{path}.input_audio.data"), f"{path}.input_audio.data")
        return AudioPart(Blob.from_bytes(content, media_type))
    if kind == "file":
        return DocumentPart(_file(_object(data.get("file"), f"{path}.file"), f"{path}.file"))
    raise InvalidInputError(f"unknown content part {kind!r}", path=f"{path}.type")


def _file(data: Object, path: str) -> Blob:
    name = text_of(data, "filename")
    file_id = text_of(data, "file_id")
    if file_id is not None:
        return Blob.from_provider_file("openai", file_id, "application/pdf", name=name)
    return _blob(_text(data.get("file_data"), f"{path}.file_data"), "application/pdf", f"{path}.file_data", name)


def _blob(url: str, media_type: str, path: str, name: str | None = None) -> Blob:
    if not url.startswith("data:"):
        return Blob.from_url(url, media_type, name=name)
    header, comma, data = url[5:].partition(",")
    type_, _, encoding = header.partition(";")
    if not comma or encoding != "base64":
        raise InvalidInputError("a data URL here is data:TYPE;base64,DATA", path=path)
    return Blob.from_bytes(_base64(data, path), type_ or media_type, name=name)


def _base64(data: str, path: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(f"not base64: {error}", path=path) from None
