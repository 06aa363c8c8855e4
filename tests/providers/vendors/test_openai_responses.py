"""The provider of OpenAI's models through its Responses API."""

from typing import Any

import pytest

from abstractcore import create_llm
from abstractcore.errors import AuthenticationError, ConfigurationError, UnsupportedOptionError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from abstractcore_providers.vendors.openai_responses import OpenAIResponsesProvider
from tests.providers.sessions import Services, address, headers


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services(environment or {})
    given: Any = {"model": "gpt-5.4", **config}
    return OpenAIResponsesProvider().connect(ProviderConfig("openai-responses", **given), services)


def test_session_has_the_vendors_url_and_format():
    session = connect(api_key="k")
    assert address(session).url == "https://api.openai.com/v1"
    assert session.transpiler == OpenAIResponses()
    assert headers(connect({"OPENAI_API_KEY": "k"}))["authorization"] == "Bearer k"
    assert address(connect(api_key="k", base_url="http://a/v1/")).url == "http://a/v1"


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-mini", "gpt-3.5-turbo", "gpt-5-chat-latest", "chatgpt-4o-latest"])
def test_non_thinking_model_is_not_asked_for_reasoning(model: str):
    assert connect(api_key="k", model=model).transpiler == OpenAIResponses(encrypted_reasoning=False)


def test_missing_settings_are_named():
    with pytest.raises(AuthenticationError) as caught:
        connect()
    assert "OPENAI_API_KEY" in (caught.value.hint or "")
    with pytest.raises(ConfigurationError, match="model's name"):
        connect(api_key="k", model=None)


@pytest.mark.parametrize(
    ("model", "levels", "can_be_off", "cache_points", "sees"),
    [
        ("gpt-4o-mini", (), True, 0, True),
        ("gpt-4-0613", (), True, 0, False),
        ("gpt-5-2025-08-07", ("minimal", "low", "medium", "high"), False, 0, True),
        ("gpt-5-pro", ("high",), False, 0, True),
        ("gpt-5.4", ("low", "medium", "high", "xhigh"), True, 0, True),
        ("gpt-5.6", ("low", "medium", "high", "xhigh", "max"), True, 3, True),
        ("gpt-5-chat-latest", (), True, 0, True),
        ("gpt-6-sol", ("low", "medium", "high", "xhigh", "max"), True, 3, True),
        ("o3-mini", ("low", "medium", "high"), False, 0, False),
    ],
)
def test_profile_follows_the_model_family(
    model: str, levels: tuple[str, ...], can_be_off: bool, cache_points: int, sees: bool
):
    profile = connect(api_key="k", model=model).profile
    assert profile.known
    assert profile.thinking is not None
    assert (profile.thinking.levels, profile.thinking.can_be_off) == (levels, can_be_off)
    assert (profile.cache_points, profile.supports("image", "image/png")) == (cache_points, sees)


def test_audio_is_not_supported_by_this_api():
    assert not connect(api_key="k", model="gpt-audio").profile.supports("audio", "audio/wav")


def test_unknown_model_has_no_assumed_profile():
    profile = connect(api_key="k", model="ft-mine").profile
    assert not profile.known
    assert (profile.thinking, profile.cache_points) == (None, 0)


def test_strict_call_with_a_refused_option_is_not_sent():
    llm = create_llm("openai-responses/gpt-5-mini", api_key="k", base_url="http://127.0.0.1:9/v1", strict=True)
    with pytest.raises(UnsupportedOptionError, match=r"sampling\.temperature"):
        llm.generate("hi", temperature=0)


def test_unknown_setting_of_a_model_is_an_error_that_lists_those_that_there_are():
    facts = {"settings": {"encrypted": False}}
    with pytest.raises(
        ConfigurationError, match=r"settings\.encrypted: no such setting .* settings are encrypted_reasoning, "
    ):
        create_llm("openai-responses", "gpt-5.4", api_key="k", facts=facts)
