"""A strict fake of Converse, checked against botocore's model of the service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from abstractcore.schema import WireRequest
from tests.providers.formats.bedrock_converse.wire import COUNTS, END, START, delta, faults, reply_with, stop, stream_of
from tests.providers.strict_fakes import claude
from tests.providers.strict_fakes.fake import TEXT, Fake, Row

FIELDS = "additionalModelRequestFields"
OPTIONS = {"maxTokens": "max_output_tokens", "temperature": "temperature", "topP": "top_p", "stopSequences": "stop"}
_CLAUDES = frozenset({"thinking", "top_k", "tool_choice", "anthropic_beta"})
_BINDING = "thinking-binding-controls-2026-08-01"
_KINDS = ("image", "document", "video", "audio")
_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "flv": "video/x-flv",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
    "mp3": "audio/mpeg",
    "m4a": "audio/x-m4a",
    "mka": "audio/x-matroska",
}
"""The media types of formats whose name is not the end of the type."""


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    inference, fields = body.get("inferenceConfig", {}), body.get(FIELDS, {})
    options: dict[str, Any] = {ours: inference[theirs] for theirs, ours in OPTIONS.items() if theirs in inference}
    top_k = fields.get("top_k", fields.get("inferenceConfig", {}).get("topK"))
    if top_k is not None:
        options["top_k"] = top_k
    asked = _thinking(fields, body.get("outputConfig", {}).get("effort"))
    if asked is not None:
        options["thinking"] = asked
    if "textFormat" in body.get("outputConfig", {}):
        options["output"] = True
    if '"cachePoint"' in json.dumps(body):
        options["cache"] = True
    tools = body.get("toolConfig", {})
    if "toolChoice" in tools:
        options["tool_choice"] = "required" if "any" in tools["toolChoice"] else next(iter(tools["toolChoice"]))
    if fields.get("tool_choice") == {"type": "none"}:
        options["tool_choice"] = "none"
    if "tools" in tools:
        options["tools"] = [tool["toolSpec"]["name"] for tool in tools["tools"] if "toolSpec" in tool]
    return options


def _thinking(fields: Any, effort: Any) -> Any:
    if "thinking" in fields:
        kind = fields["thinking"]["type"]
        return claude.thinking_of(fields["thinking"], effort, "" if kind in ("adaptive", "enabled") else kind)
    if "reasoningConfig" in fields:
        return fields["reasoningConfig"].get("maxReasoningEffort", "off")
    word = fields.get("reasoning", {}).get("effort") or fields.get("reasoning_effort") or fields.get("reasoning_config")
    return "off" if word == "none" else word


def refusal(row: Row, path: str, body: Any) -> str | None:
    """The message of the API's 400, None for a request that the model accepts."""
    return next(_refusals(row, path, body), None)


def _refusals(row: Row, path: str, body: Any) -> Iterator[str]:
    fault = faults(WireRequest(path, {}, json.dumps(body).encode()))
    if fault:
        yield fault
    settings, fields = row.get("settings") or {}, body.get(FIELDS, {})
    options, tools = sent(body), body.get("toolConfig", {})
    yield from _of_fields(settings, fields)
    thinking = fields.get("thinking")
    if settings.get("thinking_field", "thinking") == "thinking":
        limit = options.get("max_output_tokens")
        yield from claude.thinking_refusals(row, thinking, body.get("outputConfig", {}).get("effort"), limit)
    else:
        yield from _other_thinking(row, options)
        thinking = {"type": "adaptive"} if options.get("thinking") not in (None, "off") else None
    yield from claude.sampling_refusals(row, options, thinking)
    for name in row.get("refused_with_level", {}).get(options.get("thinking"), ()):
        if name in options:
            yield f"{name} is not accepted with {options['thinking']} effort"
    blocks = [block for message in body["messages"] for block in message["content"]]
    yield from claude.binding_refusal(row, thinking, any("reasoningContent" in block for block in blocks))
    if any("toolUse" in block or "toolResult" in block for block in blocks) and not tools:
        yield "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    if "toolChoice" in tools and "tool_choice" in fields:
        yield "tool_choice: both toolChoice and tool_choice are defined"
    if options.get("tool_choice") in ("required", "tool"):
        yield from claude.forced_refusal(row, thinking)
    if "output" in options and row.get("structured_output") == "none":
        yield "This model doesn't support the outputConfig.textFormat field."
    if body["messages"][-1]["role"] == "assistant" and not row.get("accepts_prefill", True):
        yield "This model does not support assistant message prefill."
    yield from _of_results(settings, body)
    yield from _of_media(row, blocks)
    yield from _of_cache(row, body, blocks)


