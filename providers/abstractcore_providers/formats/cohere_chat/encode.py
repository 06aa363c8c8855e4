"""Encodes a call as a request body, with a warning for everything that the format cannot express."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from abstractcore.schema import CallWarning, Encoded, ModelCall, Sampling, ToolChoice, ToolSpec, WireRequest

from ...common.call_options import add_provider_options, unsupported
from ...common.conversations import origin_of
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import bare_schema, write_function_tool
from ...common.json_schemas import COHERE
from ...common.reading import Object
from ...common.request_limits import COHERE as LIMITS
from ...common.request_limits import within_limits
from .vocabulary import PROVIDER, SAMPLING, WARNINGS, has_field
from .write_messages import write_messages

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
