"""From a reply to a whole answer (server side)."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.schema import CallWarning, ModelReply, Rendered

from ...common.json_reading import Object
from .answers import write_answer
from .vocabulary import finish_reason_to_ours, finish_reason_to_theirs, metadata_to_theirs, usage_to_theirs

_UNCOUNTED = ("cache_written", "reasoning", "input_audio", "output_audio")


def render(reply: ModelReply) -> Rendered:
    """The body, with a warning for everything the format has no place for.

    The model is named, beyond the format, for those who keep reasoning by it.
    """
    warnings: list[CallWarning] = []
    body: Object = {
        "id": reply.id or "",
        "message": {"role": "assistant", **write_answer(reply.parts, "parts", warnings)},
    }
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
    read = finish_reason_to_ours(reason, calls=bool(reply.tool_calls))
    if read != reply.finish_reason:
        message = f"Cohere's chat format has no word for {reply.finish_reason!r}"
        warnings.append(CallWarning("finish_reason_changed", "finish_reason", message, reply.finish_reason, read))
    for name in _UNCOUNTED:
        count = getattr(reply.usage, name)
        if count is not None:
            message = f"Cohere's chat format does not count {name.replace('_', ' ')} tokens"
            warnings.append(CallWarning("count_left_out", f"usage.{name}", message, count))
