"""Decodes a `message` object to a reply."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import ModelReply, Part, ToolCall, WireResponse

from ...common.conversations import ReceivedIds, WrittenArguments, origin_of, received_arguments
from ...common.reading import Object, as_object, object_of, objects_of, text_of
from ...common.response_bodies import calls_tools, fitting_reply, no_reply, read_body, states_error
from .blocks import CALLS, read_block
from .dialect import MessagesDialect
from .errors import RIGHT_ADDRESS, error_in_body
from .vocabulary import FINISH_REASONS, metadata_to_ours, usage_to_ours

_MARKS = frozenset({"content", "stop_reason", "usage"})
"""Fields that only replies have."""


def decode(response: WireResponse, dialect: MessagesDialect) -> ModelReply:
    """Returns the reply; raises `ServerError` for a body without one, or the error in it despite its status."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    if states_error(data) or not isinstance(data.get("content"), list):
        raise error_in_body(data) or no_reply(response, data, "content", _MARKS, RIGHT_ADDRESS)
    return fitting_reply(response, _reply, data, response.body, dialect.provider)


def _reply(data: Object, body: bytes, provider: str) -> ModelReply:
    model, raw = text_of(data, "model"), text_of(data, "stop_reason")
    inputs = WrittenArguments(body, "input")
    origin = origin_of(provider, model)
    blocks = enumerate(objects_of(data, "content"))
    ids = ReceivedIds()
    parts = tuple(_part(block, number, ids, provider, origin, inputs) for number, block in blocks)
    return ModelReply(
        parts=parts,
        finish_reason=FINISH_REASONS.read(raw, calls=calls_tools(parts)),
        raw_finish_reason=raw,
        usage=usage_to_ours(object_of(data, "usage")),
        model=model,
        provider=provider,
        id=text_of(data, "id"),
        provider_metadata=metadata_to_ours(data),
    )


def _input_text(value: Any, inputs: WrittenArguments) -> str:
    """Returns the text of a call's input, as it was written if it is an object."""
    return inputs.text_of(value or {}) if value is None or isinstance(value, dict) else received_arguments(value)


def _part(
    block: Object, number: int, ids: ReceivedIds, provider: str, origin: str | None, inputs: WrittenArguments
) -> Part:
    """Reads a block without cache points, which replies do not have."""
    block.pop("cache_control", None)
    text = _input_text(block.get("input"), inputs) if block.get("type") in CALLS else ""
    part = read_block(block, provider, origin, text)
    return ids.name(part, number) if isinstance(part, ToolCall) else part
