"""Azure: the same URLs, API keys and access tokens as the openai package's Azure client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import openai
import pytest

from abstractcore import Services, create_llm
from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.chaos_server import completion, failure
from tests.providers.sessions import Services as ProviderServices
from tests.providers.sessions import address

AZURE = next(preset for preset in VENDORS if preset.name == "azure")
KEY = "azure-secret-0123456789"
DATED = "2024-10-21"
VARIABLES = ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION")


def connect(environment: Mapping[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = ProviderServices(dict(environment or {}))
    return AZURE.connect(ProviderConfig("azure", **{"model": "gpt-4o", **config}), services)


def headers(session: ProviderSession) -> Mapping[str, str]:
    from abstractcore.schema import WireRequest

    return address(session).auth.sign(WireRequest("/", {}, b""), 0.0).headers


def test_resource_gives_the_v1_base_url_and_an_api_key_header():
    session = connect({"AZURE_OPENAI_API_KEY": KEY}, options={"resource": "my-resource"})
    assert address(session).url_of("/x") == "https://my-resource.openai.azure.com/openai/v1/x"
    assert headers(session) == {"api-key": KEY}
    assert KEY not in repr(session.endpoint)


def test_given_base_url_is_used_unchanged():
    session = connect({"OPENAI_API_VERSION": DATED}, base_url="https://x.services.ai.azure.com/openai/v1", api_key=KEY)
    assert address(session).url_of("/x") == "https://x.services.ai.azure.com/openai/v1/x"


@pytest.mark.parametrize("resource", [None, "", "a.b", "evil/x", "a b", 5])
def test_invalid_resource_name_is_refused_with_an_example(resource: Any):
    with pytest.raises(ConfigurationError, match="needs the name of a resource") as caught:
        connect(api_key=KEY, options={"resource": resource})
    assert "https://my-resource.openai.azure.com" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({"azure_endpoint": "https://r.test/"}, "https://r.test/openai/v1/x"),
        ({"azure_endpoint": "https://r.test/openai/v1"}, "https://r.test/openai/v1/x"),
        (
            {"azure_endpoint": "https://r.test", "api_version": "preview"},
            "https://r.test/openai/v1/x?api-version=preview",
        ),
        (
            {"azure_endpoint": "https://r.test", "api_version": DATED},
            f"https://r.test/openai/deployments/gpt-4o/x?api-version={DATED}",
        ),
        (
            {"resource": "r", "api_version": DATED},
            f"https://r.openai.azure.com/openai/deployments/gpt-4o/x?api-version={DATED}",
        ),
    ],
)
def test_base_url_follows_from_endpoint_and_api_version(options: dict[str, str], url: str):
    assert address(connect(api_key=KEY, options=options)).url_of("/x") == url


@pytest.mark.parametrize("version", ["2024/10", "a&b=c", 5])
def test_invalid_api_version_is_refused(version: Any):
    with pytest.raises(ConfigurationError, match="api_version is not a version"):
        connect(api_key=KEY, options={"resource": "r", "api_version": version})


def test_deployment_name_is_percent_encoded():
    session = connect(api_key=KEY, model="a b/c", options={"resource": "r", "api_version": DATED})
    assert "/deployments/a%20b%2Fc/x" in address(session).url_of("/x")


def test_missing_credentials_error_names_api_key_and_access_token():
    with pytest.raises(AuthenticationError, match=r"AZURE_OPENAI_API_KEY, or pass api_key=... or access_token="):
        connect(options={"resource": "r"})


def test_api_key_and_access_token_exclude_each_other():
    with pytest.raises(ConfigurationError, match="api_key or access_token, not both"):
        connect(api_key=KEY, options={"resource": "r", "access_token": "t"})


def test_access_token_of_another_type_is_refused():
    with pytest.raises(ConfigurationError, match="access_token for azure: expected text, or a function"):
        connect(options={"resource": "r", "access_token": 5})


# The openai package's client, as the oracle


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment variables of both clients, initially none."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)

    class Environment(dict[str, str]):
        def __setitem__(self, name: str, value: str) -> None:
            monkeypatch.setenv(name, value)
            super().__setitem__(name, value)

    return Environment()


def same_request(server: Any, environment: dict[str, str], theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Checks that both clients send the same method, path, query, credentials, model and messages."""
    server.script(completion())
    server.script(completion())
    with openai.AzureOpenAI(max_retries=0, **theirs) as client:
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}])
    services = Services(environment=environment)
    create_llm("azure/gpt-4o", services=services, **ours).generate("hi")
    services.close()
    expected, made = server.requests
    assert (made.method, made.target) == (expected.method, expected.target)
    for name in ("authorization", "api-key", "host"):
        assert made.headers.get(name) == expected.headers.get(name)
    for name in ("model", "messages"):
        assert json.loads(made.body)[name] == json.loads(expected.body)[name]


