"""The provider: base URL, credentials, profiles of models, and calls through the whole engine."""

import builtins
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.errors import (
    AuthenticationError,
    ConfigurationError,
    MissingExtraError,
    RateLimitError,
    StreamInterruptedError,
)
from abstractcore.ports import Address, ProviderConfig, ProviderSession
from abstractcore.schema import WireRequest
from abstractcore.testing import CallStyle
from abstractcore.testing.http_server import LAST_CHUNK, answer, chunk, stream_head
from abstractcore_providers.common.endpoints import BearerAuth
from abstractcore_providers.formats.bedrock_converse import BedrockConverse
from abstractcore_providers.vendors.bedrock import BedrockProvider
from abstractcore_providers.vendors.bedrock.credentials import ChainEndpoint
from abstractcore_providers.vendors.bedrock.signature import AwsKeys, SignatureAuth
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.providers.catalogue_rows import rows
from tests.providers.formats.bedrock_converse.wire import COUNTS, END, MODEL, START, delta, reply_with, stop, stream_of
from tests.providers.sessions import Services as Environment

KEYS = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "s3cret"}
REGION = {"AWS_REGION": "eu-central-1"}
URL = "https://bedrock-runtime.eu-central-1.amazonaws.com"


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Environment(environment or {})
    given: Any = {"model": MODEL, **config}
    return BedrockProvider().connect(ProviderConfig("bedrock", **given), services)


def opened(session: ProviderSession) -> Address:
    return drive(session.endpoint.open(SyncRuntime()))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory in which botocore finds only what a test writes there."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", *KEYS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


def write_profile(home: Path, name: str = "default", region: str = "us-west-2") -> None:
    section = name if name == "default" else f"profile {name}"
    keys = f"aws_access_key_id = {name}-key\naws_secret_access_key = s\naws_session_token = t\n"
    (home / "config").write_text(f"[{section}]\nregion = {region}\n{keys}", encoding="utf-8")


def test_bearer_token_needs_no_botocore_and_has_precedence():
    environment = {**REGION, **KEYS, "AWS_BEARER_TOKEN_BEDROCK": "b"}
    assert opened(connect(environment)) == Address(URL, BearerAuth("b"))
    assert opened(connect(environment, api_key="k")) == Address(URL, BearerAuth("k"))


def test_credentials_in_the_environment_sign_without_botocore():
    address = opened(connect({**REGION, **KEYS, "AWS_SESSION_TOKEN": "t"}))
    assert address == Address(URL, SignatureAuth(AwsKeys("AKID", "s3cret", "t"), "eu-central-1"))


def test_given_credentials_override_all_others():
    given = {"aws_access_key_id": "A", "aws_secret_access_key": "S"}
    session = connect(
        {**REGION, **KEYS, "AWS_BEARER_TOKEN_BEDROCK": "b"}, options={"credentials": given, "region": "cn-north-1"}
    )
    url = "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"
    assert opened(session) == Address(url, SignatureAuth(AwsKeys("A", "S"), "cn-north-1"))


def test_credentials_and_region_of_a_profile_are_found_by_botocore(home: Path):
    write_profile(home)
    address = opened(connect())
    assert address.url == "https://bedrock-runtime.us-west-2.amazonaws.com"
    assert address.auth == SignatureAuth(AwsKeys("default-key", "s", "t"), "us-west-2")


def test_named_profile_overrides_credentials_in_the_environment(home: Path):
    write_profile(home, "work")
    for session in (
        connect({**KEYS, "AWS_BEARER_TOKEN_BEDROCK": "b"}, options={"profile": "work"}),
        connect({"AWS_PROFILE": "work"}),
    ):
        assert opened(session).auth == SignatureAuth(AwsKeys("work-key", "s", "t"), "us-west-2")


def test_credentials_are_loaded_once_and_again_when_they_expire(home: Path):
    write_profile(home)
    endpoint: Any = connect().endpoint
    first = drive(endpoint.open(SyncRuntime()))
    write_profile(home, region="us-east-1")
    assert drive(endpoint.open(SyncRuntime())) is first

    class Ending:
        def refresh_needed(self) -> bool:
            return True

        def get_frozen_credentials(self) -> AwsKeys:
            return AwsKeys("new", "s")

    endpoint._found = Ending()
    assert drive(endpoint.open(SyncRuntime())).auth == SignatureAuth(AwsKeys("new", "s"), "us-east-1")


