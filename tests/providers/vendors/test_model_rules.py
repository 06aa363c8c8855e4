"""Unsupported options of single models are found before sending."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.errors import UnsupportedContentError
from abstractcore.ports import ProviderConfig
from abstractcore.schema import Encoded, Message, ModelCall, Sampling, ToolSpec
from abstractcore_providers.common.call_options import SAMPLING_OPTIONS
from abstractcore_providers.plugin import register_providers
from tests.providers.formats.openai_chat.wire import faults
from tests.providers.sessions import Services
from tests.providers.sessions import lowered as lowered_for

PROVIDERS = {provider.name: provider for provider in register_providers()}
TOOLS = (ToolSpec("f"),)
ALL = Sampling(
    temperature=0.5, top_p=0.5, stop=("x",), presence_penalty=0.5, frequency_penalty=0.5, top_logprobs=2, seed=1
)

ALL_NAMES = ("temperature", "top_p", "stop", "presence_penalty", "frequency_penalty", "top_logprobs", "seed")


def sent(call: ModelCall) -> Encoded:
    """Lowers and encodes with a session; the warnings of lowering come before the format's."""
    provider = PROVIDERS[call.provider]
    services: Any = Services()
    session = provider.connect(ProviderConfig(call.provider, call.model, "https://host", "k"), services)
    lowered = lowered_for(session, call)
    found = session.transpiler.encode(lowered.call)
    return Encoded(found.request, (*lowered.warnings, *found.warnings))


def sent_to_responses(call: ModelCall) -> Encoded:
    """As `sent`, for the Responses API."""
    return sent(call.with_(provider="openai-responses"))


def encoded(model: str, provider: str = "openai", **fields: Any) -> tuple[Any, list[tuple[str, Any, Any]]]:
    """The request body and its warnings: path, requested value, sent value."""
    found = sent(ModelCall(model, (Message.user("hi"),), provider, **fields))
    body = json.loads(found.request.body)
    if provider in ("openai", "azure"):
        assert faults("CreateChatCompletionRequest", body) == []
    return body, [(w.path, w.requested, w.sent) for w in found.warnings]


@pytest.mark.parametrize("model", ["gpt-6-astra", "gpt-6.1-sol"])
@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_tools_for_a_model_without_them_are_an_error_that_suggests_openai_responses(model: str, provider: str):
    with pytest.raises(UnsupportedContentError, match=f"tools: {model} accepts no tools") as caught:
        encoded(model, provider, tools=TOOLS)
    assert "openai-responses" in (caught.value.hint or "")
    assert (caught.value.provider, caught.value.model) == (provider, model)
    assert encoded(model, provider)[1] == []


@pytest.mark.parametrize("model", ["gpt-6-sol", "gpt-6-luna", "gpt-5.6-terra"])
@pytest.mark.parametrize("asked", [None, "low", "high"])
def test_tools_turn_thinking_off_for_models_that_do_not_combine_them(model: str, asked: Any):
    body, warnings = encoded(model, tools=TOOLS, thinking=asked)
    assert body["reasoning_effort"] == "none"
    assert warnings == [("thinking", asked, "off")]
    assert encoded(model, tools=TOOLS, thinking="off")[1] == []
    assert "reasoning_effort" not in encoded(model)[0]


@pytest.mark.parametrize("model", ["gpt-5.4", "gpt-5.4-mini", "gpt-5.5"])
def test_tools_remove_reasoning_effort_for_models_that_do_not_combine_them(model: str):
    body, warnings = encoded(model, tools=TOOLS, thinking="high")
    assert "reasoning_effort" not in body
    assert warnings == [("thinking", "high", None)]
    for thinking in (None, "off"):
        assert encoded(model, tools=TOOLS, thinking=thinking)[1] == []
    assert encoded(model, thinking="high")[0]["reasoning_effort"] == "high"