def test_dated_api_version_sends_the_same_request_as_the_openai_client(server: Any, environment: dict[str, str]):
    given = {"azure_endpoint": server.url, "api_version": DATED, "api_key": KEY}
    same_request(server, environment, given, given)


def test_token_function_sends_the_same_request_as_the_openai_client(server: Any, environment: dict[str, str]):
    given = {"azure_endpoint": server.url, "api_version": DATED}
    token = {"azure_ad_token_provider": lambda: KEY}, {"access_token": lambda: KEY}
    same_request(server, environment, {**given, **token[0]}, {**given, **token[1]})


@pytest.mark.parametrize("credential", ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"])
def test_environment_variables_send_the_same_request_as_the_openai_client(
    server: Any, environment: dict[str, str], credential: str
):
    environment["AZURE_OPENAI_ENDPOINT"] = server.url
    environment["OPENAI_API_VERSION"] = DATED
    environment[credential] = KEY
    same_request(server, environment, {}, {})


def test_token_variable_overrides_the_key_variable_but_not_a_given_key(server: Any, environment: dict[str, str]):
    environment["AZURE_OPENAI_AD_TOKEN"] = "token-of-the-environment"
    environment["AZURE_OPENAI_API_KEY"] = "key-of-the-environment"
    given = {"azure_endpoint": server.url, "api_version": DATED}
    same_request(server, environment, given, given)
    server.requests.clear()
    same_request(server, environment, {**given, "api_key": KEY}, {**given, "api_key": KEY})


# Tokens that expire


def test_token_function_is_called_for_every_request_sync_and_async(call_style: Any, server: Any, services: Services):
    given = iter(["one", "two", "three"])
    calls: list[str] = []

    def token() -> str:
        calls.append("asked")
        return next(given)

    server.script(failure(503))
    server.script(completion())
    server.script(completion())
    options = {"azure_endpoint": server.url, "access_token": token, "services": services}
    llm = create_llm("azure/gpt-4o", max_retries=1, **options)
    assert calls == []
    call_style.generate(llm, "hi")
    call_style.generate(llm, "hi")
    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer one",
        "Bearer two",
        "Bearer three",
    ]


def test_async_token_function_works_for_sync_and_async_calls(call_style: Any, server: Any, services: Services):
    async def token() -> str:
        await asyncio.sleep(0)
        return KEY

    server.script(completion())
    llm = create_llm("azure/gpt-4o", azure_endpoint=server.url, access_token=token, services=services)
    assert KEY not in repr(llm)
    call_style.generate(llm, "hi")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("token", ["", None])
def test_empty_token_of_a_token_function_is_an_authentication_error(call_style: Any, services: Services, token: Any):
    llm = create_llm("azure/gpt-4o", resource="r", access_token=lambda: token, services=services)
    with pytest.raises(AuthenticationError, match="there is no access token"):
        call_style.generate(llm, "hi")


def test_failing_token_function_is_an_authentication_error_with_its_cause(call_style: Any, services: Services):
    def token() -> str:
        raise RuntimeError(f"the identity server refused {KEY}")

    llm = create_llm("azure/gpt-4o", resource="r", access_token=token, services=services)
    with pytest.raises(AuthenticationError, match="access_token failed: RuntimeError") as caught:
        call_style.generate(llm, "hi")
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert KEY not in str(caught.value)
