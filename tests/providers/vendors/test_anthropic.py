"""The provider of Anthropic's models."""

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from anthropic._constants import ANTHROPIC_API_VERSION

from abstractcore.engine import lower
from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import Message, ModelCall, ModelListInput, Sampling, WireRequest
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages, MessagesDialect
from abstractcore_providers.vendors.anthropic import AnthropicProvider
from tests.providers.vendors.test_presets import Services, address

LEVELS = ("low", "medium", "high", "xhigh", "max")
SAMPLING = frozenset({"temperature", "top_p", "top_k"})
SUMMARIES = MessagesDialect(version=ANTHROPIC_API_VERSION, display=True)
BY_DEFAULT = replace(SUMMARIES, thinks_by_default=True)
NEWER = replace(BY_DEFAULT, system_in_place=True)
BOUND = replace(NEWER, block_binding=True)


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services({"ANTHROPIC_API_KEY": "k"} if environment is None else environment)
    given: Any = {"model": "claude-opus-5-5", **config}
    return AnthropicProvider().connect(ProviderConfig("anthropic", **given), services)


def test_requests_have_the_base_url_and_api_key():
    found = address(connect())
    assert found.url == "https://api.anthropic.com/v1"
    signed = found.auth.sign(WireRequest("/messages", {"anthropic-beta": "b"}, b"{}"), 0)
    assert signed.headers == {"anthropic-beta": "b", "x-api-key": "k"}
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
    ("model", "forced", "dialect", "levels", "budget"),
    [
        ("claude-fable-5-2", "never", BOUND, LEVELS, None),
        ("claude-mythos-5-1", "never", NEWER, LEVELS, None),
        ("claude-opus-5-5", "never", BOUND, LEVELS, None),
        ("claude-sonnet-5-5", "never", replace(BOUND, off="between_tools", off_effort="high"), LEVELS, None),
        ("claude-opus-5", "always", replace(NEWER, off_effort="high"), LEVELS, None),
        ("claude-haiku-5-5", "always", replace(BOUND, off_effort="high"), LEVELS, None),
        ("claude-opus-4-8", "always", replace(SUMMARIES, system_in_place=True), LEVELS, None),
        ("claude-opus-4-7", "always", replace(SUMMARIES, computer_tool="computer_20251124"), LEVELS, None),
        ("claude-sonnet-5", "always", BY_DEFAULT, LEVELS, None),
        (
            "claude-sonnet-4-6",
            "without_budget",
            MessagesDialect(version="2023-06-01", computer_tool="computer_20251124"),
            ("low", "medium", "high", "max"),
            (1024, 127_999),
        ),
        (
            "claude-haiku-4-5-20251001",
            "without_budget",
            MessagesDialect(version="2023-06-01", computer_tool="computer_20250124"),
            (),
            (1024, 63_999),
        ),
    ],
)
def test_profile_and_dialect_of_a_model_are_those_of_its_row(
    model: str, forced: str, dialect: MessagesDialect, levels: Any, budget: Any
):
    session = connect(model=model)
    assert session.transpiler == AnthropicMessages(dialect)
    profile = session.profile
    sampled = dialect.version == "2023-06-01"
    assert (profile.refused, profile.forced_tools) == (frozenset() if sampled else SAMPLING, forced)
    assert profile.thinking is not None
    assert (profile.thinking.levels, profile.thinking.budget, profile.cache_points) == (levels, budget, 4)
    assert profile.supports("document", "application/pdf")
    assert not profile.supports("audio", "audio/wav")
    assert profile.sampling is not None
    assert profile.sampling.max_output_tokens == 32_000


@pytest.mark.parametrize(
    ("model", "asked", "sent", "refused"),
    [
        ("claude-opus-5-5", None, ANTHROPIC_API_VERSION, True),
        ("claude-opus-4-6", None, "2023-06-01", False),
        ("claude-opus-4-6", "2026-10-21", "2026-10-21", True),
        ("mine", None, ANTHROPIC_API_VERSION, True),
        ("mine", "2023-06-01", "2023-06-01", False),
    ],
)
def test_sampling_options_are_refused_by_the_version_that_is_sent(
    model: str, asked: str | None, sent: str, refused: bool
):
    """https://platform.claude.com/docs/en/api/migration-2026-10-21; the version is that of the anthropic package."""
    session = connect(model=model, options={"api_version": asked} if asked else {})
    call = ModelCall(model, (Message.user("hi"),), "anthropic", sampling=Sampling(9, 0.5))
    lowered = lower(call, session.profile, ())
    request = session.transpiler.encode(lowered.call).request
    assert request.headers["anthropic-version"] == sent
    assert json.loads(request.body).get("temperature") == (None if refused else 0.5)
    assert [each.path for each in lowered.warnings if each.code == "unsupported_option"] == [
        "sampling.temperature"
    ] * refused
    transpiler: Any = session.transpiler
    listing = transpiler.operations["list_models"].encode(ModelListInput(model=model)).request
    assert listing.headers["anthropic-version"] == sent


def test_an_invalid_version_is_refused():
    with pytest.raises(ConfigurationError, match="api_version 'newest' is not a version"):
        connect(options={"api_version": "newest"})


def test_an_unknown_setting_is_refused():
    profile = replace(connect().profile, settings=MappingProxyType({"of": "x"}))
    with pytest.raises(ConfigurationError, match=r"settings\.of") as caught:
        AnthropicProvider().session("m", connect().endpoint, ProviderConfig("anthropic", "m"), profile)
    assert "off" in str(caught.value)


def test_unknown_model_has_a_default_max_output_tokens():
    profile = connect(model="mine").profile
    assert not profile.known
    assert profile.sampling is not None
    assert profile.sampling.max_output_tokens == 8_192
