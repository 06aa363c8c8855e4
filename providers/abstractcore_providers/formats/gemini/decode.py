"""Decodes a `GenerateContentResponse` object to a reply."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.errors import ServerError
from abstractcore.schema import CallWarning, ModelReply, WireResponse, accumulate

from ...common.google_errors import RIGHT_ADDRESS, error_in_body
from ...common.reading import Object, as_object, as_objects, objects_of
from ...common.response_bodies import fitting_reply, no_reply, read_body
from .stream_decoder import MARKS, ReplyDecoder
from .vocabulary import GenerateContentDialect, block_reason


def decode(response: WireResponse, dialect: GenerateContentDialect) -> ModelReply:
    """Returns the reply; raises `ServerError` for a body without one, or the error in it despite its status.

    It is read as a stream of one chunk, so that both give the same. A list has the chunks of a stream.
    """
    value = read_body(response, RIGHT_ADDRESS)
    chunks = as_objects(value) if isinstance(value, list) else [as_object(value)]
    if not any(objects_of(chunk, "candidates") or block_reason(chunk) is not None for chunk in chunks):
        reported = (error_in_body(chunk) for chunk in chunks)
        error = next((error for error in reported if error is not None), None)
        if error is None and value not in ({}, [], [{}]):
            error = no_reply(
                response, {name: None for chunk in chunks for name in chunk}, "candidates", MARKS, RIGHT_ADDRESS
            )
        # An empty reply is written as an empty object (protobuf's JSON omits unset fields).
        raise error or ServerError("the response has no candidates", status=response.status)
    reply = fitting_reply(response, lambda: accumulate(ReplyDecoder(dialect).whole(chunks, response.body)))
    return replace(reply, warnings=(*_extra_candidates(chunks[0]), *reply.warnings))


def _extra_candidates(data: Object) -> tuple[CallWarning, ...]:
    count = len(objects_of(data, "candidates"))
    if count < 2:
        return ()
    message = f"{count} candidates received; the first is the reply"
    return (CallWarning("extra_candidates", "candidates", message, count, 1),)
