"""Token counting (`countTokens`)."""

from __future__ import annotations

from abstractcore.schema import Encoded, ModelCall, WireRequest, WireResponse

from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.google_errors import RIGHT_ADDRESS, error_in_body
from ...common.response_bodies import read_count
from .dialect import GenerateContentDialect
from .encode import body_of, resource_of
from .vocabulary import ARGUMENTS

_COUNTED = ("contents", "systemInstruction", "tools", "generationConfig")
"""The fields that Vertex AI counts, at the top level."""


def encode_count(call: ModelCall, dialect: GenerateContentDialect) -> Encoded:
    """Returns the request for the number of tokens of a lowered call, including tools and system instruction."""
    writer = BodyWriter(dialect.provider, ARGUMENTS)
    body, resource = body_of(call, dialect, writer), resource_of(call.model, dialect)
    if dialect.count_wrapped:
        body = {"generateContentRequest": {"model": resource, **body}}
    else:
        body = {name: body[name] for name in _COUNTED if name in body}
    request = WireRequest(f"/{resource}:countTokens", JSON_HEADERS, writer.json(body))
    return Encoded(request, tuple(writer.warnings))


def decode_count(response: WireResponse) -> int:
    """Returns the number of tokens; raises `ServerError` for a body without it."""
    return read_count(response, "totalTokens", error_in_body, RIGHT_ADDRESS)
