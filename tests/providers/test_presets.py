"""Vendors as rows: addresses, keys, and what their models take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from abstractcore.errors import AuthenticationError, ConfigurationError, ProviderError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import WireRequest
from abstractcore_providers.endpoints import BearerAuth, FixedEndpoint, NoAuth, check_key
from abstractcore_providers.openai_chat import OpenAIChat
from abstractcore_providers.presets import PRESETS, Preset

ROWS = {preset.name: preset for preset in PRESETS}
OPENAI, COMPATIBLE = ROWS["openai"], ROWS["openai-compatible"]
KEY = "sk-secret"


@dataclass
class Services:
    """What a provider may use from above; no models."""

    environment: Mapping[str, str] = field(default_factory=dict)
    models: Any = None


def connect(preset: Preset = OPENAI, environment: Mapping[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services({} if environment is None else environment)
    return preset.connect(ProviderConfig(preset.name, **{"model": "gpt-4o", **config}), services)


def address(session: ProviderSession) -> Any:
    step: Any = session.endpoint.open(None)  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as done:
        step.send(None)
    return done.value.value


def headers(session: ProviderSession) -> Mapping[str, str]:
    return address(session).auth.sign(WireRequest("/", {"a": "b"}, b""), 0.0).headers


def test_the_rows_have_names_and_words_of_their_own():
    assert len(ROWS) == len(PRESETS)
    for preset in PRESETS:
        assert preset.summary
        assert preset.key_variable.endswith("_API_KEY")
        assert preset.options == {}
        assert preset.dialect.provider == preset.name
        assert preset.default_url is None or preset.default_url.startswith("https://")


def test_a_session_has_the_vendors_address_and_format():
    session = connect(api_key=KEY)
    assert session.model == "gpt-4o"
    assert address(session).url == "https://api.openai.com/v1"
    assert session.transpiler == OpenAIChat(OPENAI.dialect)
    assert address(session).transport is None


@pytest.mark.parametrize("url", ["http://localhost:8000/v1", "http://localhost:8000/v1/", "https://[::1]/v1//"])
def test_another_address_is_taken_without_its_last_slashes(url: str):
    assert address(connect(COMPATIBLE, base_url=url)).url == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http:///v1",
        "http://host:x/v1",
        "http://host/v1?a=b",
        "http://host/v1#a",
    ],
)
def test_what_is_no_address_is_refused(url: str):
    with pytest.raises(ConfigurationError, match="base_url"):
        connect(COMPATIBLE, base_url=url)


def test_a_password_in_a_wrong_address_is_not_shown():
    with pytest.raises(ConfigurationError) as caught:
        connect(COMPATIBLE, base_url=f"ftp://user:{KEY}@host/v1")
    assert KEY not in str(caught.value)


def test_the_key_comes_from_the_argument_else_from_the_environment():
    assert headers(connect(api_key=KEY)) == {"a": "b", "authorization": f"Bearer {KEY}"}
    assert headers(connect(environment={"OPENAI_API_KEY": KEY}))["authorization"] == f"Bearer {KEY}"
    both = connect(api_key="given", environment={"OPENAI_API_KEY": KEY})
    assert headers(both)["authorization"] == "Bearer given"


def test_a_missing_key_says_where_it_is_looked_for():
    with pytest.raises(AuthenticationError) as caught:
        connect()
    assert "OPENAI_API_KEY" in (caught.value.hint or "")
    assert caught.value.provider == "openai"


def test_a_server_of_ones_own_needs_no_key():
    assert headers(connect(COMPATIBLE, base_url="http://localhost/v1")) == {"a": "b"}
    assert headers(connect(COMPATIBLE, base_url="http://localhost/v1", api_key=KEY))["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["sk secret", "sk\nsecret", "sk-sécret", "sk\x00secret", 5])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: Any):
    with pytest.raises(ConfigurationError, match="API key for openai") as caught:
        connect(api_key=key)
    assert "secret" not in str(caught.value)


def test_white_space_around_a_key_is_dropped_and_a_key_does_not_show():
    assert check_key(f" {KEY}\n", "p") == KEY
    assert KEY not in repr(BearerAuth(KEY))
    assert KEY not in repr(FixedEndpoint.at("http://localhost", BearerAuth(KEY)))
    assert KEY not in repr(ProviderConfig("openai", api_key=KEY))


@pytest.mark.parametrize(
    ("preset", "config", "says"),
    [(OPENAI, {"model": None}, "needs a model's name"), (COMPATIBLE, {}, "needs an address")],
)
def test_what_is_missing_is_named_with_an_example(preset: Preset, config: dict[str, Any], says: str):
    with pytest.raises(ConfigurationError, match=says) as caught:
        connect(preset, api_key=KEY, **config)
    assert (caught.value.hint or "").startswith("As in ")


@pytest.mark.parametrize(
    ("model", "takes", "does_not_take"),
    [
        ("gpt-4o", "image/png", "audio/wav"),
        ("gpt-4o-mini-2024-07-18", "application/pdf", "audio/wav"),
        ("gpt-4o-audio-preview", "audio/wav", "image/png"),
        ("gpt-4-turbo", "image/png", "application/pdf"),
        ("gpt-4-0613", "text/plain", "image/png"),
        ("o3-mini", "text/plain", "image/png"),
        ("o3", "image/png", "audio/mpeg"),
    ],
)
def test_a_model_takes_what_its_family_takes(model: str, takes: str, does_not_take: str):
    profile = connect(api_key=KEY, model=model).profile
    assert profile.known
    assert takes == "text/plain" or profile.takes(takes.partition("/")[0], takes)
    assert not profile.takes(does_not_take.partition("/")[0], does_not_take)


def test_the_longer_of_two_names_that_begin_alike_comes_first():
    for preset in PRESETS:
        names = [name for name, _ in preset.families]
        for index, name in enumerate(names):
            assert not any(later.startswith(name) for later in names[index + 1 :]), f"{name} hides a later row"


def test_a_model_of_no_known_family_is_unknown():
    assert not connect(api_key=KEY, model="brand-new").profile.known
    assert connect(COMPATIBLE, base_url="http://localhost", model="brand-new").profile.known


def test_an_endpoint_knows_no_better_error():
    error = ProviderError("no")
    assert FixedEndpoint.at("http://localhost", NoAuth()).diagnose(error) is error
