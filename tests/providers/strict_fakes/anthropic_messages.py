"""A strict fake of the Messages API, checked against the types of the anthropic package."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from anthropic.types.beta import message_create_params as beta
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError

from tests.providers.strict_fakes import claude
from tests.providers.strict_fakes.fake import TEXT, Fake, Row

OPTIONS = {"max_tokens": "max_output_tokens", "temperature": "temperature", "top_p": "top_p", "top_k": "top_k"}
_SAMPLING = ("temperature", "top_p", "top_k")
_CHOICES = {"any": "required", "auto": "auto", "none": "none", "tool": "tool"}
_TYPES: dict[bool, Any] = {
    False: TypeAdapter(MessageCreateParamsNonStreaming | MessageCreateParamsStreaming),
    True: TypeAdapter(beta.MessageCreateParamsNonStreaming | beta.MessageCreateParamsStreaming),
}
"""The body of a request, by whether it has a beta."""
_BETAS = {"computer_20250124": "computer-use-2025-01-24", "computer_20251124": "computer-use-2025-11-24"}
_BINDING = "thinking-binding-controls-2026-08-01"
_THOUGHT = ("thinking", "redacted_thinking")


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    options: dict[str, Any] = {ours: body[theirs] for theirs, ours in OPTIONS.items() if theirs in body}
    if "stop_sequences" in body:
        options["stop"] = body["stop_sequences"]
    thinking = body.get("thinking")
    off = thinking["type"] if thinking and thinking["type"] not in ("adaptive", "enabled") else ""
    asked = claude.thinking_of(thinking, body.get("output_config", {}).get("effort"), off)
    if asked is not None:
        options["thinking"] = asked
    if "format" in body.get("output_config", {}):
        options["output"] = True
    if '"cache_control"' in json.dumps(body):
        options["cache"] = True
    choice = body.get("tool_choice")
    if choice is not None:
        if "disable_parallel_tool_use" in choice:
            options["parallel_tool_calls"] = not choice["disable_parallel_tool_use"]
        if choice["type"] != "auto" or "disable_parallel_tool_use" not in choice:
            options["tool_choice"] = _CHOICES[choice["type"]]
    if "tools" in body:
        options["tools"] = [tool.get("name") for tool in body["tools"]]
    return options


def refusal(row: Row, path: str, body: Any, headers: Mapping[str, str]) -> str | None:
    """The message of the API's 400, None for a request that the model accepts."""
    return next(_refusals(row, body, headers), None)


def _refusals(row: Row, body: Any, headers: Mapping[str, str]) -> Iterator[str]:
    yield from _malformed(body, "anthropic-beta" in headers)
    options, thinking = sent(body), body.get("thinking")
    if headers.get("anthropic-version", "") >= "2026-10-21":
        yield from (f"{name}: Extra inputs are not permitted" for name in _SAMPLING if name in body)
    elif not headers.get("anthropic-version"):
        yield "anthropic-version: header is required"
    effort = body.get("output_config", {}).get("effort")
    yield from claude.thinking_refusals(row, thinking, effort, body["max_tokens"])
    yield from claude.sampling_refusals(row, options, thinking)
    if options.get("tool_choice") in ("required", "tool"):
        yield from claude.forced_refusal(row, thinking)
    yield from _of_betas(row, body, headers.get("anthropic-beta", "").split(","))
    yield from claude.binding_refusal(row, thinking, any(block.get("type") in _THOUGHT for block in _blocks(body)))
    if body["messages"][-1]["role"] == "assistant" and not row.get("accepts_prefill", True):
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    if "output" in options and row.get("structured_output") == "none":
        yield "output_config.format: this model does not support structured outputs"
    yield from _of_content(row, body)
    yield from _of_tool_search(row, body)


def _of_tool_search(row: Row, body: Any) -> Iterator[str]:
    """agents-and-tools/tool-use/tool-search-tool, "Error handling", "Prompt caching" and "Model compatibility"."""
    tools = body.get("tools", ())
    deferred = [tool for tool in tools if tool.get("defer_loading")]
    searches = [tool for tool in tools if tool.get("type", "").startswith("tool_search_tool_")]
    if (deferred or searches) and not row.get("tool_search"):
        yield "tools: this model does not support tool search"
    if tools and len(deferred) == len(tools):
        yield "At least one tool must have defer_loading=false. All tools cannot be deferred."
    if any("cache_control" in tool for tool in deferred):
        yield "tools: cache_control cannot be set on a tool with defer_loading"
    for block in _blocks(body):
        content = block.get("content")
        references = content.get("tool_references", ()) if isinstance(content, dict) else ()
        for name in (each["tool_name"] for each in references):
            if name not in [tool["name"] for tool in tools]:
                yield f"Tool reference '{name}' not found in available tools"


