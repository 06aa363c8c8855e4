"""What replies report about their price: tier, tokens by modality, and grounding, whole and streamed."""

import json
from decimal import Decimal
from typing import Any

import pytest
from google.genai import types

from abstractcore.schema import Billing, ModelReply, TextPart, Usage
from abstractcore.testing import check_reply_losses
from abstractcore_providers.formats.gemini import Gemini, GenerateContentDialect
from abstractcore_providers.formats.gemini.vocabulary import VERTEX
from tests.providers.billing import check_kept, check_read, decoded, streamed
from tests.providers.formats.gemini.wire import GEMINI, chunk, events

ON_VERTEX = Gemini(GenerateContentDialect("vertex", billing=VERTEX))
COUNTS = {"promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150}


def of(**counts: int) -> list[dict[str, Any]]:
    """A list of tokens by modality."""
    return [{"modality": name, "tokenCount": count} for name, count in counts.items()]


CASES: dict[str, tuple[Gemini, dict[str, Any], dict[str, Any], Usage, dict[str, Any]]] = {
    # https://ai.google.dev/api/generate-content#UsageMetadata: serviceTier
    "tier": (
        GEMINI,
        {**COUNTS, "serviceTier": "priority"},
        {},
        Usage(100, 50, billing=Billing(tier="priority")),
        {},
    ),
    # google-genai 3.4: GenerateContentResponseUsageMetadata.traffic_type, which is of Vertex AI only
    "traffic type": (
        ON_VERTEX,
        {**COUNTS, "trafficType": "ON_DEMAND_FLEX", "new": {"a": 1}},
        {},
        Usage(100, 50, billing=Billing(tier="ON_DEMAND_FLEX")),
        {"usageMetadata": {"new": {"a": 1}}},
    ),
    # google-genai 3.4: .prompt_tokens_details, .cache_tokens_details, .candidates_tokens_details, each by modality
    "modalities": (
        GEMINI,
        {
            **COUNTS,
            "cachedContentTokenCount": 30,
            "promptTokensDetails": of(TEXT=50, AUDIO=20, IMAGE=10, VIDEO=15, DOCUMENT=5),
            "cacheTokensDetails": of(AUDIO=12, IMAGE=8, VIDEO=6, TEXT=4),
            "candidatesTokensDetails": of(IMAGE=30, AUDIO=11, VIDEO=9),
        },
        {},
        Usage(
            100,
            50,
            cached=30,
            input_audio=20,
            output_audio=11,
            billing=Billing(
                counts={
                    "input_image": 10,
                    "input_video": 15,
                    "cache_read_audio": 12,
                    "cache_read_image": 8,
                    "cache_read_video": 6,
                    "output_image": 30,
                    "output_video": 9,
                }
            ),
        ),
        {},
    ),
    "several entries of one modality": (
        GEMINI,
        {**COUNTS, "promptTokensDetails": [*of(AUDIO=20, IMAGE=10), *of(AUDIO=1, IMAGE=2), {"modality": "AUDIO"}]},
        {},
        Usage(100, 50, input_audio=21, billing=Billing(counts={"input_image": 12})),
        {},
    ),
    # google-genai 3.4: GroundingMetadata.web_search_queries
    "search queries": (
        GEMINI,
        COUNTS,
        {"webSearchQueries": ["", "ulm weather", "ulm rain", "ulm weather"]},
        Usage(100, 50, billing=Billing(counts={"web_search": 2})),
        {"groundingMetadata": {"webSearchQueries": ["", "ulm weather", "ulm rain", "ulm weather"]}},
    ),
    # google-genai 3.4: GroundingChunk.maps
    "maps": (
        GEMINI,
        COUNTS,
        {"groundingChunks": [{"maps": {"uri": "https://maps/a"}}, {"maps": {"uri": "https://maps/b"}}]},
        Usage(100, 50, billing=Billing(counts={"maps_search": 1})),
        {"groundingMetadata": {"groundingChunks": [{"maps": {"uri": "https://maps/a"}}, {"maps": {"uri": "https://maps/b"}}]}},
    ),
    "other types": (
        GEMINI,
        {**COUNTS, "serviceTier": 5, "promptTokensDetails": {"IMAGE": 1}, "cacheTokensDetails": [{"modality": 5}]},
        {"webSearchQueries": "ulm"},
        Usage(100, 50),
        {"groundingMetadata": {"webSearchQueries": "ulm"}},
    ),
}  # fmt: skip


def body(usage: dict[str, Any], grounding: dict[str, Any]) -> dict[str, Any]:
    return chunk({"text": "hi"}, finish="STOP", usage=usage, **({"groundingMetadata": grounding} if grounding else {}))


@pytest.mark.parametrize("case", CASES)
def test_reply_has_its_billing(case: str):
    gemini, data, grounding, usage, metadata = CASES[case]
    check_read(decoded(gemini, json.dumps(body(data, grounding)).encode()), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_stream_has_its_billing(case: str):
    gemini, data, grounding, usage, metadata = CASES[case]
    earlier = chunk({"text": "oh"}, usage={"promptTokenCount": 100, "promptTokensDetails": of(IMAGE=99)})
    check_read(streamed(gemini, events([earlier, body(data, grounding)])), usage, metadata)


@pytest.mark.parametrize("case", CASES)
def test_billing_is_kept_by_the_server_side(case: str):
    gemini, data, grounding, _, _ = CASES[case]
    check_kept(gemini, decoded(gemini, json.dumps(body(data, grounding)).encode()))


def test_tool_results_are_part_of_the_input():
    counts = {**COUNTS, "toolUsePromptTokenCount": 40, "toolUsePromptTokensDetails": of(AUDIO=3, IMAGE=4)}
    reply = decoded(GEMINI, json.dumps(body({**counts, "promptTokensDetails": of(AUDIO=1, IMAGE=2)}, {})).encode())
    assert reply.usage == Usage(140, 50, input_audio=4, billing=Billing(counts={"input_image": 6}))


@pytest.mark.parametrize(
    ("billing", "metadata", "sent"),
    [
        (Billing(Decimal(1), "flex", "us", {"citation": 1}), {}, {"tier": "flex"}),
        (Billing(counts={"web_search": 3}), {}, None),
        (None, {"groundingMetadata": {"webSearchQueries": ["a", "b"]}}, {"counts": {"web_search": 2}}),
        (Billing(tier="flex"), {"groundingMetadata": {"webSearchQueries": ["a"]}},
         {"tier": "flex", "counts": {"web_search": 1}}),
    ],
)  # fmt: skip
def test_other_billing_than_the_format_has_is_named_in_a_warning(
    billing: Billing | None, metadata: dict[str, Any], sent: Any
):
    usage = Usage(1, billing=billing)
    reply = ModelReply((TextPart("hi"),), "stop", usage=usage, provider="google", provider_metadata=metadata)
    check_reply_losses(GEMINI, reply)
    (warning,) = GEMINI.render(reply).warnings
    assert (warning.path, warning.sent) == ("usage.billing", sent)


def test_metadata_under_the_name_of_a_billing_field_is_a_loss_with_a_warning():
    for usage in ({"serviceTier": "flex"}, {"promptTokensDetails": []}, 5):
        metadata = {"usageMetadata": usage}
        reply = ModelReply((TextPart("hi"),), "stop", provider="google", provider_metadata=metadata)
        check_reply_losses(GEMINI, reply)


def test_fields_are_those_of_the_google_package():
    usage = {field.alias for field in types.GenerateContentResponseUsageMetadata.model_fields.values()}
    names = {"promptTokensDetails", "cacheTokensDetails", "candidatesTokensDetails", "toolUsePromptTokensDetails"}
    assert usage >= names | {"trafficType"}
    assert {item.value for item in types.MediaModality} >= {"AUDIO", "IMAGE", "VIDEO"}
    assert "webSearchQueries" in {field.alias for field in types.GroundingMetadata.model_fields.values()}
    assert "maps" in types.GroundingChunk.model_fields
