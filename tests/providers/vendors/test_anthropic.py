"""The provider of Anthropic's models."""

from typing import Any

import pytest

from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import WireRequest
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages, Dialect
from abstractcore_providers.vendors.anthropic import AnthropicProvider
from tests.providers.vendors.test_presets import Services, address

LEVELS = ("low", "medium", "high")
SAMPLING = frozenset({"temperature", "top_p", "top_k"})
IN_PLACE = {"system_in_place": True}


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services({"ANTHROPIC_API_KEY": "k"} if environment is None else environment)
    given: Any = {"model": "claude-opus-5-5", **config}
    return AnthropicProvider().connect(ProviderConfig("anthropic", **given), services)


def test_requests_have_the_base_url_api_key_and_version_header():
    found = address(connect())
    assert found.url == "https://api.anthropic.com/v1"
    signed = found.auth.sign(WireRequest("/messages", {"anthropic-beta": "b"}, b"{}"), 0)
    assert signed.headers == {"anthropic-beta": "b", "x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert "k" not in repr(found.auth).replace("headers", "")


def test_given_base_url_and_api_key_override_defaults():
    found = address(connect(api_key="l", base_url="http://b:1/v1/"))
    assert found.url == "http://b:1/v1"
    assert found.auth.sign(WireRequest("/messages", {}, b""), 0).headers["x-api-key"] == "l"


def test_missing_api_key_error_names_the_environment_variable():
    with pytest.raises(AuthenticationError, match="ANTHROPIC_API_KEY"):
        connect({})


@pytest.mark.parametrize("config", [{"model": None}, {"base_url": "b:1"}, {"api_key": "a b"}])
def test_invalid_configuration_is_refused(config: dict[str, Any]):
    with pytest.raises(ConfigurationError):
        connect(**config)


@pytest.mark.parametrize(
    ("model", "refused", "forced", "settings", "levels", "budget"),
    [
        ("claude-fable-5-2", SAMPLING, "never", IN_PLACE, LEVELS, None),
        ("claude-mythos-5-1", SAMPLING, "never", IN_PLACE, LEVELS, None),
        ("claude-opus-5-5", SAMPLING, "never", IN_PLACE, LEVELS, None),
        ("claude-sonnet-5-5", SAMPLING, "never", {**IN_PLACE, "off": "between_tools"}, LEVELS, None),
        ("claude-opus-5", SAMPLING, "without_thinking", IN_PLACE, LEVELS, None),
        ("claude-haiku-5-5", SAMPLING, "without_thinking", IN_PLACE, LEVELS, None),
        ("claude-opus-4-8", SAMPLING, "without_thinking", IN_PLACE, LEVELS, None),
        ("claude-sonnet-5", SAMPLING, "without_thinking", {}, LEVELS, None),
        ("claude-haiku-4-5-20251001", frozenset(), "without_thinking", {}, (), (1024, 63_999)),
    ],
)
def test_profile_of_a_model_is_its_familys(
    model: str, refused: frozenset[str], forced: str, settings: dict[str, Any], levels: Any, budget: Any
):
    session = connect(model=model)
    assert session.transpiler == AnthropicMessages(Dialect(**settings))
    profile = session.profile
    assert (profile.refused, profile.forced_tools, profile.settings) == (refused, forced, settings)
    assert profile.thinking is not None
    assert (profile.thinking.levels, profile.thinking.budget, profile.cache_points) == (levels, budget, 4)
    assert profile.supports("document", "application/pdf")
    assert not profile.supports("audio", "audio/wav")
    assert profile.sampling is not None
    assert profile.sampling.max_output_tokens == 32_000


def test_unknown_model_has_a_default_max_output_tokens():
    profile = connect(model="mine").profile
    assert not profile.known
    assert profile.sampling is not None
    assert profile.sampling.max_output_tokens == 8_192