def _malformed(body: Any, has_beta: bool) -> Iterator[str]:
    try:
        _consume(_TYPES[has_beta].validate_python(body))
    except ValidationError as error:
        yield f"invalid request: {error}"


def _consume(value: Any) -> None:
    """Lists are checked one by one, when they are read."""
    items: Any = value.values() if isinstance(value, dict) else value
    if not isinstance(items, str | bytes) and hasattr(items, "__iter__"):
        for item in items:
            _consume(item)


def _of_betas(row: Row, body: Any, betas: list[str]) -> Iterator[str]:
    for tool in body.get("tools", ()):
        kind = tool.get("type", "")
        if kind.startswith("computer_") and kind != row["settings"]["computer_tool"]:
            yield f"tools: {kind!r} is not supported for this model"
        if kind in _BETAS and _BETAS[kind] not in betas:
            yield f"tools: Input tag {kind!r} found using 'type' does not match any of the expected tags"
    if "block_binding" in body.get("thinking", {}) and _BINDING not in betas:
        yield "thinking.adaptive.block_binding: Extra inputs are not permitted"


def _blocks(body: Any) -> Iterator[Any]:
    for message in body["messages"]:
        if isinstance(message["content"], list):
            for block in message["content"]:
                yield block
                yield from block["content"] if isinstance(block.get("content"), list) else ()


def _of_content(row: Row, body: Any) -> Iterator[str]:
    for block in _blocks(body):
        media_type = block.get("source", {}).get("media_type")
        if media_type is not None and media_type not in row.get("accepts", ()):
            yield f"media type {media_type!r} is not supported by this model"
    in_place = (row.get("settings") or {}).get("system_in_place")
    if any(message["role"] == "system" for message in body["messages"]) and not in_place:
        yield "messages: role 'system' is not supported on this model"
    texts = [*_blocks(body), *(body["system"] if isinstance(body.get("system"), list) else ()), *body.get("tools", ())]
    points = [block["cache_control"] for block in texts if block.get("cache_control")]
    if len(points) > row.get("cache_points", 4):
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(points)}."
    if any(point.get("ttl", "5m") not in row.get("cache_times", ()) for point in points):
        yield "cache_control.ttl: not supported by this model"


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of one delta."""
    usage = {"input_tokens": 5, "output_tokens": 4}
    message = {"id": "r", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    if not stream:
        whole = {**message, "content": [{"type": "text", "text": TEXT}], "usage": usage}
        return "application/json", json.dumps(whole).encode()
    events: list[Any] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "text/event-stream", "".join(lines).encode()


_OTHERS = {"stop", "thinking", "tool_choice", "tools", "output", "parallel_tool_calls", "cache"}
FAKE = Fake(
    lambda row, path, body: None,
    sent,
    frozenset({*OPTIONS.values(), *_OTHERS}),
    answer,
    lambda message: {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
    lambda path, body: body.get("stream") is True,
    (),
    refusal,
)


_RAW_PREDICT = re.compile(
    r"(?:/v1/projects/[^/]+/locations/[^/]+)?/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)"
)


def _vertex_refusal(row: Row, path: str, body: Any, headers: Mapping[str, str]) -> str | None:
    """Vertex AI's, whose requests `anthropic.AnthropicVertex` writes: the model is in the path, the version in the
    body.
    """
    found = _RAW_PREDICT.fullmatch(path)
    if found is None or (found[2] == "streamRawPredict") != body.get("stream", False):
        return f"no such method: {path}"
    if "model" in body or "anthropic-version" in headers or headers.get("authorization") != "Bearer t":
        return "model: Extra inputs are not permitted, or the header anthropic-version, or no token"
    rest = dict(body)
    version = rest.pop("anthropic_version", "")
    if version not in ("vertex-2023-10-16", "2026-10-21"):
        return f"anthropic_version: {version!r} is not supported"
    messages_headers = {**headers, "anthropic-version": version.replace("vertex-2023-10-16", "2023-06-01")}
    return refusal(row, "/messages", {**rest, "model": found[1]}, messages_headers)


FAKE_OF_VERTEX = replace(FAKE, refusal_by_headers=_vertex_refusal)
"""Claude on Vertex AI."""
