"""A strict fake of OpenAI's Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from openai.types.responses import ResponseInputItemParam
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter, ValidationError

from tests.providers.strict_fakes.fake import TEXT, Fake, Row
from tests.providers.strict_fakes.openai_options import error, refusals

_SAME = ("temperature", "top_p", "max_output_tokens", "top_logprobs", "parallel_tool_calls")
_PLAIN = TypeAdapter(ResponseCreateParamsNonStreaming)
_STREAMED = TypeAdapter(ResponseCreateParamsStreaming)
_ITEM: Any = TypeAdapter(ResponseInputItemParam)


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    options: dict[str, Any] = {name: body[name] for name in _SAME if name in body}
    if "effort" in body.get("reasoning", {}):
        effort = body["reasoning"]["effort"]
        options["thinking"] = "off" if effort == "none" else effort
    if "format" in body.get("text", {}):
        options["output"] = True
    if "tool_choice" in body:
        options["tool_choice"] = body["tool_choice"] if isinstance(body["tool_choice"], str) else "tool"
    if "tools" in body:
        options["tools"] = [tool.get("name") for tool in body["tools"]]
    if "prompt_cache_breakpoint" in json.dumps(body):
        options["cache"] = True
    return options


def refusal(row: Row, path: str, body: Any) -> str | None:
    """The message of the API's 400, None for a request that the model accepts."""
    return next(_refusals(row, body), None)


def _refusals(row: Row, body: Any) -> Iterator[str]:
    try:
        (_STREAMED if body.get("stream") else _PLAIN).validate_python({**body, "input": "hi"})
    except ValidationError as invalid:
        yield str(invalid)
    yield from refusals(row, sent(body))
    text = json.dumps(body["input"])
    if text.count('"prompt_cache_breakpoint"') > row.get("cache_points", 0):
        yield "at most three explicit breakpoints are written"
    accepts = [*row.get("accepts", []), *row.get("assumed", [])]
    if '"input_image"' in text and not any(each.startswith("image") for each in accepts):
        yield "Invalid content type: input_image."
    if "reasoning.encrypted_content" in body.get("include", ()) and not row.get("settings", {}).get(
        "encrypted_reasoning", True
    ):
        yield "Encrypted content is not supported with this model."
    yield from _of_tool_search(row, body)


def _of_tool_search(row: Row, body: Any) -> Iterator[str]:
    """guides/tools-tool-search: a deferred function needs the tool, and the tool a model that has it."""
    searched = any(tool["type"] == "tool_search" for tool in body.get("tools", ()))
    if searched and not row.get("tool_search"):
        yield "Hosted tool 'tool_search' is not supported with this model."
    if any(tool.get("defer_loading") for tool in body.get("tools", ())) and not searched:
        yield "defer_loading: needs the tool 'tool_search'."
    items = body["input"] if isinstance(body["input"], list) else ()
    for item in (item for item in items if item.get("type", "").startswith("tool_search_")):
        try:
            _ITEM.validate_python(item)
        except ValidationError as invalid:
            yield f"input: {invalid}"


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of events."""
    content = {"type": "output_text", "text": TEXT, "annotations": [], "logprobs": []}
    item = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [content]}
    usage = {"input_tokens": 5, "output_tokens": 4, "total_tokens": 9}
    response = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    done = {**response, "output": [item], "usage": usage, "incomplete_details": None, "error": None}
    if not stream:
        return "application/json", json.dumps(done).encode()
    at: dict[str, Any] = {"item_id": "m", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**content, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": TEXT, "logprobs": []},
        {"type": "response.output_text.done", **at, "text": TEXT, "logprobs": []},
        {"type": "response.content_part.done", **at, "part": content},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    numbered = ({"sequence_number": number, **event} for number, event in enumerate(events))
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in numbered)
    return "text/event-stream", text.encode()


FAKE = Fake(
    refusal,
    sent,
    frozenset({*_SAME, "thinking", "tool_choice", "tools", "output"}),
    answer,
    error,
    lambda path, body: body.get("stream", False),
    (None,),
)
