"""Token counting without a call: `POST /responses/input_tokens`."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.schema import CallWarning, Encoded, ModelCall, WireRequest, WireResponse

from ...common.endpoints import JSON_HEADERS, RIGHT_ADDRESS
from ...common.openai_errors import error_in_body
from ...common.response_bodies import read_count
from .encode import request_body

_FIELDS = frozenset(
    {
        "conversation",
        "input",
        "instructions",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "reasoning",
        "text",
        "tool_choice",
        "tools",
        "truncation",
    }
)
"""The fields that affect the count; it accepts no others."""


def encode_count(call: ModelCall, provider: str, encrypted_reasoning: bool) -> Encoded:
    """Returns the request for the number of input tokens of a lowered call; raises as `encode` does."""
    warnings: list[CallWarning] = []
    body, _ = request_body(call, provider, encrypted_reasoning, warnings)
    body = {name: value for name, value in body.items() if name in _FIELDS}
    return Encoded(WireRequest("/responses/input_tokens", JSON_HEADERS, to_json(body)), tuple(warnings))


def decode_count(response: WireResponse) -> int:
    """Returns the number of tokens; raises `ServerError` for a response without it."""
    return read_count(response, "input_tokens", error_in_body, RIGHT_ADDRESS)
