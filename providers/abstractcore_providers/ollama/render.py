"""From a reply to a whole answer (server side)."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.schema import (
    CallWarning,
    ImagePart,
    ModelReply,
    Part,
    ReasoningPart,
    Rendered,
    TextPart,
    ToolCall,
)

from ..json_reading import Object
from ..reordering import in_order
from .images import is_at_hand, write_image
from .vocabulary import finish_reason_to_ours, finish_reason_to_theirs, metadata_to_theirs, usage_to_theirs
from .write_messages import said_rank, warn_of_fields, write_call

_UNCOUNTED = ("cached", "cache_written", "reasoning", "input_audio", "output_audio")


def render(reply: ModelReply) -> Rendered:
    """The body, with a warning for everything the format has no place for."""
    warnings: list[CallWarning] = []
    body: Object = {"model": reply.model or "", "message": _message(reply, warnings), "done": True}
    reason = finish_reason_to_theirs(reply.finish_reason, calls=bool(reply.tool_calls))
    if reason is not None:
        body["done_reason"] = reason
    _warn_of_the_rest(reply, reason, warnings)
    metadata = metadata_to_theirs(dict(reply.provider_metadata), warnings)
    return Rendered(to_json(body | usage_to_theirs(reply.usage) | metadata), tuple(warnings))


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


def _message(reply: ModelReply, warnings: list[CallWarning]) -> Object:
    message: Object = {"role": "assistant", "content": ""}
    kept = [item for item in enumerate(reply.parts) if _is_kept(*item, warnings)]
    for index, part in in_order(kept, said_rank, "parts", warnings):
        place = f"parts[{index}]"
        if isinstance(part, TextPart):
            warn_of_fields(part, place, ("citations",), warnings)
            message["content"] += part.text
        elif isinstance(part, ReasoningPart):
            warn_of_fields(part, place, ("signature", "redacted_data"), warnings)
            message["thinking"] = message.get("thinking", "") + part.text
        elif isinstance(part, ToolCall):
            warn_of_fields(part, place, ("signature",), warnings)
            calls = message.setdefault("tool_calls", [])
            calls.append(write_call(part, len(calls), place, warnings))
        elif isinstance(part, ImagePart):
            message.setdefault("images", []).append(write_image(part, place, warnings))
    return message


def _is_kept(index: int, part: Part, warnings: list[CallWarning]) -> bool:
    """Whether the format has a place for a part; a warning if it has not."""
    if isinstance(part, TextPart | ToolCall) or (isinstance(part, ImagePart) and is_at_hand(part)):
        return True
    if isinstance(part, ReasoningPart) and part.text:
        return True
    warning = f"Ollama's format has no place for such {part.type} parts"
    warnings.append(CallWarning("part_left_out", f"parts[{index}]", warning))
    return False
