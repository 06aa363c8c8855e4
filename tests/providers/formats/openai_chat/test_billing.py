"""What replies report about their price: the cost, the service tier and meters of each vendor, whole and streamed."""

import json
from decimal import Decimal
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from abstractcore.schema import Billing, ModelReply, TextPart, Usage
from abstractcore.testing import check_laws, check_render_again, check_reply_losses, check_stream
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import MISTRAL, OPENAI_USAGE, OPENROUTER, PERPLEXITY, XAI
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.billing import check_kept, check_read, decoded, has_field, streamed
from tests.providers.formats.openai_chat.wire import chunk, events

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS}
COUNTS = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}

CASES: dict[str, tuple[str, dict[str, Any], Usage, dict[str, Any]]] = {
    # openai 3.54: ChatCompletion.service_tier, CompletionUsage.prompt_tokens_details.image_tokens
    "openai": (
        "openai",
        {"service_tier": "priority", "usage": {**COUNTS, "prompt_tokens_details": {"image_tokens": 4}}},
        Usage(10, 5, billing=Billing(tier="priority", counts={"input_image": 4})),
        {},
    ),
    # groq 1.7: ChatCompletion.service_tier, CompletionUsage.queue_time
    "groq": (
        "groq",
        {"service_tier": "on_demand", "usage": {**COUNTS, "queue_time": 0.5}},
        Usage(10, 5, billing=Billing(tier="on_demand")),
        {"usage": {"queue_time": 0.5}},
    ),
    # Cerebras' page "Chat Completions": service_tier, prompt_tokens_details.cached_tokens
    "cerebras": (
        "cerebras",
        {"service_tier": "default", "usage": {**COUNTS, "prompt_tokens_details": {"cached_tokens": 3}}},
        Usage(10, 5, cached=3, billing=Billing(tier="default")),
        {},
    ),
    # mistralai 3.7: UsageInfo.service_tier, UsageInfo.prompt_audio_seconds
    "mistral": (
        "mistral",
        {"usage": {**COUNTS, "service_tier": "standard", "prompt_audio_seconds": 203}},
        Usage(10, 5, billing=Billing(tier="standard", counts={"audio_second": 203})),
        {},
    ),
    # DeepSeek's page "Create Chat Completion": prompt_cache_hit_tokens, prompt_cache_miss_tokens
    "deepseek": (
        "deepseek",
        {"usage": {**COUNTS, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}},
        Usage(10, 5, cached=4),
        {"usage": {"prompt_cache_miss_tokens": 6}},
    ),
    # xai-sdk 1.21: SamplingUsage.cost_in_usd_ticks and .num_sources_used, in chunks too; the page "Cost Tracking"
    "xai": (
        "xai",
        {"service_tier": "default", "usage": {**COUNTS, "cost_in_usd_ticks": 37756000, "num_sources_used": 0}},
        Usage(10, 5, billing=Billing(Decimal("0.0037756"), "default")),
        {"usage": {"num_sources_used": 0}},
    ),
    # xAI's page "Tool Usage Details": the calls of each tool, and the posts and profiles that were read
    "xai tools": (
        "xai",
        {
            "usage": {
                **COUNTS,
                "cost_in_usd_ticks": 0,
                "server_side_tool_usage_details": {
                    "web_search_calls": 2,
                    "x_search_calls": 1,
                    "code_interpreter_calls": 3,
                    "file_search_calls": 4,
                    "document_search_calls": 5,
                    "x_posts_fetched": 6,
                    "x_users_fetched": 7,
                },
            }
        },
        Usage(
            10,
            5,
            billing=Billing(
                Decimal(0),
                counts={
                    "web_search": 2,
                    "code_execution": 3,
                    "file_search": 4,
                    "attachment_search": 5,
                    "x_post": 6,
                    "x_profile": 7,
                },
            ),
        ),
        {"usage": {"server_side_tool_usage_details": {"x_search_calls": 1}}},
    ),
    # openrouter 1.3: ChatUsage.cost, .cost_details, .is_byok, .server_tool_use_details, ChatResult.service_tier
    "openrouter": (
        "openrouter",
        {
            "service_tier": None,
            "usage": {
                **COUNTS,
                "cost": 0.00014,
                "is_byok": False,
                "cost_details": {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 0.0001},
                "prompt_tokens_details": {"cached_tokens": 0, "video_tokens": 8},
                "server_tool_use_details": {"web_search_requests": 1, "tool_calls_executed": 2},
            },
        },
        Usage(10, 5, cached=0, billing=Billing(Decimal("0.00014"), counts={"input_video": 8, "web_search": 1})),
        {
            "usage": {
                "is_byok": False,
                "cost_details": {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 0.0001},
                "server_tool_use_details": {"tool_calls_executed": 2},
            }
        },
    ),
    "openrouter with a key of the user's": (
        "openrouter",
        {"usage": {**COUNTS, "cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": 19}}},
        Usage(10, 5, billing=Billing(Decimal("19.95"))),
        {"usage": {"is_byok": True, "cost_details": {"upstream_inference_cost": 19}}},
    ),
    # "bug: cost always returned as 0 when using BYOK", issue 1641 of tailcallhq/forgecode on GitHub
    "openrouter with a key of the user's and no fee": (
        "openrouter",
        {
            "service_tier": "default",
            "usage": {**COUNTS, "cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.0360795}},
        },
        Usage(10, 5, billing=Billing(Decimal("0.0360795"), "default")),
        {"usage": {"is_byok": True, "cost_details": {"upstream_inference_cost": 0.0360795}}},
    ),
    "openrouter with a key of the user's and an unknown upstream cost": (
        "openrouter",
        {"usage": {**COUNTS, "cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": None}}},
        Usage(10, 5),
        {"usage": {"is_byok": True, "cost_details": {"upstream_inference_cost": None}}},
    ),
    "openrouter, a free model": (
        "openrouter",
        {"usage": {**COUNTS, "cost": 0}},
        Usage(10, 5, billing=Billing(Decimal(0))),
        {},
    ),
    # perplexityai 0.46: UsageInfo.cost.total_cost, .citation_tokens, .num_search_queries, .search_context_size
    "perplexity": (
        "perplexity",
        {
            "usage": {
                **COUNTS,
                "citation_tokens": 19028,
                "num_search_queries": 21,
                "search_context_size": "low",
                "cost": {"input_tokens_cost": 0.0, "request_cost": 0.006, "total_cost": 0.816},
            }
        },
        Usage(10, 5, billing=Billing(Decimal("0.816"), counts={"citation": 19028, "web_search": 21})),
        {"usage": {"search_context_size": "low", "cost": {"input_tokens_cost": 0.0, "request_cost": 0.006}}},
    ),
}  # fmt: skip


