"""Token counting: the operation CountTokens."""

from __future__ import annotations

from abstractcore.schema import CallWarning, Encoded, ModelCall, WireResponse

from ...common.response_bodies import read_count
from .dialect import ConverseDialect
from .encode import request_body, request_to
from .errors import RIGHT_ADDRESS, error_in_body
from .model_fields import FIELDS

_COUNTED = ("messages", "system", "toolConfig", FIELDS)


def encode_count(call: ModelCall, dialect: ConverseDialect) -> Encoded:
    """Returns the request; raises as `encode` does."""
    warnings: list[CallWarning] = []
    body, inputs, _ = request_body(call, dialect, warnings)
    counted = {name: body[name] for name in _COUNTED if name in body}
    request = request_to(call.model, "count-tokens", {"input": {"converse": counted}}, inputs)
    return Encoded(request, tuple(warnings))


def decode_count(response: WireResponse) -> int:
    """Returns the number of tokens; raises `ServerError` for a body without it."""
    return read_count(response, "inputTokens", lambda data: error_in_body(data, response.headers), RIGHT_ADDRESS)
