"""From a `GenerateContentResponse` object to a reply."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.errors import ServerError
from abstractcore.schema import CallWarning, ModelReply, SchemaError, WireResponse, accumulate

from ..json_reading import Object, as_objects, read_answer
from .decoder import ReplyDecoder
from .dialect import Dialect
from .failures import first_object
from .vocabulary import block_reason


def decode(response: WireResponse, dialect: Dialect) -> ModelReply:
    """The reply; raises `ServerError` for a body that holds none, or the error it reports in spite of its status.

    It is read as a stream of one chunk, so that both give the same.
    """
    try:
        data = first_object(read_answer(response.body))
    except ValueError:
        raise ServerError(
            f"the answer is not JSON: it begins with {response.body[:60]!r}",
            status=response.status,
            hint="Does base_url point at the API, with its /v1beta?",
        ) from None
    decoder = ReplyDecoder(dialect)
    try:
        deltas = decoder.read(data, response.body)
        if not as_objects(data.get("candidates")) and block_reason(data) is None:
            raise ServerError("the answer holds no candidates", status=response.status)
        reply = accumulate(deltas + decoder.end())
    except SchemaError as error:
        raise ServerError(f"the answer does not fit the schema: {error}", status=response.status) from None
    return replace(reply, warnings=_extra_candidates(data))


def _extra_candidates(data: Object) -> tuple[CallWarning, ...]:
    count = len(as_objects(data.get("candidates")))
    if count < 2:
        return ()
    message = f"{count} candidates came; the first is the reply"
    return (CallWarning("extra_candidates", "candidates", message, count, 1),)