def test_missing_credentials_error_names_the_environment_variables(home: Path):
    with pytest.raises(AuthenticationError, match="no AWS credentials") as caught:
        opened(connect(REGION))
    assert "AWS_BEARER_TOKEN_BEDROCK" in (caught.value.hint or "")


def test_missing_profile_is_an_error(home: Path):
    with pytest.raises(AuthenticationError, match="ProfileNotFound"):
        opened(connect(REGION, options={"profile": "nobody"}))


def test_missing_botocore_error_shows_the_install_command(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str, *rest: Any) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("abstractcore_providers.vendors.bedrock.credentials.import_module", missing)
    with pytest.raises(MissingExtraError) as caught:
        opened(connect(REGION))
    assert "pip install botocore" in (caught.value.hint or "")


def test_connect_reads_no_file(monkeypatch: pytest.MonkeyPatch):
    BedrockConverse()

    def refuse(*arguments: object, **options: object) -> Any:
        raise AssertionError("a file is opened")

    monkeypatch.setattr(builtins, "open", refuse)
    assert isinstance(connect().endpoint, ChainEndpoint)


def test_missing_region_is_an_error(home: Path):
    for session in ({"AWS_BEARER_TOKEN_BEDROCK": "b"}, KEYS):
        with pytest.raises(ConfigurationError, match="needs a region"):
            connect(session)
    (home / "credentials").write_text("[default]\naws_access_key_id = a\naws_secret_access_key = s\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="needs a region"):
        opened(connect())


def test_given_base_url_needs_a_region_only_for_signatures():
    assert opened(connect({"AWS_BEARER_TOKEN_BEDROCK": "b"}, base_url="https://proxy/x/")).url == "https://proxy/x"
    assert opened(connect({**KEYS, **REGION}, base_url="https://proxy")).url == "https://proxy"
    with pytest.raises(ConfigurationError, match="needs a region"):
        connect(KEYS, base_url="https://proxy")


@pytest.mark.parametrize(
    "config",
    [
        {"model": None},
        {"base_url": "proxy"},
        {"options": {"region": "us east"}},
        {"options": {"region": 5}},
        {"options": {"credentials": "AKID:secret"}},
        {"options": {"credentials": {"aws_access_key_id": "A"}}},
        {"options": {"credentials": {"aws_access_key_id": "A", "aws_secret_access_key": "S", "region": "x"}}},
        {"api_key": "two words"},
    ],
)
def test_invalid_configuration_is_refused(config: dict[str, Any]):
    with pytest.raises(ConfigurationError):
        connect(REGION, **config)


@pytest.mark.parametrize(
    ("model", "known", "sees", "thinks"),
    [
        (MODEL, True, True, True),
        ("anthropic.claude-3-haiku-20240307-v1:0", True, True, False),
        ("global.anthropic.claude-opus-4-6-v1", True, True, True),
        ("us.anthropic.claude-haiku-5-5", True, True, True),
        ("anthropic.claude-fable-5-1", True, True, True),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-2-lite-v1:0", True, True, True),
        ("amazon.nova-micro-v1:0", True, False, False),
        ("openai.gpt-oss-120b-1:0", True, False, True),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", False, False, None),
    ],
)
def test_images_and_thinking_of_a_model_are_its_familys(model: str, known: bool, sees: bool, thinks: bool | None):
    profile = connect({**REGION, **KEYS}, model=model).profile
    assert (profile.known, profile.supports("image", "image/png")) == (known, sees)
    thinking = profile.thinking
    assert (None if thinking is None else bool(thinking.levels or thinking.budget)) is thinks


@pytest.mark.parametrize(
    ("model", "levels", "off", "context", "points"),
    [
        ("us.anthropic.claude-opus-4-7", True, False, 1_000_000, 4),
        ("us.anthropic.claude-opus-5-5", True, False, 1_000_000, 4),
        ("us.anthropic.claude-sonnet-5-5", True, True, 1_000_000, 4),
        ("us.anthropic.claude-sonnet-4-6", True, True, 1_000_000, 4),
        (MODEL, False, True, 200_000, 4),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", False, True, 200_000, 0),
        ("openai.gpt-oss-20b-1:0", True, False, 128_000, 0),
    ],
)
def test_thinking_context_window_and_cache_points_are_its_familys(
    model: str, levels: bool, off: bool, context: int, points: int
):
    profile = connect({**REGION, **KEYS}, model=model).profile
    assert profile.thinking is not None
    assert (bool(profile.thinking.levels), profile.thinking.can_be_off) == (levels, off)
    assert (profile.context_tokens, profile.cache_points) == (context, points)


@pytest.mark.parametrize("model", [name for name in rows("anthropic") if f"anthropic.{name}" in rows("bedrock")])
def test_claude_has_the_same_facts_as_at_anthropic(model: str):
    here, there = rows("bedrock")[f"anthropic.{model}"], rows("anthropic")[model]
    for name in (
        "context_tokens",
        "accepts_prefill",
        "forced_tools",
        "refused",
        "refused_with_thinking",
        "cache_points",
    ):
        assert here.get(name) == there.get(name)
    assert here["thinking"] == there["thinking"] or model == "claude-opus-4-7"


def talk(server: ScriptedServer, services: Services, **options: Any) -> Any:
    """An LLM that uses `server` in place of Bedrock."""
    keys = {"aws_access_key_id": "A", "aws_secret_access_key": "S"}
    return create_llm(
        "bedrock",
        model=MODEL,
        services=services,
        base_url=server.url,
        timeout=PATIENCE_SECONDS,
        **{"region": "us-east-1", "credentials": keys, **options},
    )


def test_call_is_signed_and_its_response_decoded(call_style: CallStyle, server: ScriptedServer, services: Services):
    server.script(answer(reply_with({"text": "hello"})))
    response = call_style.generate(talk(server, services), "hi")
    assert (response.content, response.model, response.provider) == ("hello", MODEL, "bedrock")
    (request,) = server.requests
    assert request.target == "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=A/")
    sent = WireRequest(server.url + request.target, {"content-type": request.headers["content-type"]}, request.body)
    when = datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    signed = SignatureAuth(AwsKeys("A", "S"), "us-east-1").sign(sent, when)
    assert signed.headers["authorization"] == request.headers["authorization"]


