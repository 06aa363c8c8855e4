"""From a reply to a whole answer (server side)."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.schema import CallWarning, ModelReply, Part, ReasoningPart, Rendered, TextPart, ToolCall

from ..json_reading import Object
from ..reordering import in_order
from .citations import fitting
from .vocabulary import finish_reason_to_ours, finish_reason_to_theirs, metadata_to_theirs, usage_to_theirs
from .write_messages import answer_body, warn_of_fields

_UNCOUNTED = ("cache_written", "reasoning", "input_audio", "output_audio")


def render(reply: ModelReply) -> Rendered:
    """The body, with a warning for everything the format has no place for.

    The model is named, beyond the format, for those who keep reasoning by it.
    """
    warnings: list[CallWarning] = []
    body: Object = {"id": reply.id or "", "message": {"role": "assistant", **_message(reply, warnings)}}
    reason = finish_reason_to_theirs(reply.finish_reason)
    if reason is not None:
        body["finish_reason"] = reason
    if reply.model is not None:
        body["model"] = reply.model
    _warn_of_the_rest(reply, reason, warnings)
    metadata = dict(reply.provider_metadata)
    usage = usage_to_theirs(reply.usage, metadata)
    if usage:
        body["usage"] = usage
    return Rendered(to_json(body | metadata_to_theirs(metadata, warnings)), tuple(warnings))


def _warn_of_the_rest(reply: ModelReply, reason: str | None, warnings: list[CallWarning]) -> None:
    read = finish_reason_to_ours(reason)
    if read != reply.finish_reason:
        message = f"Cohere's chat format has no word for {reply.finish_reason!r}"
        warnings.append(CallWarning("finish_reason_changed", "finish_reason", message, reply.finish_reason, read))
    for name in _UNCOUNTED:
        count = getattr(reply.usage, name)
        if count is not None:
            message = f"Cohere's chat format does not count {name.replace('_', ' ')} tokens"
            warnings.append(CallWarning("count_left_out", f"usage.{name}", message, count))


def _message(reply: ModelReply, warnings: list[CallWarning]) -> Object:
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(reply.parts):
        said = _said(part, f"parts[{index}]", warnings)
        if said is not None:
            kept.append((index, said))
    ordered = tuple(part for _, part in in_order(kept, _rank, "parts", warnings))
    return answer_body(ModelReply(ordered).parts, plan=False)


def _said(part: Part, path: str, warnings: list[CallWarning]) -> Part | None:
    if isinstance(part, TextPart):
        return fitting(part, path, warnings)
    if isinstance(part, ToolCall):
        warn_of_fields(part, path, ("signature",), warnings)
        return part
    if isinstance(part, ReasoningPart) and part.text:
        warn_of_fields(part, path, ("signature", "redacted_data"), warnings)
        return ReasoningPart(part.text, origin=part.origin)
    message = f"Cohere's chat format has no place for such {part.type} parts"
    warnings.append(CallWarning("part_left_out", path, message))
    return None


def _rank(part: Part) -> int:
    """Tool calls stand after the content."""
    return 1 if isinstance(part, ToolCall) else 0
