"""Encodes a call as a request body, with a warning for everything that the format cannot express.

Writes messages, with a warning for everything that the format cannot express. The context size of a request.

A message has one text and one list of images. Reasoning is sent only to the model that wrote it.

By default, Ollama uses a context of 4,096 tokens on machines with little memory, and truncates a longer prompt from its
start, with a successful response. Two measures prevent this. Every request has `truncate: false` and `shift: false`,
with which servers since 0.12.6 reject what does not fit. And a request that may not fit sets a context size that is
large enough: then older servers truncate nothing, and newer ones reject nothing.

The size is an upper estimate: two bytes of text a token, 2,048 tokens an image, and room for the answer. It is a power
of two, since the server reloads a model when it changes; a small call keeps the server's own setting, which is often
larger. A server lowers the number to the model's maximum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    Encoded,
    ImagePart,
    JSONValue,
    Message,
    ModelCall,
    OpaquePart,
    Part,
    ReasoningPart,
    Sampling,
    TextPart,
    ThinkingLevel,
    ToolCall,
    ToolResult,
    ToolSpec,
    WireRequest,
)

from ...common.call_options import (
    duplicate_option_error,
    name_options_left_out,
    options_for,
    reasoning_left_out,
    unsupported,
    with_options,
)
from ...common.conversations import in_order, origin_of
from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import bare_schema, write_function_tool
from ...common.json_schemas import OLLAMA
from ...common.reading import Object
from ...common.thinking import nearest_level
from .vocabulary import (
    ARGUMENTS,
    CALL_FIELDS,
    LEVELS,
    MESSAGE_FIELDS,
    PROVIDER,
    SAMPLING,
    THINKING,
    UNTOUCHED,
    WARNINGS,
    has_field,
    has_option,
    is_at_hand,
    write_image,
)

_NO_OBJECT = "Ollama's format has no object for texts and images"
_CONTENT_ORDER: dict[type[Part], int] = {ImagePart: 0, TextPart: 1}
"""The order of input parts: servers put the images before the text."""
_ASSISTANT_ORDER: dict[type[Part], int] = {ReasoningPart: 0, TextPart: 1, ToolCall: 2, ImagePart: 3}
"""The order in an assistant's message."""


def write_messages(messages: Iterable[Message], origin: str | None, writer: BodyWriter) -> list[Object]:
    """Returns the conversation with the model `origin`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left.
    """
    written: list[Object] = []
    names: dict[str, str] = {}
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        if message.role == "tool":
            results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
            written += [_result(part, names[part.call_id], f"{path}.parts[{i}]", writer) for i, part in results]
            continue
        if message.role == "assistant":
            names = {call.id: call.name for call in message.tool_calls}
            fields = _assistant(message, f"{path}.parts", origin, writer)
        else:
            fields = _content(message.parts, f"{path}.parts", writer)
        if len(fields) > 1 or fields["content"]:
            body = {"role": message.role, **fields}
            written.append(with_options(body, message, path, PROVIDER, MESSAGE_FIELDS[message.role], writer.warnings))
    if not written:
        raise WARNINGS.nothing_left()
    return written


def _content(parts: Iterable[Part], path: str, writer: BodyWriter) -> Object:
    """Returns the text and images of a user's or system message, or of a tool's result."""
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(parts):
        if isinstance(part, TextPart | ImagePart):
            kept.append((index, part))
        elif isinstance(part, OpaquePart):
            writer.warnings.append(WARNINGS.part(part, f"{path}[{index}]"))
        else:
            what = part.blob.media_type if isinstance(part, MEDIA_PARTS) else part.type
            raise UnsupportedContentError(
                f"{path}[{index}]: Ollama's format does not support {what}.", hint="It supports text and images."
            )
    body: Object = {"content": ""}
    for index, part in in_order(kept, _CONTENT_ORDER, path, writer.warnings):
        write_part(part, f"{path}[{index}]", body, writer)
    return body


def _assistant(message: Message, path: str, origin: str | None, writer: BodyWriter) -> Object:
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(message.parts):
        if is_writable(part) and (not isinstance(part, ReasoningPart) or part.origin == origin):
            kept.append((index, part))
        else:
            writer.warnings.append(_left_out(part, f"{path}[{index}]"))
    return write_assistant_parts(kept, path, writer)