def test_stream_is_read_chunk_by_chunk(call_style: CallStyle, server: ScriptedServer, services: Services):
    pieces = [START, delta(0, text="Grü"), delta(0, text="ße"), stop(0), END, COUNTS]
    body = b"".join(chunk(stream_of([piece])) for piece in pieces)
    server.script(stream_head(content_type="application/vnd.amazon.eventstream") + body + LAST_CHUNK)
    with call_style.stream(talk(server, services), "hi") as stream:
        assert list(stream.text()) == ["Grü", "ße"]
    assert (stream.response.usage.input, stream.response.usage.output) == (3, 5)
    assert server.requests[0].target.endswith("/converse-stream")


def test_stream_cut_in_a_message_is_interrupted_with_partial_text(
    call_style: CallStyle, server: ScriptedServer, services: Services
):
    body = stream_of([START, delta(0, text="Hel")]) + stream_of([delta(0, text="lo")])[:-5]
    server.script(stream_head() + chunk(body) + LAST_CHUNK)
    with (
        pytest.raises(StreamInterruptedError, match="middle of a message") as caught,
        call_style.stream(talk(server, services), "hi") as stream,
    ):
        list(stream)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Hel"


def test_throttling_is_retried_and_reported_with_its_code(
    call_style: CallStyle, server: ScriptedServer, services: Services
):
    refusal = answer({"message": "Too many requests"}, 429, x_amzn_errortype="ThrottlingException", retry_after="0")
    server.script(refusal)
    server.script(refusal)
    with pytest.raises(RateLimitError, match="Too many requests") as caught:
        call_style.generate(talk(server, services, max_retries=1), "hi")
    assert caught.value.code == "ThrottlingException"
    assert len(server.requests) == 2
