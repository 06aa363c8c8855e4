"""The provider `ollama`."""

import json
from typing import Any

import pytest

from abstractcore.errors import ConfigurationError, ConnectionFailedError, ServerError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import Message, ModelCall
from abstractcore_providers.common.endpoints import BearerAuth, NoAuth
from abstractcore_providers.formats.ollama import OllamaChat
from abstractcore_providers.vendors.ollama import OllamaProvider
from tests.providers.sessions import Services, address, lowered


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services(environment or {})
    given: Any = {"model": "gemma3", **config}
    return OllamaProvider().connect(ProviderConfig("ollama", **given), services)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://localhost:11434"),
        ("10.0.0.1", "http://10.0.0.1:11434"),
        ("10.0.0.1:80", "http://10.0.0.1:80"),
        (":1234", "http://localhost:1234"),
        ("0.0.0.0:11434", "http://localhost:11434"),
        ("[::1]:5", "http://[::1]:5"),
        ("https://ollama.example", "https://ollama.example"),
        (' "box" ', "http://box:11434"),
    ],
)
def test_base_url_is_read_from_the_environment_in_every_form(host: str, url: str):
    assert address(connect({"OLLAMA_HOST": host})).url == url


def test_base_url_option_takes_precedence():
    assert address(connect({"OLLAMA_HOST": "a"}, base_url="http://b:1/")).url == "http://b:1"


@pytest.mark.parametrize("config", [{"base_url": "b:1"}, {"model": None}, {"options": {"context_size": 0}}])
def test_invalid_options_are_refused(config: dict[str, Any]):
    with pytest.raises(ConfigurationError):
        connect(**config)


def test_invalid_host_is_refused():
    with pytest.raises(ConfigurationError, match="OLLAMA_HOST"):
        connect({"OLLAMA_HOST": "a:port"})


def test_key_is_optional_and_sent_if_given():
    assert address(connect()).auth == NoAuth()
    assert address(connect({"OLLAMA_API_KEY": "k"})).auth == BearerAuth("k")
    assert address(connect(api_key="l")).auth == BearerAuth("l")


def test_context_size_is_used_by_format_and_profile():
    session = connect(options={"context_size": 2048})
    assert session.transpiler == OllamaChat(2048)
    assert session.profile.context_tokens == 2048


LEVELS = ("low", "medium", "high", "max")


@pytest.mark.parametrize(
    ("model", "sees", "levels"),
    [
        ("gemma3:4b", True, ()),
        ("gemma3:1b", False, ()),
        ("gpt-oss:20b", False, ("low", "medium", "high")),
        ("qwen3", False, LEVELS),
        ("deepseek-r1:70b", False, LEVELS),
    ],
)
def test_profile_follows_the_models_row(model: str, sees: bool, levels: tuple[str, ...]):
    """docs/capabilities/thinking.mdx and vision.mdx in ollama/ollama."""
    profile = connect(model=model).profile
    assert profile.known
    assert profile.supports("image", "image/png") is sees
    assert profile.thinking is not None
    assert profile.thinking.levels == levels


@pytest.mark.parametrize("model", ["qwen3-vl", "qwen3-vl:235b", "gemma4"])
def test_vision_models_whose_thinking_is_not_documented_get_what_is_asked(model: str):
    profile = connect(model=model).profile
    assert profile.known
    assert profile.supports("image", "image/png")
    assert profile.thinking is None


@pytest.mark.parametrize(
    ("model", "asked", "sent", "written"),
    [
        ("qwen3", "max", None, "max"),
        ("qwen3", "medium", None, True),
        ("qwen3", "off", None, False),
        ("qwen3", "xhigh", "high", "high"),
        ("gpt-oss", "max", "high", "high"),
        ("gpt-oss", "off", "low", "low"),
        ("llama3.2", "high", None, None),
    ],
)
def test_thinking_becomes_what_the_model_has(model: str, asked: Any, sent: Any, written: Any):
    """`ThinkValue` in api/types.go of ollama/ollama: a model without thinking answers 400 to a true `think`."""
    session = connect(model=model)
    changed = lowered(session, ModelCall(model, (Message.user("hi"),), "ollama", thinking=asked))
    assert [warning.sent for warning in changed.warnings] == ([] if sent is None and written is not None else [sent])
    assert json.loads(session.transpiler.encode(changed.call).request.body).get("think") == written


def test_model_of_an_unknown_family_is_unknown():
    assert not connect(model="mine").profile.known


def test_unreachable_server_hints_at_starting_it():
    endpoint = connect().endpoint
    assert "ollama serve" in (endpoint.diagnose(ConnectionFailedError("no")).hint or "")
    assert endpoint.diagnose(ServerError("no")).hint is None
