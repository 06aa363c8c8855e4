"""What replies report about their price: the service tier, and cache writes by TTL, whole and streamed."""

import json
from decimal import Decimal
from typing import Any

import pytest

from abstractcore.schema import Billing, ModelReply, TextPart, Usage
from abstractcore.testing import check_reply_losses
from abstractcore_providers.formats.bedrock_converse import BedrockConverse
from tests.providers.billing import check_kept, check_read, decoded, streamed
from tests.providers.formats.bedrock_converse.wire import CONVERSE, END, START, delta, reply_with, service, stream_of

COUNTS = {"inputTokens": 3, "outputTokens": 5, "totalTokens": 38}
WRITTEN = {**COUNTS, "cacheWriteInputTokens": 30}
CASES: dict[str, tuple[dict[str, Any], Usage, dict[str, Any]]] = {
    # botocore 1.44.5, bedrock-runtime: ConverseResponse.serviceTier.type, TokenUsage.cacheDetails, CacheTTL
    "tier": (
        {"usage": COUNTS, "serviceTier": {"type": "priority"}},
        Usage(3, 5, billing=Billing(tier="priority")),
        {},
    ),
    "cache writes": (
        {
            "usage": {
                **WRITTEN,
                "cacheDetails": [
                    {"ttl": "1h", "inputTokens": 10},
                    {"ttl": "5m", "inputTokens": 15},
                    {"ttl": "5m", "inputTokens": 5},
                ],
            },
            "performanceConfig": {"latency": "optimized"},
        },
        Usage(33, 5, cache_written=30, billing=Billing(counts={"cache_write_5m": 20, "cache_write_1h": 10})),
        {"performanceConfig": {"latency": "optimized"}},
    ),
    "tier without counts": ({"serviceTier": {"type": "flex"}}, Usage(billing=Billing(tier="flex")), {}),
    "other types": (
        {"usage": {**COUNTS, "cacheDetails": [{"ttl": "1y", "inputTokens": 1}, 5]}, "serviceTier": "flex"},
        Usage(3, 5),
        {},
    ),
}


def whole(fields: dict[str, Any]) -> ModelReply:
    body = {**reply_with({"text": "a"}), "usage": None, **fields}
    return decoded(CONVERSE, json.dumps({name: value for name, value in body.items() if name != "metrics"}).encode())


@pytest.mark.parametrize("case", CASES)
def test_reply_has_its_billing(case: str):
    fields, usage, metadata = CASES[case]
    check_read(whole(fields), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_stream_has_its_billing(case: str):
    fields, usage, metadata = CASES[case]
    stream = stream_of([START, delta(0, text="a"), END, {"metadata": fields}])
    check_read(streamed(CONVERSE, stream), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_billing_is_kept_by_the_server_side(case: str):
    check_kept(CONVERSE, whole(CASES[case][0]))


def test_billing_without_a_field_is_a_loss_with_a_warning():
    billing = Billing(Decimal("0.5"), "flex", "us", {"cache_write_1h": 1, "web_search": 2})
    reply = ModelReply((TextPart("hi"),), "stop", usage=Usage(billing=billing), provider="bedrock")
    check_reply_losses(BedrockConverse(), reply)
    (warning,) = CONVERSE.render(reply).warnings
    assert warning.path == "usage.billing"
    assert warning.sent == {"tier": "flex", "counts": {"cache_write_1h": 1}}


def test_fields_are_those_of_the_botocore_package():
    for name in ("ConverseResponse", "ConverseStreamMetadataEvent"):
        members = service().shape_for(name).members
        assert "type" in members["serviceTier"].members
        details = members["usage"].members["cacheDetails"].member
        assert set(details.members) == {"ttl", "inputTokens"}
        assert set(details.members["ttl"].enum) == {"5m", "1h"}
