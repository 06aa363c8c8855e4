"""A strict fake of the Gemini API's Interactions: fields are those of google-genai's types and its guide."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.genai import interactions
from pydantic import TypeAdapter, ValidationError

from tests.providers.strict_fakes.fake import TEXT, Fake, Row, refused, thinking_refusal

_CONFIG = {
    "max_output_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop_sequences": "stop",
    "thinking_level": "thinking",
}
_MODES = {"any": "required", "auto": "auto", "none": "none"}
_FIELDS = {"model", "input", "system_instruction", "tools", "generation_config", "response_format", "store", "stream"}
_STEP: TypeAdapter[Any] = TypeAdapter(interactions.Step)


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    config = body.get("generation_config", {})
    options: dict[str, Any] = {ours: config[theirs] for theirs, ours in _CONFIG.items() if theirs in config}
    if "tool_choice" in config:
        options["tool_choice"] = _MODES[config["tool_choice"]]
    if "response_format" in body:
        options["output"] = True
    functions = [tool["name"] for tool in body.get("tools", ()) if tool["type"] == "function"]
    if functions:
        options["tools"] = functions
    return options


def refusal(row: Row, path: str, body: Any) -> str | None:
    """The message of the API's 400, None for a request that the model accepts."""
    return next(_refusals(row, body), None)


def _refusals(row: Row, body: Any) -> Iterator[str]:
    known = {*_CONFIG, "thinking_summaries", "tool_choice"}
    unknown = {*(set(body) - _FIELDS), *(set(body.get("generation_config", {})) - known)}
    if unknown:
        yield f"Unknown parameters {sorted(unknown)}"
    options = sent(body)
    for name in refused(row, options):
        yield f"{name} is not valid for this model"
    thinking = thinking_refusal(row, options.get("thinking"))
    if thinking is not None:
        yield thinking
    if "tools" in options and row.get("tools") == "never":
        yield "Function calling is not enabled for this model"
    if "output" in options and row.get("structured_output") == "none":
        yield "Structured outputs are not enabled for this model"
    if "output" in options and "tools" in options and row.get("output_with_tools") is False:
        yield "Structured outputs are not supported with function calling"
    yield from _of_input(row, body["input"])


def _of_input(row: Row, steps: Any) -> Iterator[str]:
    if isinstance(steps, str):
        return
    for step in steps:
        try:
            _STEP.validate_python(step)
        except ValidationError as error:
            yield f"Invalid step: {error}"
    if steps[-1]["type"] == "model_output" and not row.get("accepts_prefill", True):
        yield "Prefilled model turns are not supported."
    for media_type in _media_types(steps):
        if media_type not in row.get("accepts", [media_type]):
            yield f"Unsupported MIME type: {media_type}"


def _media_types(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and "mime_type" in value:
        yield value["mime_type"]
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _media_types(item)


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole interaction, or a stream of events."""
    head = {"id": "v1_a", "object": "interaction", "model": "m"}
    usage = {"total_tokens": 9, "total_input_tokens": 5, "total_output_tokens": 4}
    step = {"type": "model_output", "content": [{"type": "text", "text": TEXT}]}
    if not stream:
        body = {**head, "status": "completed", "steps": [step], "usage": usage}
        return "application/json", json.dumps(body).encode()
    events: list[dict[str, Any]] = [
        {"event_type": "interaction.created", "interaction": {**head, "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": step},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {**head, "status": "completed", "usage": usage}},
    ]
    text = "".join(f"event: {event['event_type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "text/event-stream", text.encode()


FAKE = Fake(
    refusal,
    sent,
    frozenset({*_CONFIG.values(), "tool_choice", "tools", "output"}),
    answer,
    lambda message: {"error": {"code": "invalid_request", "message": message}},
    lambda path, body: body.get("stream", False),
    ("xhigh", None),
)
