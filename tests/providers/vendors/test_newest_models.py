"""Facts about the models of November 2026, as calls to them show: what is sent, and the warning for what is not.

Sources: the openai package 3.54 (`ChatModel`, `ReasoningEffort`, `PromptCacheBreakpoint`), groq 1.7, the mistralai
package 3.7, the profiles of pydantic-ai 2.68, which its authors checked against the APIs, and the pages in the rows.
"""

import json
from typing import Any

import pytest

import abstractcore
from abstractcore import create_llm
from abstractcore.errors import UnsupportedContentError
from abstractcore.ports import ProviderConfig
from abstractcore.schema import (
    Blob,
    CachePoint,
    ImagePart,
    Message,
    ModelCall,
    Sampling,
    TextPart,
    ToolChoice,
    ToolSpec,
)
from abstractcore_providers.plugin import register_providers
from tests.providers.sessions import CATALOGUE, Services, lowered

PROVIDERS = {provider.name: provider for provider in register_providers()}
TOOLS = (ToolSpec("f"),)
PNG = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))


def sent(provider: str, model: str, **fields: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body of a request, and the code and path of each warning."""
    config = ProviderConfig(provider, model, "https://host.example", "k")
    session = PROVIDERS[provider].connect(config, Services())
    messages = fields.pop("messages", (Message.user("hi"),))
    found = lowered(session, ModelCall(model, messages, provider, **fields))
    encoded = session.transpiler.encode(found.call)
    warnings = [(warning.code, warning.path) for warning in (*found.warnings, *encoded.warnings)]
    return json.loads(encoded.request.body), warnings


@pytest.mark.parametrize("model", ["gpt-6.2-astra", "gpt-6.2-sol", "gpt-6.1-terra"])
@pytest.mark.parametrize("provider", ["openai", "openai-responses", "azure"])
def test_newest_gpt_see_and_are_known(provider: str, model: str):
    profile = CATALOGUE.profile(provider, model)
    assert profile.known
    assert profile.supports("image", "image/png")
    assert (profile.context_tokens, profile.max_output_tokens) == (1_050_000, 128_000)


@pytest.mark.parametrize("model", ["gpt-6.2-astra", "gpt-6.2-sol"])
def test_gpt_6_2_is_never_asked_to_stop_thinking(model: str):
    with pytest.raises(UnsupportedContentError, match="tools"):
        sent("openai", model, tools=TOOLS)
    assert sent("openai", model, thinking="off") == (
        {"model": model, "messages": [{"role": "user", "content": "hi"}], "reasoning_effort": "low"},
        [("thinking_changed", "thinking")],
    )
    body, warnings = sent("openai-responses", model, tools=TOOLS, thinking="max")
    assert (body["reasoning"]["effort"], warnings) == ("max", [])


@pytest.mark.parametrize(
    ("provider", "model", "asked", "effort"),
    [
        ("openai", "gpt-5.4", "xhigh", "xhigh"),
        ("openai", "gpt-5.4", "max", "xhigh"),
        ("openai", "gpt-5.1", "xhigh", "high"),
        ("openai", "gpt-6-sol", "max", "xhigh"),
        ("openai-responses", "gpt-5.6-sol", "max", "max"),
        ("openai-responses", "gpt-5.4", "max", "xhigh"),
        ("openai-responses", "gpt-5.5-pro", "low", "medium"),
        ("openai-responses", "gpt-5.4-pro", "off", "medium"),
        ("openai-responses", "gpt-5-pro", "low", "high"),
        ("xai", "grok-4.6", "xhigh", "xhigh"),
        ("xai", "grok-4.3", "off", "none"),
        ("deepseek", "deepseek-flash", "medium", "low"),
        ("deepseek", "deepseek-v4-pro", "max", "max"),
        ("groq", "qwen/qwen3-32b", "low", "default"),
        ("groq", "qwen/qwen3-32b", "off", "none"),
        ("groq", "qwen/qwen3.8-27b", "low", "low"),
        ("mistral", "zai-glm-5-3", "max", "max"),
        ("mistral", "mistral-large-4-0", "off", "low"),
        ("mistral", "magistral-medium-latest", "low", "high"),
        ("cerebras", "zai-glm-5.3", "off", "low"),
    ],
)
def test_effort_is_one_that_the_model_accepts(provider: str, model: str, asked: Any, effort: str):
    body, warnings = sent(provider, model, thinking=asked)
    assert body.get("reasoning_effort", body.get("reasoning", {}).get("effort")) == effort
    assert (("thinking_changed", "thinking") in warnings) == (effort not in (asked, {"off": "none"}.get(asked)))


def test_grok_4_20_refuses_effort():
    body, warnings = sent("xai", "grok-4.20", thinking="high")
    assert "reasoning_effort" not in body
    assert warnings == [("unsupported_option", "thinking")]


@pytest.mark.parametrize("model", ["z-ai/glm-5.3", "moonshotai/kimi-k3", "openai/gpt-oss-120b"])
def test_off_is_not_sent_through_openrouter_to_models_that_must_reason(model: str):
    body, warnings = sent("openrouter", model, thinking="off")
    assert body["reasoning"]["effort"] != "none"
    assert warnings == [("thinking_changed", "thinking")]


@pytest.mark.parametrize("model", ["deepseek-v4-pro", "deepseek-flash", "deepseek-v4-flash"])
def test_deepseek_is_asked_for_a_forced_tool_only_without_thinking(model: str):
    forced = {"tools": TOOLS, "tool_choice": ToolChoice("required")}
    body, warnings = sent("deepseek", model, **forced)
    assert (body["tool_choice"], warnings) == ("auto", [("tool_choice_changed", "tool_choice")])
    body, warnings = sent("deepseek", model, thinking="off", **forced)
    assert (body["tool_choice"], body["thinking"], warnings) == ("required", {"type": "disabled"}, [])


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("deepseek", "deepseek-flash"),
        ("deepseek", "deepseek-v4-flash"),
        ("xai", "grok-4.6"),
        ("xai", "grok-4.20"),
        ("xai", "grok-latest"),
        ("groq", "qwen/qwen3.8-27b"),
        ("cerebras", "qwen-3.8-27b"),
        ("openrouter", "moonshotai/kimi-k3"),
        ("mistral", "mistral-large-4-0"),
    ],
)
def test_models_that_see_are_sent_images(provider: str, model: str):
    body, warnings = sent(provider, model, messages=(Message.user(PNG, "What is this?"),))
    assert "image_url" in json.dumps(body)
    assert warnings == []


@pytest.mark.parametrize("model", ["anthropic/claude-opus-5.5", "anthropic/claude-sonnet-5"])
def test_claude_at_openrouter_is_asked_to_cache(model: str):
    messages = (Message("system", (TextPart("rules" * 1000, cache=CachePoint(3600)),)), Message.user("hi"))
    body, warnings = sent("openrouter", model, messages=messages)
    assert body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert warnings == []


@pytest.mark.parametrize("model", ["gpt-5.6-sol", "gpt-6.2-sol"])
def test_newest_gpt_have_explicit_breakpoints(model: str):
    messages = (Message("system", (TextPart("rules" * 1000, cache=CachePoint()),)), Message.user("hi"))
    body, warnings = sent("openai", model, messages=messages)
    assert body["messages"][0]["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    assert warnings == []
    assert sent("openai", "gpt-5.4", messages=messages)[1] == [("cache_left_out", "messages[0].parts[0].cache")]


def test_grok_that_does_not_reason_accepts_stop_and_penalties():
    body, warnings = sent("xai", "grok-4.20-0309-non-reasoning", sampling=Sampling(stop=("x",), presence_penalty=0.5))
    assert (body["stop"], body["presence_penalty"], warnings) == (["x"], 0.5, [])


@pytest.mark.parametrize(
    ("provider", "model", "date"),
    [
        ("openai", "o1", "2026-10-23"),
        ("openai", "o3-mini", "2026-10-23"),
        ("openai", "o4-mini", "2026-10-23"),
        ("openai", "gpt-5", "2026-12-11"),
        ("openai", "o3", "2026-12-11"),
        ("deepseek", "deepseek-chat", "2026-07-24"),
        ("anthropic", "claude-sonnet-4-5", "2026-11-30"),
    ],
)
def test_dying_models_have_their_date(provider: str, model: str, date: str):
    assert CATALOGUE.profile(provider, model).retires == date


def test_a_retired_model_warns_with_its_date_and_successor():
    with create_llm("deepseek/deepseek-chat", api_key="k", services=abstractcore.Services(environment={})) as llm:
        (warning,) = llm.plan("hi").warnings
    assert warning.code == "retired_model"
    assert "2026-07-24" in warning.message
    assert "deepseek-flash" in warning.message
