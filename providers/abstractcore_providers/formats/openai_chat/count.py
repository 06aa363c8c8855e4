"""Token counting, of servers that have an endpoint for it: llama.cpp and vLLM."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.schema import CallWarning, Encoded, ModelCall, WireRequest, WireResponse

from ...common.endpoints import JSON_HEADERS, RIGHT_ADDRESS
from ...common.openai_errors import error_in_body
from ...common.response_bodies import read_count
from .dialect import ChatDialect, CountEndpoint
from .encode import request_body


def encode_count(call: ModelCall, dialect: ChatDialect, endpoint: CountEndpoint) -> Encoded:
    """Returns the request for the number of tokens of a lowered call, by the chat template of the model; raises as
    `encode` does.
    """
    warnings: list[CallWarning] = []
    body, _ = request_body(call.with_(stream=False), dialect, warnings)
    body = {name: value for name, value in body.items() if name in endpoint.fields}
    counted = [each for each in warnings if not each.path.startswith("sampling.")]
    return Encoded(WireRequest(endpoint.path, JSON_HEADERS, to_json(body)), tuple(counted))


def decode_count(response: WireResponse, endpoint: CountEndpoint) -> int:
    """Returns the number of tokens; raises `ServerError` for a response without it."""
    return read_count(response, endpoint.count, error_in_body, RIGHT_ADDRESS)
