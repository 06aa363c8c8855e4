"""Encodes a call as a request body, with a warning for everything that the format or the dialect cannot express."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic_core import to_json

from abstractcore import schema
from abstractcore.schema import (
    CallWarning,
    Encoded,
    ModelCall,
    OutputSchema,
    Sampling,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
    WireRequest,
    to_data,
)

from ...common.call_options import SAMPLING_OPTIONS, add_provider_options, unsupported
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import write_function_tool, write_output
from ...common.reading import Object
from ...common.request_limits import within_limits
from ...common.thinking import nearest_level
from .cache_points import add_cache
from .dialect import LEVELS, ChatDialect
from .json_mode import JSON_MODE, instruct
from .thinking import write_thinking
from .vocabulary import WARNINGS, has_field
from .write_messages import write_messages


def encode(call: ModelCall, dialect: ChatDialect) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for what exceeds a limit and for
    provider options that duplicate a field of the call.
    """
    warnings: list[CallWarning] = []
    body, names = request_body(call, dialect, warnings)
    return Encoded(WireRequest("/chat/completions", JSON_HEADERS, to_json(body)), tuple(warnings), names)


def request_body(
    call: ModelCall, dialect: ChatDialect, warnings: list[CallWarning]
) -> tuple[Object, schema.SentNames | None]:
    """Returns the body of the request, and the names that it has in place of the call's; adds to `warnings`.

    Raises as `encode` does.
    """
    if call.hosted_tools:
        raise WARNINGS.hosted_tools(call)
    call = _with_possible_choice(call, dialect, warnings)
    call, names = within_limits(call, dialect.limits, dialect.schemas, dialect.provider, warnings)
    body: Object = {"model": call.model, "messages": write_messages(call, dialect, warnings)}
    body.update(_sampling(call.sampling, dialect, warnings))
    if call.tools:
        body["tools"] = [_tool(tool, f"tools[{i}]", dialect, warnings) for i, tool in enumerate(call.tools)]
    if call.tool_choice is not None:
        body["tool_choice"] = _tool_choice(call.tool_choice)
    if call.parallel_tool_calls is not None:
        body.update(_parallel_tool_calls(call.parallel_tool_calls, dialect, warnings))
    if call.output is not None:
        body["response_format"] = _response_format(call.output, body["messages"], dialect, warnings)
    if call.thinking is not None:
        body.update(_thinking(call.thinking, dialect, warnings))
    if call.modalities:
        body["modalities"] = list(call.modalities)
    if call.stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    add_provider_options(body, call, dialect.provider, partial(has_field, dialect=dialect), warnings, joined=("tools",))
    return body, names


def _sampling(sampling: Sampling, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    body: Object = {}
    if sampling.max_output_tokens is not None:
        body[dialect.max_tokens_field] = sampling.max_output_tokens
    for name in SAMPLING_OPTIONS:
        value = getattr(sampling, name)
        if value is None or value == ():
            continue
        if name not in dialect.options:
            warnings.append(unsupported(f"sampling.{name}", value, name))
        elif name == "top_logprobs":
            body.update({"logprobs": value} if dialect.counted_logprobs else {"logprobs": True, name: value})
        else:
            body[dialect.seed_field if name == "seed" else name] = value
    return body


def _response_format(
    output: OutputSchema, messages: list[Object], dialect: ChatDialect, warnings: list[CallWarning]
) -> Object:
    if dialect.json_mode_only:
        instruct(messages, output, warnings)
        return JSON_MODE
    return {"type": "json_schema", "json_schema": write_output(output, dialect.schemas, warnings)}


def _parallel_tool_calls(parallel: bool, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    if "parallel_tool_calls" in dialect.options:
        return {"parallel_tool_calls": parallel}
    warnings.append(unsupported("parallel_tool_calls", parallel, "parallel_tool_calls"))
    return {}


def _thinking(thinking: ThinkingLevel | int, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    levels = LEVELS if dialect.thinking is None else dialect.thinking.levels
    asked = nearest_level(thinking, levels, warnings)
    written = None if asked is None else write_thinking(asked, dialect.thinking)
    if written is None:
        what = "a thinking budget in tokens" if isinstance(thinking, int) else "thinking"
        warnings.append(unsupported("thinking", thinking, what))
        return {}
    return written


def _tool(tool: ToolSpec, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    described = dialect.tool_descriptions
    written = write_function_tool(tool, path, dialect.schemas, warnings, own_strict=True, described=described)
    return add_cache(written, tool.cache, path, dialect.cache, warnings)


def _with_possible_choice(call: ModelCall, dialect: ChatDialect, warnings: list[CallWarning]) -> ModelCall:
    """Returns the call with any tool required, if it must call a specific one and the provider cannot force that."""
    choice = call.tool_choice
    if choice is None or choice.mode != "tool" or dialect.named_tool_choice:
        return call
    message = "this provider cannot force a specific tool"
    sent = ToolChoice("required")
    warnings.append(CallWarning("tool_choice_changed", "tool_choice", message, to_data(choice), to_data(sent)))
    return call.with_(tool_choice=sent)


def _tool_choice(choice: ToolChoice) -> Any:
    return {"type": "function", "function": {"name": choice.tool}} if choice.mode == "tool" else choice.mode
