"""What responses report about their price: tier, cache writes by TTL, and hosted tools, whole and streamed."""

import json
from decimal import Decimal
from typing import Any

import pytest
from openai.types.responses import Response

from abstractcore.schema import Billing, ModelReply, TextPart, Usage
from abstractcore.testing import check_reply_losses
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from abstractcore_providers.formats.openai_responses.vocabulary import BILLING
from tests.providers.billing import check_kept, check_read, decoded, has_field
from tests.providers.formats.openai_responses.generated import PROVIDER
from tests.providers.formats.openai_responses.wire import begin, completed, delta, end, message, streamed

RESPONSES = OpenAIResponses(PROVIDER)
COUNTS = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
IMAGES = {"input_tokens": 9, "output_tokens": 1056, "total_tokens": 1065}
CASES: dict[str, tuple[dict[str, Any], Usage, dict[str, Any]]] = {
    # openai 3.54: Response.service_tier, ResponseUsage.input_tokens_details.cache_write_tokens_details
    "tier and cache writes": (
        {
            "service_tier": "ultrafast",
            "usage": {
                **COUNTS,
                "input_tokens_details": {
                    "cached_tokens": 1,
                    "cache_write_tokens": 7,
                    "cache_write_tokens_details": {"ttl_30m_tokens": 4, "ttl_12h_tokens": 3},
                },
            },
        },
        Usage(
            10,
            5,
            cached=1,
            cache_written=7,
            billing=Billing(tier="ultrafast", counts={"cache_write_30m": 4, "cache_write_12h": 3}),
        ),
        {},
    ),
    # openai 3.54: Response.tool_usage; the tokens of image generation are those of another model
    "web search": (
        {"usage": COUNTS, "tool_usage": {"web_search": {"num_requests": 3}, "image_gen": IMAGES}},
        Usage(10, 5, billing=Billing(counts={"web_search": 3})),
        {"tool_usage": {"image_gen": IMAGES}},
    ),
    # xAI's page "Cost Tracking": the field is in responses of its Responses API, too
    "xai": (
        {"usage": {**COUNTS, "cost_in_usd_ticks": 292331500, "num_sources_used": 0}},
        Usage(10, 5, billing=Billing(Decimal("0.02923315"))),
        {"usage": {"num_sources_used": 0}},
    ),
    "tier without counts": ({"service_tier": "default"}, Usage(billing=Billing(tier="default")), {}),
    "other types": ({"service_tier": 5, "usage": COUNTS, "tool_usage": {"web_search": [1]}}, Usage(10, 5), {}),
}


def whole(*items: Any, **fields: Any) -> ModelReply:
    return decoded(RESPONSES, json.dumps({**completed(*items), "usage": None, **fields}).encode())


def streamed_reply(*items: Any, **fields: Any) -> ModelReply:
    return streamed(begin(), delta("output_text", "hi"), end(*items, **{"usage": None, **fields}))


@pytest.mark.parametrize("case", CASES)
def test_response_has_its_billing(case: str):
    fields, usage, metadata = CASES[case]
    check_read(whole(message("hi"), **fields), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_stream_has_its_billing(case: str):
    fields, usage, metadata = CASES[case]
    check_read(streamed_reply(message("hi"), **fields), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_billing_is_kept_by_the_server_side(case: str):
    check_kept(RESPONSES, whole(message("hi"), **CASES[case][0]))


def test_each_search_in_files_is_counted():
    search = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": None}
    items = [search, {**search, "id": "fs_2"}, message("hi")]
    billing = Billing(tier="default", counts={"file_search": 2})
    for reply in (
        whole(*items, service_tier="default"),
        streamed_reply(*items, service_tier="default"),
    ):
        assert reply.usage.billing == billing
        check_kept(RESPONSES, reply)


def test_billing_without_a_field_is_a_loss_with_a_warning():
    billing = Billing(Decimal("0.00000000001"), "flex", "us", {"web_search": 1, "citation": 2, "file_search": 3})
    reply = ModelReply((TextPart("hi"),), "stop", usage=Usage(billing=billing), provider=PROVIDER)
    check_reply_losses(RESPONSES, reply)
    (warning,) = RESPONSES.render(reply).warnings
    assert (warning.path, warning.sent) == ("usage.billing", {"tier": "flex", "counts": {"web_search": 1}})


def test_metadata_under_the_name_of_a_billing_field_is_a_loss_with_a_warning():
    for metadata in ({"service_tier": "flex"}, {"tool_usage": {"web_search": {}}}, {"usage": {"input_tokens": 1}}):
        reply = ModelReply((TextPart("hi"),), "stop", provider=PROVIDER, provider_metadata=metadata)
        check_reply_losses(RESPONSES, reply)


def test_fields_are_those_of_the_openai_package():
    for path in BILLING.paths:
        assert has_field(Response, path) or path == "usage.cost_in_usd_ticks", path
