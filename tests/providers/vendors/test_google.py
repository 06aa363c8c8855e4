"""The providers `google` and `vertex`."""

from collections.abc import Mapping
from typing import Any

import pytest

from abstractcore import create_llm
from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import Message, ModelCall, WireRequest
from abstractcore.testing.http_server import answer
from abstractcore_providers.formats.gemini import ENCODABLE, Gemini, GenerateContentDialect
from abstractcore_providers.formats.gemini.vocabulary import VERTEX
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


def dialect_of(session: ProviderSession) -> GenerateContentDialect:
    assert isinstance(session.transpiler, Gemini)
    return session.transpiler.dialect


def headers(session: ProviderSession) -> Mapping[str, str]:
    return address(session).auth.sign(WireRequest("/", {}, b""), 0.0).headers


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_environment_key_is_sent_in_googles_header(name: str):
    session = connect(GoogleProvider(), {name: "k"})
    assert address(session).url == GEMINI_URL
    assert headers(session) == {"x-goog-api-key": "k"}
    assert dialect_of(session).provider == "google"


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
    ("model", "levels", "budget", "signed"),
    [
        ("gemini-2.5-pro", (), (128, 32768), False),
        ("gemini-2.5-flash-lite", (), (512, 24576), False),
        ("gemini-3-pro-preview", ("low", "high"), None, True),
        ("gemini-3-flash-preview", ("minimal", "low", "medium", "high"), None, True),
        ("gemini-3.1-pro-preview", ("low", "medium", "high"), None, True),
        ("gemini-3.5-flash-lite", ("minimal", "low", "medium", "high"), None, True),
        ("gemini-3.8-flash", ("low", "medium", "high"), None, True),
        ("gemini-4-argon", ("low", "medium", "high"), None, True),
        ("gemini-4-carbon", ("low", "medium", "high"), None, True),
        ("gemini-4-hydrogen", ("low", "medium", "high", "xhigh"), None, True),
    ],
)
def test_session_follows_the_models_row(model: str, levels: Any, budget: Any, signed: bool):
    """ai.google.dev/gemini-api/docs/thinking."""
    session = connect(GoogleProvider(), model=model, api_key="k")
    profile = session.profile
    assert profile.known
    assert profile.supports("video", "video/mp4")
    assert profile.thinking is not None
    assert (profile.thinking.levels, profile.thinking.budget) == (levels, budget)
    dialect = dialect_of(session)
    assert (dialect.signed_calls, dialect.server_side_calls, dialect.hosted_with_functions) == (signed,) * 3
    assert bool(dialect.media_in_results) is signed
    assert dialect.explicit_cache is not model.startswith("gemini-4")


@pytest.mark.parametrize("model", ["gemini-9", "gemini-4-neon", "tunedModels/mine"])
def test_unknown_model_is_treated_as_a_new_one_and_nothing_is_refused(model: str):
    session = connect(GoogleProvider(), model=model, api_key="k")
    assert not session.profile.known
    assert session.profile.encodable == ENCODABLE
    assert session.profile.accepts_prefill
    dialect = dialect_of(session)
    assert (dialect.signed_calls, dialect.hosted_with_functions, dialect.explicit_cache) == (True, True, True)


def test_unknown_member_of_an_older_family_gets_no_signatures():
    dialect = dialect_of(connect(GoogleProvider(), model="gemini-2.5-flash-native-audio-preview", api_key="k"))
    assert (dialect.signed_calls, dialect.hosted_with_functions) == (False, True)


@pytest.mark.parametrize(
    ("old", "new"), [("gemini-3.5-flash", "gemini-3.6-flash"), ("gemini-3.7-flash", "gemini-3.8-flash")]
)
def test_routed_model_has_the_rules_of_its_target_but_not_on_vertex(old: str, new: str):
    """ai.google.dev/gemini-api/docs/changelog, 8 October 2026."""
    routed, target = (connect(GoogleProvider(), model=name, api_key="k") for name in (old, new))
    assert (routed.model, routed.profile, routed.transpiler) == (old, target.profile, target.transpiler)
    assert not routed.profile.accepts_prefill
    own = connect(VertexProvider(), CLOUD, model=old, api_key="k").profile
    assert (own.known, own.accepts_prefill) == (True, old == "gemini-3.5-flash")


