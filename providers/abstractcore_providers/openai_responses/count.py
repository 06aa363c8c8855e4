"""Counting the tokens of a call without making it: `POST /responses/input_tokens`."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.errors import ServerError
from abstractcore.schema import CallWarning, Encoded, ModelCall, WireRequest, WireResponse

from ..json_reading import as_object, count_of, read_answer
from ..model_rules import ModelTable
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
"""What the count depends on; it takes no other fields."""


def encode_count(call: ModelCall, provider: str, rules: ModelTable) -> Encoded:
    """The request for the number of input tokens of a lowered call; raises as `encode` does."""
    warnings: list[CallWarning] = []
    body = request_body(call, provider, rules, warnings)
    body = {name: value for name, value in body.items() if name in _FIELDS}
    headers = {"content-type": "application/json"}
    return Encoded(WireRequest("/responses/input_tokens", headers, to_json(body)), tuple(warnings))


def decode_count(response: WireResponse) -> int:
    """The number of tokens; raises `ServerError` for an answer that does not say it."""
    try:
        count = count_of(as_object(read_answer(response.body)), "input_tokens")
    except ValueError:
        count = None
    if count is None or count < 0:
        raise ServerError("the answer holds no number of tokens", status=response.status)
    return count
