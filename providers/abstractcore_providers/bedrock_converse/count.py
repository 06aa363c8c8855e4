"""How many tokens a call would take: the operation CountTokens."""

from __future__ import annotations

from abstractcore.errors import ServerError
from abstractcore.schema import CallWarning, Encoded, ModelCall, WireResponse

from ..json_reading import as_object, count_of, read_answer
from .encode import request_body, request_to
from .model_fields import FIELDS

_COUNTED = ("messages", "system", "toolConfig", FIELDS)


def encode_count(call: ModelCall) -> Encoded:
    """The request that asks; raises as `encode` does."""
    warnings: list[CallWarning] = []
    body, inputs = request_body(call, warnings)
    counted = {name: body[name] for name in _COUNTED if name in body}
    request = request_to(call.model, "count-tokens", {"input": {"converse": counted}}, inputs)
    return Encoded(request, tuple(warnings))


def decode_count(response: WireResponse) -> int:
    """The number of tokens; raises `ServerError` for a body that does not say it."""
    try:
        count = count_of(as_object(read_answer(response.body)), "inputTokens")
    except ValueError:
        count = None
    if count is None:
        raise ServerError("the answer holds no number of tokens", status=response.status)
    return count
