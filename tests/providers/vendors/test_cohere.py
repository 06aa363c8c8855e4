"""The provider of Cohere's models."""

from typing import Any

import pytest

from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore_providers.formats.cohere_chat import CohereChat
from abstractcore_providers.vendors.cohere import CohereProvider
from tests.providers.sessions import Services, address, headers

MODEL = "command-a-03-2025"


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services(environment or {})
    given: Any = {"model": MODEL, **config}
    return CohereProvider().connect(ProviderConfig("cohere", **given), services)


def test_session_has_the_vendors_url_and_a_format_for_its_model():
    session = connect(api_key="k")
    assert address(session).url == "https://api.cohere.com/v2"
    assert session.transpiler == CohereChat(MODEL)
    assert address(connect(api_key="k", base_url="http://a/v2/")).url == "http://a/v2"


@pytest.mark.parametrize(
    ("environment", "key"),
    [({"CO_API_KEY": "a"}, "a"), ({"COHERE_API_KEY": "b"}, "b"), ({"CO_API_KEY": "a", "COHERE_API_KEY": "b"}, "a")],
)
def test_key_is_read_from_one_of_two_variables(environment: dict[str, str], key: str):
    assert headers(connect(environment))["authorization"] == f"Bearer {key}"
    assert headers(connect(environment, api_key="given"))["authorization"] == "Bearer given"


def test_missing_settings_are_named():
    with pytest.raises(AuthenticationError) as caught:
        connect()
    assert "CO_API_KEY" in (caught.value.hint or "")
    with pytest.raises(ConfigurationError, match="model's name"):
        connect(api_key="k", model=None)


@pytest.mark.parametrize(
    ("model", "sees", "thinks", "known"),
    [
        (MODEL, False, False, True),
        ("command-a-vision-07-2025", True, False, True),
        ("command-a-reasoning-08-2025", False, True, True),
        ("command-z", False, False, False),
    ],
)
def test_profile_follows_the_model_family(model: str, sees: bool, thinks: bool, known: bool):
    profile = connect(api_key="k", model=model).profile
    assert profile.known is known
    assert profile.supports("image", "image/png") is sees
    assert (profile.thinking is not None and profile.thinking.budget is not None) is thinks
