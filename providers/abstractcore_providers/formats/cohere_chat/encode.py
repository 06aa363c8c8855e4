"""Encodes a call as a request body, with a warning for everything that the format cannot express.

Writes messages, with a warning for everything that the format cannot express.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    DocumentPart,
    Encoded,
    ImagePart,
    Message,
    ModelCall,
    OpaquePart,
    Part,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    WireRequest,
)

from ...common.call_options import add_provider_options, unsupported, with_options
from ...common.conversations import append_block, as_content, origin_of, refuse_unanswered_calls, with_valid_text
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import bare_schema, write_function_tool
from ...common.json_schemas import COHERE
from ...common.reading import Object
from ...common.request_limits import COHERE as LIMITS
from ...common.request_limits import within_limits
from .answers import document_block, image_block, text_block, write_answer
from .vocabulary import MESSAGE_FIELDS, PROVIDER, SAMPLING, WARNINGS, has_field

_LOST = ("citations", "cache")


def write_messages(messages: Sequence[Message], origin: str | None, warnings: list[CallWarning]) -> list[Object]:
    """Returns the conversation with the model `origin`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left.
    """
    refuse_unanswered_calls(messages)
    written: list[Object] = []
    for index, message in enumerate(messages):
        path, role = f"messages[{index}]", message.role
        if role == "tool":
            results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
            written += [_tool_result(part, f"{path}.parts[{i}]", warnings) for i, part in results]
            continue
        if role == "assistant":
            parts = [
                with_valid_text(part, f"{path}.parts[{i}]", warnings) if isinstance(part, ToolCall) else part
                for i, part in enumerate(message.parts)
            ]
            body = write_answer(parts, f"{path}.parts", warnings, planned=True, origin=origin)
        else:
            body = _content(message, f"{path}.parts", warnings)
        if body:
            body = {"role": role, **body}
            written.append(with_options(body, message, path, PROVIDER, MESSAGE_FIELDS[role], warnings))
    if not written:
        raise WARNINGS.nothing_left()
    return written


def _content(message: Message, path: str, warnings: list[CallWarning]) -> Object:
    """Returns the content of a user's or system message; empty if there is none."""
    blocks: list[Object] = []
    for index, part in enumerate(message.parts):
        block = _block(part, f"{path}[{index}]", warnings)
        if block is not None:
            append_block(blocks, block)
    return {"content": as_content(blocks)} if blocks else {}


def _block(part: Part, path: str, warnings: list[CallWarning]) -> Object | None:
    if isinstance(part, TextPart):
        return text_block(part, path, _LOST, warnings)
    if isinstance(part, ImagePart):
        return image_block(part, path, warnings)
    if isinstance(part, OpaquePart):
        warnings.append(WARNINGS.part(part, path))
        return None
    what = part.blob.media_type if isinstance(part, MEDIA_PARTS) else part.type
    raise UnsupportedContentError(
        f"{path}: Cohere's chat format does not support {what}.", hint="It supports text and images."
    )


def _tool_result(result: ToolResult, path: str, warnings: list[CallWarning]) -> Object:
    WARNINGS.fields(result, path, ("is_error", "cache"), warnings)
    blocks: list[Object] = []
    for index, part in enumerate(result.content):
        part_path = f"{path}.content[{index}]"
        if isinstance(part, TextPart):
            append_block(blocks, text_block(part, part_path, _LOST, warnings))
        elif isinstance(part, DocumentPart):
            blocks.append(document_block(part, part_path, warnings))
        else:
            raise UnsupportedContentError(
                f"{part_path}: the result of tool call {result.call_id!r} has {part.type}: only text is supported.",
                hint="Put it into a user message after the result.",
            )
    body: Object = {"role": "tool", "tool_call_id": result.call_id, "content": as_content(blocks) if blocks else ""}
    return with_options(body, result, path, PROVIDER, (), warnings)


_UNSUPPORTED = ("parallel_tool_calls", "modalities")


def encode(call: ModelCall) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for provider options that
    duplicate a field of the call.
    """
    if call.hosted_tools:
        raise WARNINGS.hosted_tools(call)
    warnings: list[CallWarning] = []
    call, names = within_limits(call, LIMITS, COHERE, PROVIDER, warnings)
    messages = write_messages(call.messages, origin_of(PROVIDER, call.model), warnings)
    body: Object = {"model": call.model, "messages": messages}
    body.update(_sampling(call.sampling, warnings))
    body.update(_tools(call.tools, warnings))
    if call.tool_choice is not None:
        body.update(_tool_choice(call.tool_choice, warnings))
    if call.output is not None:
        body["response_format"] = {"type": "json_object", "json_schema": bare_schema(call.output, COHERE, warnings)}
    if call.thinking is not None:
        body["thinking"] = _thinking(call.thinking, warnings)
    WARNINGS.options(call, _UNSUPPORTED, warnings)
    body["stream"] = call.stream
    add_provider_options(body, call, PROVIDER, has_field, warnings)
    return Encoded(WireRequest("/chat", JSON_HEADERS, to_json(body)), tuple(warnings), names)


def _sampling(sampling: Sampling, warnings: list[CallWarning]) -> Object:
    body = SAMPLING.write(sampling)
    if sampling.top_logprobs is not None:
        body["logprobs"] = True
        if sampling.top_logprobs:
            message = "Cohere returns log probabilities only of the chosen tokens"
            path = "sampling.top_logprobs"
            warnings.append(CallWarning("alternatives_left_out", path, message, sampling.top_logprobs, 0))
    return body


def _tools(tools: tuple[ToolSpec, ...], warnings: list[CallWarning]) -> Object:
    """Returns the tools; strict arguments can only be set for all of them together."""
    if not tools:
        return {}
    for index, tool in enumerate(tools):
        WARNINGS.fields(tool, f"tools[{index}]", ("cache",), warnings)
    strict = tools[0].strict
    if any(tool.strict is not strict for tool in tools):
        tools, strict = tuple(_lenient(tool, f"tools[{i}]", warnings) for i, tool in enumerate(tools)), None
    body: Object = {
        "tools": [write_function_tool(tool, f"tools[{i}]", COHERE, warnings) for i, tool in enumerate(tools)]
    }
    return body if strict is None else body | {"strict_tools": strict}


def _lenient(tool: ToolSpec, path: str, warnings: list[CallWarning]) -> ToolSpec:
    if tool.strict is not None:
        warnings.append(unsupported(f"{path}.strict", tool.strict, "strict arguments for some tools only"))
    return replace(tool, strict=None)


def _tool_choice(choice: ToolChoice, warnings: list[CallWarning]) -> Object:
    if choice.mode == "auto":
        warnings.append(CallWarning("no_effect", "tool_choice", "it is the default"))
        return {}
    if choice.mode == "tool":
        asked = {"mode": "tool", "tool": choice.tool}
        message = "Cohere can require a tool call, but not of a specific tool"
        warnings.append(CallWarning("tool_choice_changed", "tool_choice", message, asked, {"mode": "required"}))
    return {"tool_choice": "NONE" if choice.mode == "none" else "REQUIRED"}


def _thinking(thinking: Any, warnings: list[CallWarning]) -> Object:
    if isinstance(thinking, int) and thinking > 0:
        return {"type": "enabled", "token_budget": thinking}
    sent = "off" if thinking in ("off", 0) else "medium"
    if sent != thinking:
        message = "Cohere supports a token budget, or thinking on and off"
        warnings.append(CallWarning("thinking_changed", "thinking", message, thinking, sent))
    return {"type": "disabled" if sent == "off" else "enabled"}