@pytest.mark.parametrize("model", ["models/gemini-3.8-flash", "gemini-3.8-flash-001"])
def test_variants_of_a_name_find_its_row(model: str):
    assert connect(GoogleProvider(), model=model, api_key="k").profile.known


def test_rows_of_vertex_differ():
    """google-genai's `_ToolConfig_to_vertex`; pydantic-ai's Google model, measured in October 2026."""
    vertex, google = VertexProvider(), GoogleProvider()
    assert not dialect_of(connect(vertex, CLOUD, model="gemini-4-carbon", api_key="k")).server_side_calls
    pairs = [
        (
            connect(google, model=model, api_key="k").profile.thinking,
            connect(vertex, CLOUD, model=model, api_key="k").profile.thinking,
        )
        for model in ("gemini-3.1-pro-preview", "gemini-3.1-flash-image")
    ]
    assert [(here.can_be_off, there.can_be_off) for here, there in pairs if here and there] == [
        (False, True),
        (False, False),
    ]
    assert [(len(here.levels), len(there.levels)) for here, there in pairs if here and there] == [(3, 3), (2, 4)]


@pytest.mark.parametrize(
    ("model", "media_type", "accepted"),
    [
        ("gemini-4-carbon", "application/msword", True),
        ("gemini-4-hydrogen", "application/vnd.oasis.opendocument.text", True),
        ("gemini-4-argon", "application/msword", False),
        ("gemini-3.8-flash", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", False),
    ],
)
def test_office_documents_are_sent_natively_to_models_that_read_them(model: str, media_type: str, accepted: bool):
    """docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-carbon."""
    assert connect(GoogleProvider(), model=model, api_key="k").profile.supports("document", media_type) is accepted


def warned(model: str, **options: Any) -> list[tuple[str, str, Any]]:
    """The warnings of a call, but those about the model itself."""
    found = create_llm(f"google/{model}", api_key="k").plan("hi", **options).warnings
    return [(warning.code, warning.path, warning.sent) for warning in found if warning.path != "model"]


@pytest.mark.parametrize(
    "model", ["gemini-2.5-flash-lite", "gemini-3.1-flash-lite", "gemini-3.8-flash", "gemini-4-carbon"]
)
def test_penalties_are_left_out_with_a_warning_and_zero_is_no_loss(model: str):
    """ "Penalty is not enabled for this model": google-gemini/cookbook#1290, mnfst/modelparams.dev#16."""
    assert warned(model, presence_penalty=0.5, frequency_penalty=-1) == [
        ("unsupported_option", "sampling.presence_penalty", None),
        ("unsupported_option", "sampling.frequency_penalty", None),
    ]
    assert {code for code, _, _ in warned(model, presence_penalty=0, strict=True)} <= {"no_effect"}


@pytest.mark.parametrize(
    ("model", "ignored"),
    [
        ("gemini-3.5-flash-lite", True),
        ("gemini-3.5-flash", True),
        ("gemini-3.6-flash", True),
        ("gemini-3.8-flash", True),
        ("gemini-4-argon", True),
        ("gemini-3.1-pro-preview", False),
        ("gemini-2.5-pro", False),
    ],
)
def test_sampling_that_the_model_ignores_is_left_out_with_a_warning(model: str, ignored: bool):
    """ai.google.dev/gemini-api/docs/changelog (21 July 2026) and .../latest-model."""
    found = warned(model, temperature=0.5, top_p=0.5, top_k=5, seed=1)
    assert found == [("no_effect", f"sampling.{name}", None) for name in ("temperature", "top_p", "top_k") if ignored]


@pytest.mark.parametrize(
    ("model", "asked", "sent"),
    [
        ("gemini-4-hydrogen", "xhigh", None),
        ("gemini-4-carbon", "xhigh", "high"),
        ("gemini-4-carbon", "off", "low"),
        ("gemini-3.6-flash", "off", "minimal"),
        ("gemini-3.8-flash", "minimal", "low"),
        ("gemini-3.8-flash", 20_000, "high"),
        ("gemini-2.5-pro", 64, 128),
    ],
)
def test_thinking_becomes_what_the_model_has(model: str, asked: Any, sent: Any):
    """ai.google.dev/gemini-api/docs/thinking; `ThinkingLevel` in google-genai."""
    assert warned(model, thinking=asked) == ([] if sent is None else [("thinking_changed", "thinking", sent)])


def test_output_limit_above_the_models_own_is_reduced():
    assert warned("gemini-3.8-flash", max_output_tokens=70_000) == [
        ("option_changed", "sampling.max_output_tokens", 65_536)
    ]
    assert warned("gemini-4-carbon", max_output_tokens=1_048_576) == []


def test_setting_of_the_user_must_exist():
    with pytest.raises(ConfigurationError, match=r"settings\.signed: no such setting"):
        create_llm("google/gemini-3.8-flash", api_key="k", facts={"settings": {"signed": True}})


@pytest.mark.parametrize(
    ("provider", "path"),
    [("google", "/v1beta/models/"), ("vertex", "/v1beta1/projects/p/locations/global/publishers/google/models/")],
)
def test_response_that_was_cut_off_is_continued_by_its_token(
    call_style: Any, server: Any, services: Any, provider: str, path: str
):
    """`continuation_token` in google-genai. On Vertex AI in v1beta1 alone: "known issues" of .../gemini/4-carbon."""
    cut = {"content": {"parts": [{"text": "One, "}]}, "finishReason": "CONTINUATION", "continuationToken": "dG9rZW4="}
    server.script(answer({"candidates": [cut]}))
    server.script(answer({"candidates": [{"content": {"parts": [{"text": "two."}]}, "finishReason": "STOP"}]}))
    name = "GOOGLE_VERTEX_BASE_URL" if provider == "vertex" else "GOOGLE_GEMINI_BASE_URL"
    services.environment[name] = server.url
    options = {"project": "p", "access_token": "t"} if provider == "vertex" else {"api_key": "k"}
    llm = create_llm(f"{provider}/gemini-4-carbon", services=services, **options)
    first = call_style.generate(llm, "Count.", max_output_tokens=100_000)
    assert first.finish_reason == "paused"
    token = first.reply.provider_metadata["continuationToken"]
    own = {provider: {"continuationToken": token}}
    rest = call_style.generate(llm, "Count.", max_output_tokens=100_000, provider_options=own)
    assert (first.content + rest.content, rest.finish_reason) == ("One, two.", "stop")
    asked, resumed = (request.json for request in server.requests)
    assert resumed == {**asked, "continuationToken": "dG9rZW4="}
    assert {request.target for request in server.requests} == {f"{path}gemini-4-carbon:generateContent"}


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
    assert address(session).url == f"https://{host}/v1beta1/{parent}"
    assert headers(session) == {"authorization": "Bearer t"}
    dialect = dialect_of(session)
    assert (dialect.provider, dialect.publisher, dialect.parent) == ("vertex", "google", parent)
    assert not dialect.count_wrapped
    assert dialect.billing == VERTEX


def test_vertex_with_a_key_needs_no_project():
    session = connect(VertexProvider(), CLOUD, api_key="k")
    assert address(session).url == "https://aiplatform.googleapis.com/v1beta1"
    assert headers(session) == {"x-goog-api-key": "k"}
    request = session.transpiler.encode(ModelCall("gemini-2.5-flash", (Message.user("hi"),), "vertex")).request
    assert request.url == "/publishers/google/models/gemini-2.5-flash:generateContent"
    own = connect(VertexProvider(), api_key="k", options={"project": "p"})
    assert address(own).url == "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global"
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
