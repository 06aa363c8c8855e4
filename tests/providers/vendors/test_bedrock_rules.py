"""Unsupported options of single Bedrock models are removed or changed before encoding, with a warning for each."""

import json
from typing import Any

import pytest

from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import CachePoint, Encoded, Message, ModelCall, Sampling, TextPart, ToolChoice, ToolSpec
from abstractcore_providers.vendors.bedrock import BedrockProvider
from tests.providers.formats.bedrock_converse.wire import MODEL, call
from tests.providers.sessions import Services
from tests.providers.sessions import lowered as lowered_for

NOVA = "us.amazon.nova-2-lite-v1:0"
TOOL = ToolSpec("f", parameters={"type": "object"})


def session(model: str) -> ProviderSession:
    services: Any = Services()
    config = ProviderConfig("bedrock", model, api_key="k", options={"region": "us-east-1"})
    return BedrockProvider().connect(config, services)


def request_of(call: ModelCall) -> Encoded:
    """Lowers and encodes with a session of the call's model; the warnings of lowering come before the format's."""
    made = session(call.model)
    lowered = lowered_for(made, call)
    encoded = made.transpiler.encode(lowered.call)
    return Encoded(encoded.request, (*lowered.warnings, *encoded.warnings))


def body_of(call: ModelCall) -> Any:
    return json.loads(request_of(call).request.body)


def paths(*messages: Message, **fields: Any) -> list[tuple[str, str]]:
    """Codes and paths of the warnings."""
    return [(warning.code, warning.path) for warning in request_of(call(*messages, **fields)).warnings]


NEWEST = "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5-5"


@pytest.mark.parametrize(
    ("model", "sampled", "forced"),
    [
        (NEWEST, False, False),
        ("anthropic.claude-fable-5-1", False, False),
        ("us.anthropic.claude-sonnet-5-5", False, False),
        ("anthropic.claude-opus-5", False, True),
        ("global.anthropic.claude-opus-4-7", False, True),
        ("global.anthropic.claude-opus-4-6-v1", True, True),
        (MODEL, True, True),
    ],
)
def test_unsupported_sampling_and_forced_tool_choice_are_removed_for_claude(model: str, sampled: bool, forced: bool):
    fields: Any = {"model": model, "tools": (TOOL,), "tool_choice": ToolChoice("tool", "f")}
    made = call(sampling=Sampling(9, 0.5, 0.9, 5), **fields)
    body = body_of(made)
    expected = [] if forced else [("tool_choice_changed", "tool_choice")]
    if sampled:
        assert body["inferenceConfig"] == {"maxTokens": 9, "temperature": 0.5}
        assert body["additionalModelRequestFields"] == {"top_k": 5}
        expected.insert(0, ("unsupported_option", "sampling.top_p"))
    else:
        assert body["inferenceConfig"] == {"maxTokens": 9}
        assert set(body.get("additionalModelRequestFields", {})) <= {"thinking"}
        names = ("temperature", "top_p", "top_k")
        expected = [*(("unsupported_option", f"sampling.{name}") for name in names), *expected]
    assert body["toolConfig"]["toolChoice"] == ({"tool": {"name": "f"}} if forced else {"auto": {}})
    assert [(warning.code, warning.path) for warning in request_of(made).warnings] == expected


def test_thinking_claude_accepts_top_p_only_and_no_forced_tool_choice():
    fields: Any = {"thinking": 2000, "tools": (TOOL,), "tool_choice": ToolChoice("required")}
    made = call(sampling=Sampling(9000, 0.5, 0.99, 5), **fields)
    body = body_of(made)
    assert body["inferenceConfig"] == {"maxTokens": 9000, "topP": 0.99}
    assert body["toolConfig"]["toolChoice"] == {"auto": {}}
    changed = [warning.path for warning in request_of(made).warnings]
    assert changed == ["sampling.temperature", "sampling.top_k", "tool_choice"]


