"""The providers `google` and `vertex`."""

from collections.abc import Mapping
from typing import Any

import pytest

from abstractcore import create_llm
from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import Message, ModelCall, WireRequest
from abstractcore_providers.formats.gemini import Dialect, Gemini
from abstractcore_providers.formats.gemini.usage import VERTEX
from abstractcore_providers.vendors.google import GoogleProvider, VertexProvider
from abstractcore_providers.vendors.google.provider import GEMINI_URL
from tests.providers.sessions import Services

CLOUD = {"GOOGLE_CLOUD_PROJECT": "p-1"}


class Runtime:
    """Runs functions inline."""

    async def invoke(self, function: Any, *arguments: object) -> Any:
        return function(*arguments)


def connect(provider: Any, environment: Mapping[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services(environment or {})
    return provider.connect(ProviderConfig(provider.name, **{"model": "gemini-2.5-flash", **config}), services)


def address(session: ProviderSession) -> Any:
    step: Any = session.endpoint.open(Runtime())  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as done:
        step.send(None)
    return done.value.value


def headers(session: ProviderSession) -> Mapping[str, str]:
    return address(session).auth.sign(WireRequest("/", {}, b""), 0.0).headers


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_environment_key_is_sent_in_googles_header(name: str):
    session = connect(GoogleProvider(), {name: "k"})
    assert address(session).url == GEMINI_URL
    assert headers(session) == {"x-goog-api-key": "k"}
    assert session.transpiler == Gemini(Dialect("google", media_in_results=False))


def test_missing_key_names_the_variable():
    with pytest.raises(AuthenticationError, match="GEMINI_API_KEY"):
        connect(GoogleProvider())


@pytest.mark.parametrize("provider", [GoogleProvider(), VertexProvider()], ids=lambda provider: provider.name)
def test_missing_model_is_an_error(provider: Any):
    with pytest.raises(ConfigurationError, match="needs a model's name"):
        connect(provider, CLOUD, model=None, api_key="k")


def test_vendors_own_model_name_syntax_is_accepted():
    assert connect(GoogleProvider(), model="models/gemini-3-pro-preview", api_key="k").model == "gemini-3-pro-preview"


@pytest.mark.parametrize(
    ("model", "levels", "budget", "in_results"),
    [
        ("gemini-2.5-pro", (), (128, 32768), False),
        ("gemini-2.5-flash-lite", (), (512, 24576), False),
        ("gemini-3-pro-preview", ("low", "high"), None, True),
        ("gemini-3-flash-preview", ("minimal", "low", "medium", "high"), None, True),
        ("gemini-3.1-pro-preview", ("low", "medium", "high"), None, True),
        ("gemini-3.5-flash-lite", ("minimal", "low", "medium", "high"), None, True),
        ("gemini-3.8-flash", ("low", "medium", "high"), None, True),
        ("gemini-4-argon", ("low", "medium", "high"), None, True),
    ],
)
def test_families_are_known_by_name_prefix(model: str, levels: Any, budget: Any, in_results: bool):
    session = connect(GoogleProvider(), model=model, api_key="k")
    profile = session.profile
    assert profile.known
    assert profile.supports("video", "video/mp4")
    assert profile.thinking is not None
    assert (profile.thinking.levels, profile.thinking.budget) == (levels, budget)
    assert session.transpiler == Gemini(Dialect("google", in_results, signed_calls=in_results))


@pytest.mark.parametrize("model", ["gemma-3", "gemini-2.5-flash-image", "gemini-9"])
def test_other_models_are_unknown(model: str):
    assert not connect(GoogleProvider(), model=model, api_key="k").profile.known


@pytest.mark.parametrize(
    ("location", "host"),
    [
        (None, "aiplatform.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_vertex_url_has_project_and_location(location: str | None, host: str):
    options = {"access_token": "t"} | ({} if location is None else {"location": location})
    session = connect(VertexProvider(), CLOUD, options=options)
    parent = f"projects/p-1/locations/{location or 'global'}"
    assert address(session).url == f"https://{host}/v1/{parent}"
    assert headers(session) == {"authorization": "Bearer t"}
    dialect = Dialect("vertex", False, count_wrapped=False, publisher="google", parent=parent, billing=VERTEX)
    assert session.transpiler == Gemini(dialect)


def test_vertex_with_a_key_needs_no_project():
    session = connect(VertexProvider(), CLOUD, api_key="k")
    assert address(session).url == "https://aiplatform.googleapis.com/v1"
    assert headers(session) == {"x-goog-api-key": "k"}
    request = session.transpiler.encode(ModelCall("gemini-2.5-flash", (Message.user("hi"),), "vertex")).request
    assert request.url == "/publishers/google/models/gemini-2.5-flash:generateContent"
    own = connect(VertexProvider(), api_key="k", options={"project": "p"})
    assert address(own).url == "https://aiplatform.googleapis.com/v1/projects/p/locations/global"
    assert headers(own) == {"x-goog-api-key": "k"}


def test_token_function_is_called_before_every_attempt():
    tokens = iter(["one", "two", ""])
    session = connect(VertexProvider(), CLOUD, options={"access_token": lambda: next(tokens)})
    assert [headers(session)["authorization"] for _ in range(2)] == ["Bearer one", "Bearer two"]
    with pytest.raises(AuthenticationError, match="no access token"):
        session.endpoint.open(Runtime()).send(None)  # type: ignore[arg-type, attr-defined]


@pytest.mark.parametrize("project", ["", "p/../q", "P x", 5])
def test_invalid_project_is_an_error(project: Any):
    with pytest.raises(ConfigurationError, match="needs a project"):
        connect(VertexProvider(), options={"project": project, "access_token": "t"})


def test_without_a_token_google_auth_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    auth = pytest.importorskip("google.auth", reason="google-auth is optional")
    refreshed: list[object] = []

    class Credentials:
        valid, token = False, "ya29"

        def refresh(self, request: object) -> None:
            refreshed.append(request)
            self.valid = True

    credentials = Credentials()
    monkeypatch.setattr(auth, "default", lambda scopes: (credentials, "p"))
    session = connect(VertexProvider(), CLOUD)
    assert [headers(session)["authorization"] for _ in range(2)] == ["Bearer ya29"] * 2
    assert len(refreshed) == 1

    def none(scopes: object) -> Any:
        raise auth.exceptions.DefaultCredentialsError("secret place")

    monkeypatch.setattr(auth, "default", none)
    with pytest.raises(AuthenticationError, match="google-auth has no credentials") as caught:
        connect(VertexProvider(), CLOUD).endpoint.open(Runtime()).send(None)  # type: ignore[arg-type, attr-defined]
    assert "secret place" not in str(caught.value)


def test_both_providers_can_be_created_by_name():
    assert create_llm("google/gemini-2.5-flash", api_key="k").model == "gemini-2.5-flash"
    assert create_llm("vertex", model="gemini-2.5-flash", project="p", access_token="t").model == "gemini-2.5-flash"