def _of_results(settings: Any, body: Any) -> Iterator[str]:
    for message in body["messages"]:
        results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
        beside = [block for block in message["content"] if not block.keys() & {"toolResult", "cachePoint"}]
        if results and beside and settings.get("results_alone"):
            yield "Conversation blocks and toolResult blocks cannot be provided in the same turn."
        if not settings.get("result_status", True) and any("status" in result for result in results):
            yield "This model doesn't support the toolResult.status field."


def _of_fields(settings: Any, fields: Any) -> Iterator[str]:
    known: set[str] = set()
    field, top_k = settings.get("thinking_field", "thinking"), settings.get("top_k_field", "top_k")
    known |= {name.partition(".")[0] for name in (field, top_k) if name}
    if field == "thinking":
        known |= _CLAUDES - {"tool_choice"}
    if settings.get("tool_choice_none"):
        known.add("tool_choice")
    for name in sorted(set(fields) - known):
        yield f"extraneous key [{name}] is not permitted"
    if "block_binding" in fields.get("thinking", {}) and _BINDING not in fields.get("anthropic_beta", ()):
        yield "thinking.adaptive.block_binding: Extra inputs are not permitted"


def _other_thinking(row: Row, options: Any) -> Iterator[str]:
    asked, takes = options.get("thinking"), row.get("thinking")
    if asked is None or takes is None:
        return
    if asked == "off" and not takes.get("can_be_off", True):
        yield "none is not a supported effort"
    if asked != "off" and asked not in takes.get("levels", ()):
        yield f"{asked} is not a supported effort"


def _of_media(row: Row, blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        inside = block.get("toolResult", {}).get("content", [])
        for each in (block, *inside):
            for kind in _KINDS:
                if kind in each and _type(kind, each[kind]["format"]) not in row.get("accepts", ()):
                    yield f"This model doesn't support the {kind} format {each[kind]['format']}."
        if row.get("media_after_results") and any(kind in each for each in inside for kind in _KINDS):
            yield "This model doesn't support this content in a toolResult."


def _type(kind: str, format: str) -> str:
    return _TYPES.get(format, f"{kind}/{format}")


def _of_cache(row: Row, body: Any, blocks: list[Any]) -> Iterator[str]:
    tools = body.get("toolConfig", {}).get("tools", [])
    points = [item["cachePoint"] for item in [*tools, *body.get("system", []), *blocks] if "cachePoint" in item]
    if any("cachePoint" in tool for tool in tools) and row.get("cache_tools") is False:
        yield "This model doesn't support cachePoint in tools."
    if len(points) > row.get("cache_points", 4):
        yield "You have exceeded the maximum number of cache points."
    if any(point.get("ttl", "5m") not in row.get("cache_times", ["5m"]) for point in points):
        yield "This model doesn't support this cachePoint TTL."


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of one delta."""
    if stream:
        events = [START, delta(0, text=TEXT), stop(0), END, COUNTS]
        return "application/vnd.amazon.eventstream", stream_of(events)
    usage = {"inputTokens": 5, "outputTokens": 4, "totalTokens": 9}
    return "application/json", json.dumps(reply_with({"text": TEXT}, usage=usage)).encode()


FAKE = Fake(
    refusal,
    sent,
    frozenset({*OPTIONS.values(), "thinking", "tool_choice", "tools", "output", "top_k", "cache"}),
    answer,
    lambda message: {"message": message},
    lambda path, body: path.endswith("/converse-stream"),
    (),
)