@pytest.mark.parametrize("model", ["gpt-5.1", "gpt-5.2", "gpt-5", "o3", "brand-new"])
def test_other_models_accept_tools_with_reasoning_effort(model: str):
    body, warnings = encoded(model, tools=TOOLS, thinking="high")
    assert (body["reasoning_effort"], warnings) == ("high", [])


@pytest.mark.parametrize(
    ("provider", "model", "thinking", "refused"),
    [
        ("openai", "gpt-6-luna", None, {"temperature", "top_p", "top_logprobs"}),
        ("openai", "gpt-6-luna", "off", set()),
        ("openai", "gpt-5.1", None, set()),
        ("openai", "gpt-5.1", "low", {"temperature", "top_p", "top_logprobs"}),
        (
            "openai",
            "gpt-5.1-chat-latest",
            None,
            {"temperature", "top_p", "top_logprobs", "presence_penalty", "frequency_penalty"},
        ),
        (
            "openai",
            "gpt-5-mini",
            None,
            {"temperature", "top_p", "top_logprobs", "presence_penalty", "frequency_penalty"},
        ),
        ("openai", "gpt-5-chat-latest", None, set()),
        (
            "azure",
            "o4-mini",
            "high",
            {"temperature", "top_p", "top_logprobs", "presence_penalty", "frequency_penalty", "stop"},
        ),
        ("openai", "gpt-4o", None, set()),
        (
            "deepseek",
            "deepseek-v4-pro",
            None,
            {"temperature", "top_p", "presence_penalty", "frequency_penalty", "seed"},
        ),
        ("deepseek", "deepseek-v4-pro", "off", {"seed"}),
        ("xai", "grok-4.5", None, {"presence_penalty", "frequency_penalty", "stop"}),
        ("xai", "grok-4-fast-non-reasoning", None, {"presence_penalty", "frequency_penalty", "stop"}),
        ("xai", "grok-4.20-0309-non-reasoning", None, set()),
        (
            "openrouter",
            "openai/gpt-5-mini",
            None,
            {"temperature", "top_p", "top_logprobs", "presence_penalty", "frequency_penalty"},
        ),
        ("openrouter", "openai/gpt-oss-120b", None, set()),
        ("openrouter", "anthropic/claude-opus-4.7", None, {"temperature", "top_p"}),
        ("openrouter", "anthropic/claude-sonnet-4.5", None, {"top_p"}),
        ("openrouter", "x-ai/grok-4.5", None, {"presence_penalty", "frequency_penalty", "stop"}),
        ("azure", "our-deployment", None, set()),
        ("openai", "gpt-5.2", "low", {"temperature", "top_p", "top_logprobs"}),
        ("openai", "gpt-5.3", "low", set()),
        *(
            ("openai", name, None, {"temperature", "top_p", "top_logprobs", "presence_penalty", "frequency_penalty"})
            for name in ("o1", "o3-mini")
        ),
        *(("openai", name, None, set(ALL_NAMES) - {"seed"}) for name in ("o3", "o4-mini")),
        ("deepseek", "deepseek-chat", "low", {"seed"}),
        ("xai", "grok-4-1-fast-non-reasoning", None, {"presence_penalty", "frequency_penalty", "stop"}),
        ("xai", "grok-4.20-non-reasoning", None, set()),
        ("openrouter", "anthropic/claude-sonnet-4.5", "off", {"top_p"}),
    ],
)
def test_unsupported_sampling_of_thinking_models_is_removed_with_warnings(
    provider: str, model: str, thinking: Any, refused: set[str]
):
    body, warnings = encoded(model, provider, sampling=ALL, thinking=thinking)
    assert {path for path, _, _ in warnings} == {f"sampling.{name}" for name in refused}
    names = set(ALL_NAMES)
    assert names & body.keys() == names - refused
    assert ("logprobs" in body) == ("top_logprobs" not in refused)


