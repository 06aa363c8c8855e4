"""A strict fake of Cohere's chat (version 2): the limits are those in the docstrings of the cohere package."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import cohere

from tests.providers.strict_fakes.fake import TEXT, Fake, Row, refused, thinking_refusal

_SAMPLING = {
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "p": "top_p",
    "k": "top_k",
    "seed": "seed",
    "stop_sequences": "stop",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
_KNOWN = {"stream", *inspect.signature(cohere.ClientV2.chat).parameters}
_CHOICES = {"REQUIRED": "required", "NONE": "none"}


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    options: dict[str, Any] = {ours: body[theirs] for theirs, ours in _SAMPLING.items() if theirs in body}
    if "thinking" in body:
        options["thinking"] = _thinking(body["thinking"])
    if "response_format" in body:
        options["output"] = True
    if "tool_choice" in body:
        options["tool_choice"] = _CHOICES[body["tool_choice"]]
    if "tools" in body:
        options["tools"] = [tool["function"]["name"] for tool in body["tools"]]
    return options


def _thinking(value: Any) -> Any:
    return "off" if value["type"] == "disabled" else value.get("token_budget", "medium")


def refusal(row: Row, path: str, body: Any) -> str | None:
    """The message of the API's 400, None for a request that the model accepts."""
    return next(_refusals(row, body), None)


def _refusals(row: Row, body: Any) -> Iterator[str]:
    if set(body) - _KNOWN:
        yield f"invalid request: unknown fields {sorted(set(body) - _KNOWN)}"
    options = sent(body)
    for name in refused(row, options):
        yield f"invalid request: {name} is not valid for this model"
    thinking = thinking_refusal(row, options.get("thinking"))
    if thinking is not None:
        yield thinking
    if "tool_choice" in options and "tools" not in options:
        yield "invalid request: tool_choice may only be specified with tools"
    if "output" in options and "tools" in options and row.get("output_with_tools") is False:
        yield "invalid request: response_format is not supported with tools"
    contents = [part for message in body["messages"] for part in _parts(message)]
    if any(part.get("type") == "image_url" for part in contents) and "image/png" not in row.get("accepts", []):
        yield "invalid request: images are not supported by this model"


def _parts(message: Any) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of events."""
    usage = {"tokens": {"input_tokens": 5.0, "output_tokens": 4.0}}
    if not stream:
        message = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
        body = {"id": "i", "finish_reason": "COMPLETE", "message": message, "usage": usage}
        return "application/json", json.dumps(body).encode()
    start = {"message": {"content": {"type": "text", "text": ""}}}
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": "i", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-start", "index": 0, "delta": start},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": TEXT}}}},
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}},
    ]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "text/event-stream", text.encode()


FAKE = Fake(
    refusal,
    sent,
    frozenset({*_SAMPLING.values(), "thinking", "tool_choice", "tools", "output"}),
    answer,
    lambda message: {"id": "i", "message": message},
    lambda path, body: body["stream"],
    ("medium",),
)
