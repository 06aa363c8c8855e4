"""Decodes the body of a response to a reply."""

from __future__ import annotations

from abstractcore.errors import InvalidInputError
from abstractcore.schema import ModelReply, OpaquePart, Part, SchemaError, ToolCall, WireResponse

from ...common.conversations import ReceivedIds, WrittenArguments, origin_of
from ...common.reading import Object, as_object, object_of, objects_of, text_of
from ...common.response_bodies import calls_tools, fitting_reply, no_reply, read_body, states_error
from .errors import RIGHT_ADDRESS, error_in_body
from .media_blocks import MEDIA_KINDS
from .read_blocks import INPUT, BlockReader
from .render import PADDING
from .vocabulary import BILLING, FINISH_REASONS, PROVIDER, usage_to_ours

_FIELDS = frozenset({"output", "stopReason", PADDING})

_MARKS = frozenset({"metrics", "output", "stopReason", "usage"})
"""Fields that only replies have."""


def decode(response: WireResponse, model: str | None) -> ModelReply:
    """Returns the reply of `model`; raises `ServerError` for a body without one."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    message = object_of(object_of(data, "output"), "message")
    if states_error(data) or "content" not in message:
        raise error_in_body(data, response.headers) or no_reply(response, data, "message", _MARKS, RIGHT_ADDRESS)
    return fitting_reply(response, _reply, data, message, response.body, model)


def _reply(data: Object, message: Object, body: bytes, model: str | None) -> ModelReply:
    raw = text_of(data, "stopReason")
    reader = BlockReader(WrittenArguments(body, INPUT), origin_of(PROVIDER, model), [])
    ids = ReceivedIds()
    parts = tuple(_part(block, number, ids, reader) for number, block in enumerate(objects_of(message, "content")))
    return ModelReply(
        parts=parts,
        finish_reason=FINISH_REASONS.read(raw, calls=calls_tools(parts)),
        raw_finish_reason=raw,
        usage=usage_to_ours(data),
        model=model,
        provider=PROVIDER,
        provider_metadata=metadata_to_ours(data),
    )


def _part(block: Object, number: int, ids: ReceivedIds, reader: BlockReader) -> Part:
    """Reads one part; media of an unknown shape are kept as opaque parts."""
    use = object_of(block, "toolUse")
    if use and "toolUseId" not in use:
        block = {**block, "toolUse": {**use, "toolUseId": ""}}
    try:
        part = reader.block(block, f"output.message.content[{number}]", "assistant")
        return ids.name(part, number) if isinstance(part, ToolCall) else part
    except (InvalidInputError, SchemaError):
        kind = next((name for name, value in block.items() if value is not None), "")
        if kind not in MEDIA_KINDS:
            raise
        return OpaquePart(PROVIDER, kind, block[kind])


def metadata_to_ours(data: Object) -> Object:
    """Returns the fields of a reply that the schema does not model."""
    return BILLING.rest({name: value for name, value in data.items() if name not in _FIELDS})
