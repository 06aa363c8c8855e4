"""From a reply to a whole answer (server side)."""

from __future__ import annotations

from abstractcore.schema import CallWarning, ModelReply, Rendered

from ...common.json_reading import Object
from .vocabulary import finish_reason_to_ours, finish_reason_to_theirs, metadata_to_theirs, usage_to_theirs
from .write_messages import is_sayable, write_said
from .writing import Writing

_UNCOUNTED = ("cached", "cache_written", "reasoning", "input_audio", "output_audio")


def render(reply: ModelReply) -> Rendered:
    """The body, with a warning for everything the format has no place for."""
    writing = Writing()
    warnings = writing.warnings
    body: Object = {"model": reply.model or "", "message": _message(reply, writing), "done": True}
    reason = finish_reason_to_theirs(reply.finish_reason, calls=bool(reply.tool_calls))
    if reason is not None:
        body["done_reason"] = reason
    _warn_of_the_rest(reply, reason, warnings)
    metadata = metadata_to_theirs(dict(reply.provider_metadata), warnings)
    return Rendered(writing.json(body | usage_to_theirs(reply.usage) | metadata), tuple(warnings))


def _warn_of_the_rest(reply: ModelReply, reason: str | None, warnings: list[CallWarning]) -> None:
    read = finish_reason_to_ours(reason, calls=bool(reply.tool_calls))
    if read != reply.finish_reason:
        message = f"Ollama's format has no word for {reply.finish_reason!r} here"
        warnings.append(CallWarning("finish_reason_changed", "finish_reason", message, reply.finish_reason, read))
    if reply.id is not None:
        warnings.append(CallWarning("id_left_out", "id", "replies have no id in Ollama's format", reply.id))
    for name in _UNCOUNTED:
        count = getattr(reply.usage, name)
        if count is not None:
            message = f"Ollama's format does not count {name.replace('_', ' ')} tokens"
            warnings.append(CallWarning("count_left_out", f"usage.{name}", message, count))


def _message(reply: ModelReply, writing: Writing) -> Object:
    for index, part in enumerate(reply.parts):
        if not is_sayable(part):
            message = f"Ollama's format has no place for such {part.type} parts"
            writing.warnings.append(CallWarning("part_left_out", f"parts[{index}]", message))
    kept = [(index, part) for index, part in enumerate(reply.parts) if is_sayable(part)]
    return {"role": "assistant", **write_said(kept, "parts", writing)}
