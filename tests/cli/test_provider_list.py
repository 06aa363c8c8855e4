"""`abstractcore providers`, and what `create_llm("auto")` chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore import (
    AuthenticationError,
    ConnectionFailedError,
    FallbackExhaustedError,
    InvalidInputError,
    MemberFailure,
    OverloadedError,
    Services,
    create_llm,
    provider_states,
)
from abstractcore.testing.http_server import ScriptedServer, answer
from abstractcore_cli.app import app
from abstractcore_cli.exit_codes import exit_code
from tests.chaos_server import HANG, completion

KEY = "sk-canary-1234567890"


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server of this machine that has a model, at the address of Ollama."""
    with ScriptedServer() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        ollama.always(answer({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}))
        yield ollama


def listed() -> dict[str, Any]:
    result = CliRunner().invoke(app, ["providers", "--json"])
    assert result.exit_code == 0
    return json.loads(result.output)


def test_key_of_the_environment_is_chosen_first_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, ollama: ScriptedServer
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    result = CliRunner().invoke(app, ["providers"])
    assert KEY not in result.output
    rows = [line.split("\t") for line in result.output.splitlines() if "\t" in line]
    by_name = {row[1]: row for row in rows}
    assert by_name["openai"][:3] == ["*", "openai", "set"]
    assert by_name["anthropic"][2] == "not set"
    assert by_name["ollama"][2:5] == ["not needed", ollama.url, "1 model"]
    keys = {name: by_name[name][2] for name in ("azure", "bedrock", "local", "openai-compatible", "vertex")}
    assert keys == {
        "azure": "not set up",
        "bedrock": "credentials",
        "local": "not needed",
        "openai-compatible": "not set up",
        "vertex": "not set up",
    }
    found = listed()
    assert re.fullmatch(r"openai/gpt-[\w.-]+", found["auto"])


def test_server_on_this_machine_is_chosen_without_a_key(ollama: ScriptedServer):
    assert listed()["auto"] == "ollama/qwen3:8b"
    services = Services(environment={"OLLAMA_HOST": ollama.url})
    llm = create_llm("auto", services=services)
    assert repr(llm) == "LLM(auto: chosen at the first call)"
    assert len(ollama.requests) > 0
    assert llm.members[0].model == "qwen3:8b"
    assert repr(llm) == f"LLM(auto: ollama/qwen3:8b, since ollama answers at {ollama.url})"
    services.close()


@pytest.mark.parametrize(
    ("variables", "provider", "problem"),
    [
        ({"OPENAI_API_KEY": "sk canary"}, "openai", "the API key for openai has characters a key cannot have"),
        ({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "canary"}, "openai", "OPENAI_BASE_URL 'canary' is not a URL"),
        ({"OLLAMA_HOST": "http://[canary"}, "ollama", "OLLAMA_HOST"),
    ],
)
def test_provider_that_is_set_up_wrongly_is_named_with_its_problem(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], provider: str, problem: str
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = listed()
    assert found["auto"].startswith("local/")
    states = {each["name"]: each["problem"] for each in found["providers"]}
    assert problem in states[provider]
    assert states["anthropic"] is None
    assert f"{provider} cannot be used: " in CliRunner().invoke(app, ["providers"]).output
    services = Services(environment=variables)
    llm = create_llm("auto", services=services)
    assert llm.members[0].provider == "local"
    assert problem in repr(llm)
    services.close()


@pytest.mark.parametrize("value", ["", "  "])
def test_empty_key_is_none(value: str):
    services = Services(environment={"OPENAI_API_KEY": value})
    (state,) = (each for each in provider_states(services) if each.name == "openai")
    assert (state.needs_key, state.has_key, state.problem) == (True, False, None)
    services.close()


def test_provider_of_a_broken_plugin_is_named_and_others_are_found(monkeypatch: pytest.MonkeyPatch):
    services = Services(environment={})
    broken = services.registry.provider("groq", None)

    def connect(*arguments: object) -> Any:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(type(broken), "connect", connect)
    states = {each.name: each for each in provider_states(services)}
    assert "RuntimeError: a mistake" in (states["groq"].problem or "")
    services.close()


SILENT = (HANG, b"H" * 5, b"<html>", b"\x00\xff" * 100)


@pytest.mark.parametrize("sent", SILENT)
def test_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, sent: Any):
    with ScriptedServer() as server:
        server.always(sent, HANG)
        services = Services(environment={"OLLAMA_HOST": server.url})
        (state,) = (each for each in provider_states(services) if each.name == "ollama")
        assert not state.answers
        services.close()


def test_embedded_model_is_chosen_without_anything_else():
    llm = create_llm("auto", services=Services(environment={}), temperature=0.5)
    assert llm.members[0].provider == "local"
    assert "no key and no server" in repr(llm)


def test_options_of_auto_hold_for_the_model_that_is_chosen(monkeypatch: pytest.MonkeyPatch):
    with ScriptedServer() as server:
        server.always(completion("hello"))
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1"}
        services = Services(environment=environment)
        llm = create_llm("auto", services=services, temperature=0.25)
        response = llm.generate("hi")
        assert (response.content, response.provider) == ("hello", "openai")
        assert llm.generate("hi").warnings == response.warnings
        llm.close()
        services.close()


def test_auto_takes_no_model_and_no_address():
    with pytest.raises(InvalidInputError, match="the model is chosen"):
        create_llm("auto", "gpt-5.4")
    with pytest.raises(InvalidInputError, match="base_url"):
        create_llm("auto", base_url="http://localhost")
    with pytest.raises(InvalidInputError, match="timeout"):
        provider_states(timeout=-1)


def test_exit_code_of_a_group_is_that_of_the_last_member_that_was_asked():
    failures = [MemberFailure("a/b", OverloadedError("busy")), MemberFailure("c/d", ConnectionFailedError("refused"))]
    error = FallbackExhaustedError("none answered", causes=failures)
    assert exit_code(error) == exit_code(ConnectionFailedError("refused"))
    left_alone = MemberFailure("e/f", AuthenticationError("bad key", status=401), is_sent=False)
    assert exit_code(FallbackExhaustedError("none", causes=[*failures, left_alone])) == exit_code(error)
    assert exit_code(FallbackExhaustedError("none", causes=[left_alone])) == 3