@pytest.mark.parametrize(
    ("limit", "sent"),
    [
        (8000, {"type": "enabled", "budget_tokens": 7999}),
        (30_000, {"type": "enabled", "budget_tokens": 24_576}),
        (1000, {"type": "disabled"}),
    ],
)
def test_thinking_budget_is_below_max_output_tokens(limit: int, sent: Any):
    made = call(thinking=24_576, sampling=Sampling(limit))
    assert body_of(made)["additionalModelRequestFields"]["thinking"] == sent
    fits = limit > 24_576
    assert [(w.code, w.path) for w in request_of(made).warnings] == ([] if fits else [("thinking_changed", "thinking")])


def test_options_of_an_unknown_model_id_are_sent_unchanged():
    profile = "arn:aws:bedrock:us-east-1:1:application-inference-profile/claude-opus-5-5"
    made = call(model=profile, sampling=Sampling(9, 0.5, 0.9, 5))
    assert body_of(made)["inferenceConfig"] == {"maxTokens": 9, "temperature": 0.5, "topP": 0.9}
    assert request_of(made).warnings == ()


def test_nova_accepts_no_sampling_at_high_effort():
    sampling = Sampling(9, 0.5, 0.9, top_k=5)
    body = body_of(call(model=NOVA, thinking="high", sampling=sampling))
    assert "inferenceConfig" not in body
    assert body["additionalModelRequestFields"]["inferenceConfig"] == {"topK": 5}
    names = ("max_output_tokens", "temperature", "top_p")
    found = paths(model=NOVA, thinking="high", sampling=sampling)
    assert found == [("unsupported_option", f"sampling.{name}") for name in names]
    assert paths(model=NOVA, thinking="medium", sampling=sampling) == []


@pytest.mark.parametrize(
    ("model", "longest"),
    [
        (MODEL, 3600),
        ("anthropic.claude-opus-5-5", 3600),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", 300),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 300),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", 300),
        (NOVA, 300),
    ],
)
def test_one_hour_cache_ttl_is_sent_only_to_models_that_support_it(model: str, longest: int):
    made = call(Message.user(TextPart("a" * 5000, cache=CachePoint(3600))), model=model)
    found = {warning.path: warning.sent for warning in request_of(made).warnings}
    assert found == ({} if longest == 3600 else {"messages[0].parts[0].cache.ttl": longest})
    assert body_of(made)["messages"][0]["content"][1]["cachePoint"]["ttl"] == ("1h" if longest == 3600 else "5m")


def test_nova_has_no_cache_point_after_a_tool():
    tool = ToolSpec("f", parameters={"type": "object"}, cache=CachePoint())
    assert paths(Message.user("a"), model=NOVA, tools=(tool,)) == [("cache_left_out", "tools[0].cache")]
    assert len(body_of(call(Message.user("a"), model=NOVA, tools=(tool,)))["toolConfig"]["tools"]) == 1


def test_sonnet_5_5_sends_between_tools_for_thinking_off():
    made = call(Message.user("a"), model="anthropic.claude-sonnet-5-5", thinking="off")
    assert body_of(made)["additionalModelRequestFields"] == {"thinking": {"type": "between_tools"}}


def test_capping_a_cache_ttl_keeps_other_fields_of_part_and_tool():
    tool = ToolSpec("f", "F.", {"type": "object"}, cache=CachePoint(3600))
    old = "us.anthropic.claude-opus-4-1-20250805-v1:0"
    made = call(Message.user(TextPart("a", cache=CachePoint(3600)), "b"), Message.user("c"), model=old, tools=(tool,))
    lowered = lowered_for(session(old), made)
    assert [warning.path for warning in lowered.warnings] == ["tools[0].cache.ttl", "messages[0].parts[0].cache.ttl"]
    (kept,) = lowered.call.tools
    assert (kept.name, kept.description, kept.cache) == ("f", "F.", CachePoint(300))
    assert lowered.call.messages[0].parts == (TextPart("a", cache=CachePoint(300)), TextPart("b"))
    assert lowered.call.messages[1] is made.messages[1]


def test_tool_choice_without_tools_is_handled_by_the_format():
    (warning,) = request_of(call(tool_choice=ToolChoice("required"), thinking=2000)).warnings
    assert (warning.code, warning.path) == ("unsupported_option", "tool_choice")
