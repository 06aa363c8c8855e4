"""A trace as the JSON of the page: its records, conversations, files, decisions and attempts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, cast

from abstractcore.schema import (
    MEDIA_PARTS,
    AttemptRecord,
    Blob,
    CallRecord,
    ErrorRecord,
    InteractionRecord,
    MediaDecision,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolRecord,
    ToolResult,
)

from .summaries import amount, amounts

if TYPE_CHECKING:
    from abstractcore.traces import Trace, TraceNode

LONGEST_TEXT: Final = 200_000
"""So many characters of one text are shown: a browser lays out no more in reasonable time."""
MOST_NODES: Final = 1_000
_DECIDED: Final = ("type", "route", "reason", "fallback", "handler", "model", "tokens", "seconds", "native_loss")


def trace_page(trace: Trace) -> dict[str, Any]:
    """Returns a trace: its records, depth first, and the sums of their costs."""
    nodes, costs = list(trace), trace.costs
    return {
        "id": trace.root.record.trace_id,
        "is_cut": trace.is_cut or len(nodes) > MOST_NODES,
        **amounts(costs),
        "unknown": costs.unknown,
        "nodes": [_node(each) for each in nodes[:MOST_NODES]],
    }


def file_of(trace: Trace, sha256: str) -> Blob | None:
    """Returns a file whose content is stored in a trace, by its hash. Paths and URLs in records are never read."""
    for node in trace:
        for blob in _blobs(node.record):
            if blob.data is not None and blob.sha256 == sha256:
                return blob
    return None


def _node(node: TraceNode) -> dict[str, Any]:
    record = node.record
    shown: dict[str, Any] = {
        "id": record.trace_id,
        "name": node.name,
        "depth": node.depth,
        "outcome": record.outcome,
        "started_at": record.started_at,
        "seconds": record.seconds,
        "tags": dict(record.tags),
        "error": _error(record.error),
        "warnings": [f"{each.code}: {each.message}" for each in record.warnings],
        "scores": [{"name": each.name, "value": each.value, "comment": each.comment} for each in node.scores],
    }
    if isinstance(record, CallRecord):
        return {**shown, **_call(record)}
    if isinstance(record, ToolRecord):
        return {**shown, **_tool(record)}
    return {**shown, **_interaction(record)}


def _call(record: CallRecord) -> dict[str, Any]:
    messages = () if record.call is None else record.call.messages
    return {
        "kind": "call",
        "provider": record.provider,
        "operation": record.operation,
        "seconds_to_first": record.seconds_to_first,
        "input_tokens": record.usage.input,
        "output_tokens": record.usage.output,
        "cached_tokens": record.usage.cached,
        "cost": amount(record.cost),
        "estimated_cost": amount(record.estimated_cost),
        "saved_cost": amount(record.saved_cost),
        "cached_at": record.cached_at,
        "cost_reason": record.cost_reason,
        "discarded": record.discarded,
        "finish": None if record.reply is None else record.reply.finish_reason,
        "messages": [{"role": each.role, "parts": [*map(_part, each.parts)]} for each in messages],
        "reply": [] if record.reply is None else [*map(_part, record.reply.parts)],
        "input": None if record.input is None else _text(_json(record.input)),
        "result": None if record.result is None else _text(_json(record.result)),
        "attempts": [*map(_attempt, record.attempts)],
        "decisions": [*map(_decision, record.media)],
    }


def _tool(record: ToolRecord) -> dict[str, Any]:
    approval = record.approval
    return {
        "kind": "tool",
        "source": record.source,
        "server": record.server,
        "round": record.round,
        "cost": amount(record.cost),
        "approval": None if approval is None else f"{approval.decision} by {approval.by}",
        "arguments": None if record.arguments is None else _text(_json(record.arguments)),
        "parts": [] if record.result is None else [*map(_part, record.result.content)],
        "is_error": record.result is not None and record.result.is_error,
    }


def _interaction(record: InteractionRecord) -> dict[str, Any]:
    return {
        "kind": "interaction",
        "provider": record.provider,
        "model": record.model,
        "status": record.status,
        "calls": record.calls,
        "tool_runs": record.tool_runs,
    }


def _error(error: ErrorRecord | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"type": error.type, "message": error.message[:LONGEST_TEXT], "status": error.status}


def _attempt(attempt: AttemptRecord) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "started_at": attempt.started_at,
        "seconds": attempt.seconds,
        "status": attempt.status,
        "error": attempt.error,
        "cost": amount(attempt.cost),
        "estimated_cost": amount(attempt.estimated_cost),
    }


def _decision(decision: MediaDecision) -> dict[str, Any]:
    shown = {name: getattr(decision, name) for name in _DECIDED}
    lost = [f"{each.count} {each.what}" for each in decision.lost]
    return {"source": decision.source, "path": decision.part_path, **shown, "lost": lost}


def _part(part: Any) -> dict[str, Any]:
    """Returns a part of a message."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": _text(part.text)}
    if isinstance(part, ReasoningPart):
        return {"type": "reasoning", "text": _text(part.text)}
    if isinstance(part, ToolCall):
        return {"type": "tool_call", "name": part.name, "text": _text(part.arguments_text)}
    if isinstance(part, ToolResult):
        return {"type": "tool_result", "parts": [*map(_part, part.content)], "is_error": part.is_error}
    if isinstance(part, MEDIA_PARTS):
        blob = part.blob
        file = {"media_type": blob.media_type, "size": blob.size, "name": blob.name, "form": blob.form}
        return {"type": "file", **file, "sha256": blob.sha256 if blob.data is not None else None}
    return {"type": part.type, "text": _text(_json(_plain(part)))}


def _text(text: str) -> str:
    left = len(text) - LONGEST_TEXT
    return text if left <= 0 else f"{text[:LONGEST_TEXT]}\n[{left} more characters]"


def _json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, indent=2)


def _plain(value: Any) -> Any:
    """Returns data as JSON has it: files by their sizes, mappings as objects."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Iterable[Any]", value)]
    if isinstance(value, bytes):
        return f"[{len(value)} bytes]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _blobs(record: Any) -> Iterable[Blob]:
    """Yields the files of a record."""
    if isinstance(record, CallRecord):
        parts = [part for message in (record.call.messages if record.call else ()) for part in message.parts]
        yield from _blobs_of([*parts, *(record.reply.parts if record.reply else ())])
    elif isinstance(record, ToolRecord) and record.result is not None:
        yield from _blobs_of(record.result.content)


def _blobs_of(parts: Iterable[Any]) -> Iterable[Blob]:
    for part in parts:
        if isinstance(part, ToolResult):
            yield from _blobs_of(part.content)
        elif isinstance(part, MEDIA_PARTS):
            yield part.blob