def is_writable(part: Part) -> bool:
    """Whether an assistant's message has a field for it."""
    if isinstance(part, ReasoningPart):
        return bool(part.text)
    return isinstance(part, TextPart | ToolCall) or (isinstance(part, ImagePart) and is_at_hand(part))


def write_assistant_parts(kept: Sequence[tuple[int, Part]], path: str, writer: BodyWriter) -> Object:
    """Returns the fields of an assistant's message; each part comes with its index in `path`."""
    body: Object = {"content": ""}
    for index, part in in_order(kept, _ASSISTANT_ORDER, path, writer.warnings):
        write_part(part, f"{path}[{index}]", body, writer)
    return body


def _left_out(part: Part, path: str) -> CallWarning:
    if isinstance(part, ReasoningPart):
        return reasoning_left_out(path)
    return WARNINGS.part(part, path)


def write_part(part: Part, path: str, body: Object, writer: BodyWriter) -> None:
    """Adds `part` to `body`, which may already have parts of its kind."""
    if isinstance(part, TextPart):
        WARNINGS.fields(part, path, ("citations", "cache"), writer.warnings)
        name_options_left_out(part, path, PROVIDER, _NO_OBJECT, writer.warnings)
        body["content"] += part.text
    elif isinstance(part, ImagePart):
        WARNINGS.fields(part, path, ("cache",), writer.warnings)
        name_options_left_out(part, path, PROVIDER, _NO_OBJECT, writer.warnings)
        body.setdefault("images", []).append(write_image(part, path, writer.warnings))
    elif isinstance(part, ReasoningPart):
        WARNINGS.fields(part, path, ("signature", "redacted_data"), writer.warnings)
        body["thinking"] = body.get("thinking", "") + part.text
    elif isinstance(part, ToolCall):
        WARNINGS.fields(part, path, ("signature", "cache"), writer.warnings)
        calls = body.setdefault("tool_calls", [])
        calls.append(write_call(part, len(calls), path, writer))


def write_call(call: ToolCall, index: int, path: str, writer: BodyWriter) -> Object:
    """Returns a tool call, with its id for servers that support ids."""
    function: Object = {"index": index, "name": call.name}
    writer.put_arguments(function, call, path)
    body: Object = {"id": call.id, "type": "function", "function": function}
    return with_options(body, call, path, PROVIDER, CALL_FIELDS, writer.warnings)


def _result(result: ToolResult, name: str, path: str, writer: BodyWriter) -> Object:
    WARNINGS.fields(result, path, ("is_error", "cache"), writer.warnings)
    content = _content(result.content, f"{path}.content", writer)
    body = {"role": "tool", "tool_name": name, "tool_call_id": result.call_id, **content}
    return with_options(body, result, path, PROVIDER, MESSAGE_FIELDS["tool"], writer.warnings)


LEAST_CONTEXT = 4096
"""The context size that every server has (docs.ollama.com/context-length)."""

_BYTES_A_TOKEN = 2
_TOKENS_AN_IMAGE = 2048
_TOKENS_OF_AN_ANSWER = 1024


def context_for(body: Object, size: int, answer_tokens: int | None) -> int | None:
    """Returns the context size for a body of `size` bytes, in tokens; None if the server's own setting is enough."""
    images = [image for message in body["messages"] for image in message.get("images", ())]
    texts = size - sum(map(len, images))
    tokens = texts // _BYTES_A_TOKEN + len(images) * _TOKENS_AN_IMAGE + (answer_tokens or _TOKENS_OF_AN_ANSWER)
    return None if tokens <= LEAST_CONTEXT else 1 << (tokens - 1).bit_length()


_UNSUPPORTED = ("parallel_tool_calls", "modalities")


def encode(call: ModelCall, context_size: int | None) -> Encoded:
    """Returns the request for a lowered call, with a context of `context_size` tokens, or of as many as the call needs.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for provider options that
    duplicate a field of the call.
    """
    if call.hosted_tools:
        raise WARNINGS.hosted_tools(call)
    written, _, warnings = _written(call, context_size)
    return Encoded(WireRequest("/api/chat", JSON_HEADERS, written), tuple(warnings))


def context_of(call: ModelCall, context_size: int | None) -> int | None:
    """Returns the context size of a request for `call`, in tokens; raises as `encode` does."""
    return _written(call, context_size)[1].get("num_ctx")


