"""Counting the tokens of a call (`countTokens`), which sends no answer."""

from __future__ import annotations

from abstractcore.schema import Encoded, ModelCall, WireRequest, WireResponse

from ...common.response_bodies import read_count
from .dialect import Dialect
from .encode import HEADERS, body_of, resource_of
from .errors import RIGHT_ADDRESS, error_in_body
from .writing import Writing

_COUNTED = ("contents", "systemInstruction", "tools", "generationConfig")
"""What Vertex AI counts, given side by side."""


def encode_count(call: ModelCall, dialect: Dialect) -> Encoded:
    """The request for the number of tokens of a lowered call, tools and instructions included."""
    writing = Writing(dialect.provider)
    body, resource = body_of(call, dialect, writing), resource_of(call.model, dialect)
    if dialect.count_wrapped:
        body = {"generateContentRequest": {"model": resource, **body}}
    else:
        body = {name: body[name] for name in _COUNTED if name in body}
    request = WireRequest(f"/{resource}:countTokens", HEADERS, writing.json(body))
    return Encoded(request, tuple(writing.warnings))


def decode_count(response: WireResponse) -> int:
    """The number of tokens; raises `ServerError` for a body that holds none."""
    return read_count(response, "totalTokens", error_in_body, RIGHT_ADDRESS)
