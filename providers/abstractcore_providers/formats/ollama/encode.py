"""Encodes a call as a request body, with a warning for everything that the format cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    Encoded,
    JSONValue,
    ModelCall,
    Sampling,
    ThinkingLevel,
    ToolSpec,
    WireRequest,
)

from ...common.call_options import duplicate_option_error, options_for, unsupported
from ...common.conversations import origin_of
from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import bare_schema, write_function_tool
from ...common.json_schemas import OLLAMA
from ...common.reading import Object
from ...common.thinking import nearest_level
from .context import context_for
from .vocabulary import ARGUMENTS, LEVELS, PROVIDER, SAMPLING, THINKING, UNTOUCHED, WARNINGS, has_field, has_option
from .write_messages import write_messages

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
