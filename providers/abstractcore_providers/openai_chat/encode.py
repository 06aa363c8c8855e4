"""From a call to a request body, with a warning for everything the format or the dialect cannot say."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    Encoded,
    JSONValue,
    Message,
    ModelCall,
    Part,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    WireRequest,
)

from ..json_reading import Object
from .content import write_part
from .dialect import Dialect

_HEADERS = {"content-type": "application/json"}
_COMMON_OPTIONS = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")


def encode(call: ModelCall, dialect: Dialect) -> Encoded:
    """The request for a lowered call.

    Raises `UnsupportedContentError` for content without a shape here, and `InvalidInputError` for provider options
    that contradict the call.
    """
    warnings: list[CallWarning] = []
    body: Object = {"model": call.model, "messages": _messages(call, warnings, dialect)}
    body.update(_sampling(call.sampling, dialect, warnings))
    if call.tools:
        body["tools"] = [_tool(tool) for tool in call.tools]
    if call.tool_choice is not None:
        body["tool_choice"] = _tool_choice(call.tool_choice)
    if call.parallel_tool_calls is not None:
        body["parallel_tool_calls"] = call.parallel_tool_calls
    if call.output is not None:
        schema: Object = {"name": call.output.name, "schema": call.output.schema, "strict": call.output.strict}
        if call.output.description is not None:
            schema["description"] = call.output.description
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if call.thinking is not None:
        body.update(_thinking(call.thinking, dialect, warnings))
    if call.modalities:
        body["modalities"] = list(call.modalities)
    if call.stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    _add_provider_options(body, call, dialect, warnings)
    return Encoded(WireRequest("/chat/completions", _HEADERS, to_json(body)), tuple(warnings))


def _unsupported(path: str, requested: JSONValue, what: str) -> CallWarning:
    return CallWarning("unsupported_option", path, f"{what} cannot be asked of this provider", requested)


def _sampling(sampling: Sampling, dialect: Dialect, warnings: list[CallWarning]) -> Object:
    body: Object = {}
    if sampling.max_output_tokens is not None:
        body[dialect.max_tokens_field] = sampling.max_output_tokens
    for name in _COMMON_OPTIONS:
        value = getattr(sampling, name)
        if value is not None:
            body[name] = value
    if sampling.top_k is not None:
        if "top_k" in dialect.options:
            body["top_k"] = sampling.top_k
        else:
            warnings.append(_unsupported("sampling.top_k", sampling.top_k, "top_k"))
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.top_logprobs is not None:
        body["logprobs"] = True
        body["top_logprobs"] = sampling.top_logprobs
    return body


def _thinking(thinking: str | int, dialect: Dialect, warnings: list[CallWarning]) -> Object:
    if not dialect.reasoning_effort or isinstance(thinking, int):
        what = "a thinking budget in tokens" if isinstance(thinking, int) else "thinking"
        warnings.append(_unsupported("thinking", thinking, what))
        return {}
    return {"reasoning_effort": "none" if thinking == "off" else thinking}


def _tool(tool: ToolSpec) -> Object:
    function: Object = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    if tool.parameters:
        function["parameters"] = tool.parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _tool_choice(choice: ToolChoice) -> Any:
    return {"type": "function", "function": {"name": choice.tool}} if choice.mode == "tool" else choice.mode


def _messages(call: ModelCall, warnings: list[CallWarning], dialect: Dialect) -> list[Object]:
    written: list[Object] = []
    for index, message in enumerate(call.messages):
        path = f"messages[{index}]"
        if message.role == "tool":
            written += [_tool_result(part, f"{path}.parts[{j}]", warnings) for j, part in enumerate(message.parts)]
        elif message.role == "assistant":
            body = _assistant(message, path, warnings)
            if body is not None:
                written.append(body)
        else:
            written.append({"role": message.role, "content": _content(message, path, warnings, dialect)})
    return written


def _content(message: Message, path: str, warnings: list[CallWarning], dialect: Dialect) -> Any:
    if len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
        _warn_of_citations(message.parts[0], f"{path}.parts[0]", warnings)
        return message.parts[0].text
    content: list[Object] = []
    for index, part in enumerate(message.parts):
        place = f"{path}.parts[{index}]"
        if part.type == "opaque":
            warnings.append(_left_out(part, place))
            continue
        if isinstance(part, TextPart):
            _warn_of_citations(part, place, warnings)
        content.append(write_part(part, place, dialect.provider))
    return content


def _left_out(part: Part, path: str) -> CallWarning:
    return CallWarning("part_left_out", path, f"the chat completions format has no place for {part.type} parts")


def _warn_of_citations(part: TextPart, path: str, warnings: list[CallWarning]) -> None:
    if part.citations:
        warnings.append(CallWarning("citations_left_out", f"{path}.citations", "citations cannot be sent back"))


def _assistant(message: Message, path: str, warnings: list[CallWarning]) -> Object | None:
    texts: list[str] = []
    calls: list[Object] = []
    body: Object = {"role": "assistant"}
    for index, part in enumerate(message.parts):
        place = f"{path}.parts[{index}]"
        if isinstance(part, TextPart):
            _warn_of_citations(part, place, warnings)
            if calls:
                warnings.append(CallWarning("reordered", place, "text after a tool call is sent before it"))
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            calls.append(_tool_call(part, place, warnings))
        elif part.type == "audio" and getattr(part, "id", None):
            body["audio"] = {"id": getattr(part, "id", None)}
        else:
            warnings.append(_left_out(part, place))
    if texts:
        body["content"] = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]
    if calls:
        body["tool_calls"] = calls
    return body if len(body) > 1 else None


def _tool_call(call: ToolCall, path: str, warnings: list[CallWarning]) -> Object:
    if call.signature is not None:
        warnings.append(CallWarning("signature_left_out", f"{path}.signature", "signatures have no place here"))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_text}}


def _tool_result(part: Part, path: str, warnings: list[CallWarning]) -> Object:
    assert isinstance(part, ToolResult)
    if part.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "a result cannot be marked as an error"))
    texts: list[Object] = []
    for index, content in enumerate(part.content):
        if isinstance(content, TextPart):
            texts.append({"type": "text", "text": content.text})
        else:
            raise _media_in_result(content, part, f"{path}.content[{index}]")
    text = texts[0]["text"] if len(texts) == 1 else texts or ""
    return {"role": "tool", "tool_call_id": part.call_id, "content": text}


def _media_in_result(content: Part, result: ToolResult, path: str) -> InvalidInputError:
    return InvalidInputError(
        f"the result of tool call {result.call_id!r} holds {content.type}; this format takes text there only",
        path=path,
        hint="Put it into a user message after the result.",
    )


def _add_provider_options(body: Object, call: ModelCall, dialect: Dialect, warnings: list[CallWarning]) -> None:
    for provider, options in call.provider_options.items():
        if provider != dialect.provider:
            message = f"options for {provider!r} are not sent to {dialect.provider!r}"
            warnings.append(CallWarning("other_provider_options", f"provider_options.{provider}", message))
            continue
        for name, value in options.items():
            if name in body:
                raise InvalidInputError(
                    "contradicts what the call says already",
                    path=f"provider_options.{provider}.{name}",
                    hint="Leave one of the two out.",
                )
            body[name] = value