def _written(call: ModelCall, context_size: int | None) -> tuple[bytes, Object, list[CallWarning]]:
    """Returns the body, its options, and the warnings. The options come last: they depend on the rest."""
    writer = BodyWriter(PROVIDER, ARGUMENTS, one_line=True)
    options: Object = {}
    body = _body(call, options, writer)
    written = writer.json(body)
    size = context_size or context_for(body, len(written), call.sampling.max_output_tokens)
    if size is not None:
        _add_default(options, "num_ctx", size, f"provider_options.{PROVIDER}.options", writer.warnings)
    if options:
        written = b'%b,"options":%b}' % (written[:-1], to_json(options))
    return written, options, writer.warnings


def _body(call: ModelCall, options: Object, writer: BodyWriter) -> Object:
    """Returns the body without its `options`, which are added to a separate mapping."""
    warnings = writer.warnings
    messages = write_messages(call.messages, origin_of(PROVIDER, call.model), writer)
    body: Object = {"model": call.model, "messages": messages}
    _add_sampling(call.sampling, body, options)
    if call.tools:
        body["tools"] = [_tool(tool, f"tools[{i}]", writer) for i, tool in enumerate(call.tools)]
    if call.output is not None:
        body["format"] = bare_schema(call.output, OLLAMA, warnings)
    if call.thinking is not None:
        body.update(_thinking(call.thinking, warnings))
    body["stream"] = call.stream
    _warn_of_choices(call, warnings)
    _add_provider_options(body, options, call, warnings)
    # Keeps the server from truncating the prompt, unless the user set these options.
    for name, value in UNTOUCHED.items():
        _add_default(body, name, value, f"provider_options.{PROVIDER}", warnings)
    return body


def _add_sampling(sampling: Sampling, body: Object, options: Object) -> None:
    if sampling.top_logprobs is not None:
        body["logprobs"] = True
        body["top_logprobs"] = sampling.top_logprobs
    options.update(SAMPLING.write(sampling))


def _tool(tool: ToolSpec, path: str, writer: BodyWriter) -> Object:
    WARNINGS.fields(tool, path, ("cache",), writer.warnings)
    if tool.strict is not None:
        writer.warnings.append(unsupported(f"{path}.strict", tool.strict, "strict arguments"))
    return write_function_tool(tool, path, OLLAMA, writer.warnings)


def _thinking(thinking: ThinkingLevel | int, warnings: list[CallWarning]) -> Object:
    if thinking == 0:
        warnings.append(CallWarning("thinking_changed", "thinking", "Ollama has no budget in tokens", 0, "off"))
        return {"think": THINKING["off"]}
    sent = nearest_level(thinking, LEVELS, warnings)
    if isinstance(sent, str):
        return {"think": THINKING[sent]}
    warnings.append(unsupported("thinking", thinking, "a thinking budget in tokens"))
    return {}


def _warn_of_choices(call: ModelCall, warnings: list[CallWarning]) -> None:
    if call.tool_choice is not None and call.tool_choice.mode == "auto":
        warnings.append(CallWarning("no_effect", "tool_choice", "it is the default"))
    elif call.tool_choice is not None:
        warnings.append(unsupported("tool_choice", call.tool_choice.mode, "tool_choice"))
    WARNINGS.options(call, _UNSUPPORTED, warnings)


def _add_provider_options(body: Object, options: Object, call: ModelCall, warnings: list[CallWarning]) -> None:
    for name, value in options_for(call, PROVIDER, warnings).items():
        path = f"provider_options.{PROVIDER}.{name}"
        if name == "options":
            _add_model_options(options, value, path)
        elif name in body or has_field(name, value):
            raise duplicate_option_error(path)
        else:
            body[name] = value


def _add_model_options(options: Object, given: JSONValue, path: str) -> None:
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"expected a mapping, got {type(given).__name__}", path=path)
    for name, value in cast("Mapping[str, JSONValue]", given).items():
        if name in options or has_option(name, value):
            raise duplicate_option_error(f"{path}.{name}")
        options[name] = value


def _add_default(body: Object, name: str, value: JSONValue, path: str, warnings: list[CallWarning]) -> None:
    if name not in body:
        body[name] = value
    elif body[name] == value:
        warnings.append(CallWarning("no_effect", f"{path}.{name}", f"{name} is {value!r} here by default"))