@pytest.mark.parametrize("model", ["gpt-5-mini", "o3", "gpt-6-luna", "gpt-5.1", "gpt-5.4", "gpt-4o", "ft-mine"])
@pytest.mark.parametrize("thinking", [None, "off", "high"])
def test_responses_rejects_the_same_sampling_as_chat_completions(model: str, thinking: Any):
    sampling = Sampling(temperature=0.5, top_p=0.5, top_logprobs=2)
    call = ModelCall(model, (Message.user("hi"),), "openai-responses", sampling=sampling, thinking=thinking)
    found = sent_to_responses(call)
    body = json.loads(found.request.body)
    chat, warned = encoded(model, sampling=sampling, thinking=thinking)
    names = ("temperature", "top_p", "top_logprobs")
    assert [name for name in names if name in body] == [name for name in names if name in chat]
    assert ("message.output_text.logprobs" in body.get("include", [])) == ("top_logprobs" in chat)
    assert [(w.path, w.requested, w.sent) for w in found.warnings] == warned


def test_warning_distinguishes_never_supported_from_unsupported_with_thinking():
    def messages(model: str, sampling: Sampling) -> list[str]:
        call = ModelCall(model, (Message.user("hi"),), "openrouter", sampling=sampling)
        return [warning.message for warning in sent(call).warnings]

    model = "openai/gpt-5-mini"
    assert messages(model, Sampling(temperature=0.5)) == [
        f"temperature=0.5 is left out: {model} does not accept temperature while it thinks"
    ]
    assert messages(model, Sampling(top_k=5)) == [f"top_k=5 is left out: {model} does not accept top_k"]


@pytest.mark.parametrize(
    "sampling",
    [Sampling(temperature=1), Sampling(top_p=1), Sampling(presence_penalty=0), Sampling(frequency_penalty=0)],
    ids=["temperature", "top_p", "presence_penalty", "frequency_penalty"],
)
def test_default_value_of_an_unsupported_option_has_no_effect_on_chat_completions(sampling: Sampling):
    found = sent(ModelCall("gpt-5-mini", (Message.user("hi"),), "openai", sampling=sampling))
    assert [warning.code for warning in found.warnings] == ["no_effect"]


@pytest.mark.parametrize("send", [sent, sent_to_responses])
def test_default_values_of_unsupported_options_have_no_effect(send: Callable[[ModelCall], Encoded]):
    sampling = Sampling(temperature=1, top_p=1)
    found = send(ModelCall("gpt-5-mini", (Message.user("hi"),), "openai", sampling=sampling))
    assert not {"temperature", "top_p"} & json.loads(found.request.body).keys()
    assert {warning.code for warning in found.warnings} == {"no_effect"}


def test_openrouter_removes_top_k_for_openai_models_and_caps_the_thinking_budget_of_claude():
    top_k = Sampling(top_k=5)
    assert encoded("openai/gpt-4.1", "openrouter", sampling=top_k)[1] == [("sampling.top_k", 5, None)]
    for model in ("qwen/qwen3", "openai/gpt-oss-120b"):
        assert encoded(model, "openrouter", sampling=top_k)[1] == []
    limit = Sampling(max_output_tokens=5000)
    body, warnings = encoded("anthropic/claude-sonnet-4.5", "openrouter", sampling=limit, thinking=9000)
    assert (body["reasoning"], warnings) == ({"max_tokens": 4999}, [("thinking", 9000, 4999)])
    assert encoded("openai/gpt-6-astra", "openrouter", tools=TOOLS)[1] == []


@pytest.mark.parametrize(("thinking", "sent"), [(None, 0.5), ("off", 0.5), ("high", 0.95), (2000, 0.95)])
def test_top_p_of_claude_on_openrouter_is_raised_while_it_thinks(thinking: Any, sent: float):
    found, _ = encoded("anthropic/claude-sonnet-4.5", "openrouter", sampling=Sampling(top_p=0.5), thinking=thinking)
    assert found["top_p"] == sent


def test_sampling_options_table_has_every_field_except_max_output_tokens():
    assert {*SAMPLING_OPTIONS, "max_output_tokens"} == {field.name for field in dataclasses.fields(Sampling)}
