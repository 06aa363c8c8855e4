"""What replies report about their price: tier, speed, region, cache writes and server tools, whole and streamed."""

import json
from decimal import Decimal
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.beta import BetaMessage

from abstractcore.schema import Billing, ModelReply, SeparateUsage, TextPart, Usage
from abstractcore.testing import check_reply_losses
from abstractcore_providers.formats.anthropic_messages.vocabulary import BILLING
from tests.providers.billing import check_kept, check_read, decoded, has_field
from tests.providers.formats.anthropic_messages.wire import MESSAGES, end, message, start, streamed, text

COUNTS = {"input_tokens": 10, "output_tokens": 5}
ITERATIONS = [
    {"type": "compaction", "input_tokens": 180000, "output_tokens": 3500},
    {
        "type": "advisor_message",
        "model": "claude-opus-5-5",
        "input_tokens": 800,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1600,
    },
    {"type": "message", "model": "claude-opus-5-5", "input_tokens": 10, "output_tokens": 5},
]
SEPARATE = (
    SeparateUsage(None, 180000, 3500),
    SeparateUsage("claude-opus-5-5", 920, 1600, 100, 20, {"cache_write_5m": 20, "cache_write_1h": 0}),
)
CASES: dict[str, tuple[dict[str, Any], Usage, dict[str, Any]]] = {
    # anthropic 2.12: Usage.service_tier, .inference_geo, .cache_creation, .server_tool_use
    "all": (
        {
            **COUNTS,
            "cache_creation_input_tokens": 7,
            "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 3},
            "service_tier": "batch",
            "inference_geo": "us",
            "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0},
        },
        Usage(
            17,
            5,
            cache_written=7,
            billing=Billing(
                None,
                "batch",
                "us",
                {"cache_write_5m": 4, "cache_write_1h": 3, "web_search": 2, "web_fetch": 0},
            ),
        ),
        {},
    ),
    # anthropic 2.12: Usage.speed, beside the tier that serves it
    "fast": (
        {**COUNTS, "service_tier": "standard", "speed": "fast"},
        Usage(10, 5, billing=Billing(tier="fast")),
        {},
    ),
    "standard speed": (
        {**COUNTS, "service_tier": "priority", "speed": "standard"},
        Usage(10, 5, billing=Billing(tier="priority")),
        {},
    ),
    # anthropic 2.12: BetaUsage.iterations and .fallback_credit, which are also metadata
    "iterations": (
        {**COUNTS, "service_tier": "standard", "iterations": ITERATIONS, "fallback_credit": {"status": "used"}},
        Usage(10, 5, billing=Billing(tier="standard", separate=SEPARATE)),
        {"usage": {"iterations": ITERATIONS, "fallback_credit": {"status": "used"}}},
    ),
    "nothing": ({**COUNTS, "cache_creation": None, "inference_geo": None, "server_tool_use": None}, Usage(10, 5), {}),
    "other types": (
        {**COUNTS, "cache_creation": [1], "inference_geo": 5, "service_tier": {}, "speed": 1},
        Usage(10, 5),
        {},
    ),
}


def whole(usage: dict[str, Any]) -> ModelReply:
    body = message({"type": "text", "text": "hi"}, usage=usage)
    return decoded(MESSAGES, json.dumps(body).encode())


@pytest.mark.parametrize("case", CASES)
def test_reply_has_its_billing(case: str):
    data, usage, metadata = CASES[case]
    check_read(whole(data), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_stream_has_its_billing(case: str):
    """The start has most of it; the end has what is known then: tools, iterations, all output."""
    data, usage, metadata = CASES[case]
    last = ("output_tokens", "server_tool_use", "iterations", "fallback_credit")
    first = {name: value for name, value in data.items() if name not in last}
    changed = {name: value for name, value in data.items() if name in last}
    reply = streamed(start(**first, output_tokens=1), *text(0, "hi"), *end(**changed))
    check_read(reply, usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_billing_is_kept_by_the_server_side(case: str):
    check_kept(MESSAGES, whole(CASES[case][0]))


def test_separate_usage_without_iterations_is_a_loss_with_a_warning():
    """They are rendered from the metadata, which hold all iterations in their order."""
    usage = Usage(10, 5, billing=Billing(separate=SEPARATE))
    reply = ModelReply((TextPart("hi"),), "stop", usage=usage, provider="anthropic")
    check_reply_losses(MESSAGES, reply)
    assert [warning.path for warning in MESSAGES.render(reply).warnings] == ["usage.billing"]


def test_billing_without_a_field_is_a_loss_with_a_warning():
    for tier in ("standard", "fast"):
        billing = Billing(Decimal("0.5"), tier, "us", {"cache_write_1h": 1, "citation": 2})
        reply = ModelReply((TextPart("hi"),), "stop", usage=Usage(billing=billing), provider="anthropic")
        check_reply_losses(MESSAGES, reply)
        (warning,) = MESSAGES.render(reply).warnings
        assert warning.path == "usage.billing"
        assert warning.sent == {"tier": tier, "region": "us", "counts": {"cache_write_1h": 1}}


def test_metadata_under_the_name_of_a_billing_field_is_a_loss_with_a_warning():
    for usage in ({"speed": "fast"}, {"service_tier": "batch"}, {"cache_creation": {}}, {"new": None}, {}, 5):
        metadata = {"usage": usage}
        reply = ModelReply((TextPart("hi"),), "stop", provider="anthropic", provider_metadata=metadata)
        check_reply_losses(MESSAGES, reply)


def test_fields_are_those_of_the_anthropic_package():
    for path in (*BILLING.paths, "usage.speed"):
        assert has_field(Message, path), path
        assert has_field(BetaMessage, path), path
    assert has_field(BetaMessage, "usage.iterations")
