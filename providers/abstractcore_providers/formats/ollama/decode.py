"""Decodes an unstreamed answer to a reply."""

from __future__ import annotations

import base64
from typing import Any

from abstractcore.errors import ServerError
from abstractcore.schema import ImagePart, ModelReply, Part, ReasoningPart, TextPart, ToolCall, WireResponse

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, WrittenArguments, arguments_text, origin_of
from ...common.reading import Object, as_object, object_of, objects_of, text_of, texts_of
from ...common.response_bodies import calls_tools, fitting_reply, no_reply, read_body, states_error
from .errors import RIGHT_ADDRESS, error_in_body
from .vocabulary import ARGUMENTS, CALL_FIELDS, PROVIDER, USAGE, finish_reason_to_ours, image_of, metadata_to_ours

_MARKS = frozenset({"done", "done_reason", "eval_count"})
"""Fields that only replies have."""


def decode(response: WireResponse) -> ModelReply:
    """Returns the reply; raises `ServerError` for a body without one, or the error in it despite its status."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    if states_error(data) or not isinstance(data.get("message"), dict):
        raise error_in_body(data) or no_reply(response, data, "message", _MARKS, RIGHT_ADDRESS)
    return fitting_reply(response, _reply, data, WrittenArguments(response.body, ARGUMENTS))


def _reply(data: Object, written: WrittenArguments) -> ModelReply:
    model, raw = text_of(data, "model"), text_of(data, "done_reason")
    parts = _parts(object_of(data, "message"), written, origin_of(PROVIDER, model))
    return ModelReply(
        parts=parts,
        finish_reason=finish_reason_to_ours(raw, calls=calls_tools(parts)),
        raw_finish_reason=raw,
        usage=USAGE.read(data),
        model=model,
        provider=PROVIDER,
        provider_metadata=metadata_to_ours(data),
    )


def _parts(message: Object, written: WrittenArguments, origin: str | None) -> tuple[Part, ...]:
    ids = ReceivedIds()
    calls = objects_of(message, "tool_calls")
    return (
        ReasoningPart(text_of(message, "thinking") or "", origin=origin),
        TextPart(text_of(message, "content") or ""),
        *(ids.name(read_call(call, written), number) for number, call in enumerate(calls)),
        *read_images(message),
    )


def read_call(call: Object, written: WrittenArguments) -> ToolCall:
    """Reads the tool call, with the server's id, which may be empty."""
    function = object_of(call, "function")
    id = text_of(call, "id") or text_of(function, "id") or ""
    options = read_options(call, CALL_FIELDS, PROVIDER)
    text = _arguments_text(function.get(ARGUMENTS), written)
    return ToolCall(id, text_of(function, "name") or "", text, provider_options=options)


def _arguments_text(arguments: Any, written: WrittenArguments) -> str:
    """Returns the arguments' original text; some servers send a text instead of an object."""
    if arguments is None:
        return "{}"
    if isinstance(arguments, dict):
        return written.text_of(arguments)
    return arguments if isinstance(arguments, str) else arguments_text(arguments)


def read_images(message: Object) -> list[ImagePart]:
    """Reads the images in a message; raises `ServerError` for one that is not base64."""
    try:
        return [image_of(base64.b64decode(image, validate=True)) for image in texts_of(message, "images")]
    except ValueError:
        raise ServerError("an image in the response is not base64") from None