def whole(fields: dict[str, Any]) -> bytes:
    message = {"role": "assistant", "content": "hi"}
    return json.dumps({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], **fields}).encode()


@pytest.mark.parametrize("case", CASES)
def test_reply_has_its_billing(case: str):
    name, fields, usage, metadata = CASES[case]
    check_read(decoded(CHATS[name], whole(fields)), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_stream_with_usage_in_a_last_chunk_has_its_billing(case: str):
    name, fields, usage, metadata = CASES[case]
    stream = events([chunk(content="hi"), chunk("stop"), {**chunk(), "choices": [], **fields}])
    check_read(streamed(CHATS[name], stream), usage, {"created": 1, **metadata})


@pytest.mark.parametrize("case", CASES)
def test_stream_with_usage_in_every_chunk_has_its_billing(case: str):
    name, fields, usage, metadata = CASES[case]
    first = {**fields, "usage": {"prompt_tokens": 10, "completion_tokens": 1, "cost": 7, "cost_in_usd_ticks": 1}}
    stream = events([{**chunk(content="hi"), **first}, {**chunk("stop"), **fields}])
    check_read(streamed(CHATS[name], stream), usage, {"created": 1, **metadata})


@pytest.mark.parametrize("case", CASES)
def test_billing_is_kept_by_the_server_side(case: str):
    name, fields, _, _ = CASES[case]
    check_kept(CHATS[name], decoded(CHATS[name], whole(fields)))


def test_tier_of_the_first_chunk_alone_is_read():
    stream = events([{**chunk(content="hi"), "service_tier": "flex"}, chunk("stop")])
    assert streamed(CHATS["openai"], stream).usage == Usage(billing=Billing(tier="flex"))


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("openai", {"service_tier": 5, "usage": {"cost": 1, "cost_in_usd_ticks": 1}}),
        ("openai", {"service_tier": ""}),
        ("openrouter", {"usage": {"cost": "0.1"}}),
        ("openrouter", {"usage": {"cost": True}}),
        ("openrouter", {"usage": {"cost": -0.1}}),
        ("openrouter", {"usage": {"cost": 1e300}}),
        ("openrouter", {"usage": {"cost": 1e-300}}),
        ("openrouter", {"usage": {"server_tool_use_details": [1]}}),
        ("xai", {"usage": {"cost_in_usd_ticks": 1.5}}),
        ("xai", {"usage": {"cost_in_usd_ticks": -1}}),
        ("perplexity", {"usage": {"cost": 0.5, "citation_tokens": None}}),
    ],
)
def test_what_is_not_billing_data_is_not_reported(name: str, fields: dict[str, Any]):
    reply = decoded(CHATS[name], whole(fields))
    assert reply.usage.billing is None
    check_kept(CHATS[name], reply)
    stream = events([{**chunk(content="hi"), **fields}, chunk("stop")])
    assert streamed(CHATS[name], stream).usage.billing is None


