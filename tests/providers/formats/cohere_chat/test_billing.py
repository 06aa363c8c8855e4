"""What replies report about their price: billed units instead of tokens, whole and streamed."""

import json
from decimal import Decimal
from typing import Any

import pytest
from cohere.v2.types.v2chat_response import V2ChatResponse

from abstractcore.schema import Billing, ModelReply, TextPart, Usage
from abstractcore.testing import check_reply_losses
from abstractcore_providers.formats.cohere_chat.vocabulary import BILLING
from tests.providers.billing import check_kept, check_read, decoded, has_field
from tests.providers.formats.cohere_chat.wire import COHERE, end, event, streamed, text

TOKENS = {"input_tokens": 204.0, "output_tokens": 75.0}
CASES: dict[str, tuple[dict[str, Any], Usage, dict[str, Any]]] = {
    # cohere 7.3: UsageBilledUnits.input_tokens, .output_tokens, .search_units, .classifications
    "billed units": (
        {"tokens": TOKENS, "billed_units": {"input_tokens": 5.0, "output_tokens": 70.0}},
        Usage(204, 75, billing=Billing(counts={"billed_input": 5, "billed_output": 70})),
        {},
    ),
    "other units": (
        {"tokens": TOKENS, "billed_units": {"search_units": 2, "classifications": 1.0}},
        Usage(204, 75, billing=Billing(counts={"search_unit": 2})),
        {"usage": {"billed_units": {"classifications": 1.0}}},
    ),
    "a fraction of a unit": ({"tokens": TOKENS, "billed_units": {"search_units": 0.5}}, Usage(204, 75), {}),
    "other types": ({"tokens": TOKENS, "billed_units": [1]}, Usage(204, 75), {}),
}


def whole(usage: dict[str, Any]) -> ModelReply:
    message = {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    body = {"id": "r", "finish_reason": "COMPLETE", "message": message, "usage": usage}
    return decoded(COHERE, json.dumps(body).encode())


@pytest.mark.parametrize("case", CASES)
def test_reply_has_its_billing(case: str):
    data, usage, metadata = CASES[case]
    check_read(whole(data), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_stream_has_its_billing(case: str):
    data, usage, metadata = CASES[case]
    check_read(streamed(event("message-start"), text("hi"), end(usage=data)), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_billing_is_kept_by_the_server_side(case: str):
    check_kept(COHERE, whole(CASES[case][0]))


def test_billing_without_a_field_is_a_loss_with_a_warning():
    billing = Billing(Decimal("0.5"), "flex", counts={"billed_input": 1, "web_search": 2})
    reply = ModelReply((TextPart("hi"),), "stop", usage=Usage(billing=billing), provider="cohere")
    check_reply_losses(COHERE, reply)
    (warning,) = COHERE.render(reply).warnings
    assert (warning.path, warning.sent) == ("usage.billing", {"counts": {"billed_input": 1}})


def test_fields_are_those_of_the_cohere_package():
    for path in BILLING.paths:
        assert has_field(V2ChatResponse, path), path
