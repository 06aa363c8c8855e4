"""A strict fake of Ollama's server: what it refuses is read in server/routes.go and api/types.go of ollama/ollama."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ollama._types import ChatRequest, Options

from tests.providers.strict_fakes.fake import TEXT, Fake, Row, refused, thinking_refusal

_SAMPLING = {
    "num_predict": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "stop": "stop",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
_THINK: dict[Any, str] = {False: "off", True: "medium", "low": "low", "medium": "medium", "high": "high", "max": "max"}
_KNOWN = {*ChatRequest.model_fields, "truncate", "shift"}


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    given = body.get("options", {})
    options: dict[str, Any] = {ours: given[theirs] for theirs, ours in _SAMPLING.items() if theirs in given}
    if "top_logprobs" in body:
        options["top_logprobs"] = body["top_logprobs"]
    if "think" in body:
        options["thinking"] = _THINK.get(body["think"], body["think"])
    if body.get("format"):
        options["output"] = True
    if "tools" in body:
        options["tools"] = [tool["function"]["name"] for tool in body["tools"]]
    return options


def refusal(row: Row, path: str, body: Any) -> str | None:
    """The message of the server's 400, None for a request that the model accepts."""
    return next(_refusals(row, body), None)


def _refusals(row: Row, body: Any) -> Iterator[str]:
    unknown = {*(set(body) - _KNOWN), *(set(body.get("options", {})) - set(Options.model_fields))}
    if unknown:
        yield f"unknown fields {sorted(unknown)}"
    options = sent(body)
    for name in refused(row, options):
        yield f"{name} is not valid"
    if options.get("thinking") not in (None, *_THINK.values()):
        yield f"invalid think value: {options['thinking']!r}"
    takes = row.get("thinking")
    if takes == {"levels": []}:
        if options.get("thinking") not in (None, "off"):
            yield f"{body['model']!r} does not support thinking"
    elif (thinking := thinking_refusal(row, options.get("thinking"))) is not None:
        yield thinking
    if any(message.get("images") for message in body["messages"]) and "image/png" not in row.get("accepts", []):
        yield "this model is missing data required for image input"


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of lines."""
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 4}
    base = {"model": "m", "created_at": "2026-11-22T00:00:00Z"}
    said = {**base, "message": {"role": "assistant", "content": TEXT}}
    if not stream:
        return "application/json", json.dumps({**said, **end}).encode()
    lines = [{**said, "done": False}, {**base, "message": {"role": "assistant", "content": ""}, **end}]
    return "application/x-ndjson", "".join(f"{json.dumps(line)}\n" for line in lines).encode()


FAKE = Fake(
    refusal,
    sent,
    frozenset({*_SAMPLING.values(), "top_logprobs", "thinking", "tools", "output"}),
    answer,
    lambda message: {"error": message},
    lambda path, body: body["stream"],
    ("low", "max", None),
)