@pytest.mark.parametrize(
    ("name", "billing", "sent"),
    [
        ("openai", Billing(Decimal("0.5"), "flex", "us"), {"tier": "flex"}),
        ("openai", Billing(Decimal("0.5")), None),
        ("openrouter", Billing(Decimal("0.1234567890123456789")), {"cost": "0.12345678901234568"}),
        ("xai", Billing(Decimal("0.00000000001"), "default"), {"tier": "default"}),
    ],
)
def test_billing_without_a_field_is_a_loss_with_a_warning(name: str, billing: Billing, sent: Any):
    reply = ModelReply((TextPart("hi"),), "stop", usage=Usage(1, billing=billing), provider=name)
    check_reply_losses(CHATS[name], reply)
    (warning,) = CHATS[name].render(reply).warnings
    assert (warning.path, warning.sent) == ("usage.billing", sent)


def test_metadata_under_the_name_of_a_billing_field_is_a_loss_with_a_warning():
    for metadata in (
        {"service_tier": "flex"},
        {"usage": {"prompt_tokens": 1}},
        {"usage": {"cost": {"total_cost": 1}}},
        {"usage": {"cost": 5}},
        {"usage": {}},
        {"usage": 5},
        {"usage": {"is_byok": None}},
    ):
        for name in ("openai", "openrouter", "perplexity"):
            reply = ModelReply((TextPart("hi"),), "stop", provider=name, provider_metadata=metadata)
            check_reply_losses(CHATS[name], reply)


@pytest.mark.parametrize("cost", [None, "0", "0.5", "19", "19.95"])
@pytest.mark.parametrize("upstream", [None, 0, 19, "19"])
def test_cost_with_a_key_of_the_users_is_kept_or_named(cost: str | None, upstream: Any):
    """The fee is what remains of the cost: none remains if the cost is lower than the upstream one."""
    billing = None if cost is None else Billing(Decimal(cost))
    metadata = {"usage": {"is_byok": True, "cost_details": {"upstream_inference_cost": upstream}}}
    usage = Usage(10, 5, billing=billing)
    reply = ModelReply((TextPart("hi"),), "stop", usage=usage, provider="openrouter", provider_metadata=metadata)
    check_reply_losses(CHATS["openrouter"], reply)
    check_render_again(CHATS["openrouter"], reply)
    check_stream(CHATS["openrouter"], reply)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["mistral", "openrouter", "perplexity", "xai"])
def test_laws_hold_for_the_billing_of_each_vendor(name: str):
    check_laws(CHATS[name], name, max_examples=5)


def test_fields_are_those_of_the_openai_package():
    for path in OPENAI_USAGE.paths:
        assert has_field(ChatCompletion, path), path
        assert has_field(ChatCompletionChunk, path), path


def test_every_vendor_with_a_cost_reads_it_from_its_own_field():
    tables = {preset.name: preset.dialect.billing for preset in VENDORS}
    own = {"mistral": MISTRAL, "openrouter": OPENROUTER, "perplexity": PERPLEXITY, "xai": XAI}
    assert {name: table for name, table in tables.items() if table is not OPENAI_USAGE} == own
