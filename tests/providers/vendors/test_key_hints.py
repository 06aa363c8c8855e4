"""A rejected key: the error names its source, and never shows it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from abstractcore import AuthenticationError, Services, create_llm
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.chaos_server import answer
from tests.providers.operations import ask

KEY = "sk-canary-0123456789"
PRESETS = [preset for preset in VENDORS if preset.key_variable]
VARIABLES = [
    *((preset.name, preset.key_variable) for preset in PRESETS),
    ("anthropic", "ANTHROPIC_API_KEY"),
    ("openai-responses", "OPENAI_API_KEY"),
    ("cohere", "CO_API_KEY"),
    ("google", "GEMINI_API_KEY"),
    ("google", "GOOGLE_API_KEY"),
    ("ollama", "OLLAMA_API_KEY"),
    ("bedrock", "AWS_BEARER_TOKEN_BEDROCK"),
    ("azure", "AZURE_OPENAI_AD_TOKEN"),
]
REFUSED = answer({"error": {"message": f"no {KEY}"}, "message": f"no {KEY}"}, 401)
OPTIONS: dict[str, dict[str, Any]] = {"bedrock": {"region": "us-east-1"}}


def hint(server, call_style, provider: str, environment: dict[str, str], **options: Any) -> str:
    """Returns the hint of the error of a rejected call."""
    with closing(Services(environment={"NO_PROXY": "*", **environment})) as services:
        llm = create_llm(
            provider,
            model="m",
            base_url=f"{server.url}/v1",
            services=services,
            **OPTIONS.get(provider, {}),
            **options,
        )
        server.script(REFUSED)
        with pytest.raises(AuthenticationError) as caught:
            ask(llm, call_style)
    assert caught.value.status == 401
    if KEY in str((environment, options)):
        assert KEY not in str(caught.value)
    assert caught.value.hint is not None
    return caught.value.hint


@pytest.mark.parametrize(("provider", "variable"), VARIABLES)
def test_hint_names_the_variable_that_the_key_came_from(call_style, server, provider, variable):
    said = hint(server, call_style, provider, {variable: KEY})
    assert said.startswith(f"Check {variable}")


@pytest.mark.parametrize(("provider", "variable"), [pair for pair in VARIABLES if pair[0] != "azure"])
def test_hint_names_the_option_of_a_passed_key(call_style, server, provider, variable):
    said = hint(server, call_style, provider, {variable: "sk-other"}, api_key=KEY)
    assert said.startswith("Check the key passed as api_key=...; without it, ")


def test_hint_names_the_option_of_a_passed_token(call_style, server):
    for provider, options in (("azure", {}), ("vertex", {"project": "p"})):
        assert hint(server, call_style, provider, {}, access_token=KEY, **options) == "Check access_token=..."


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if not preset.key_needed], ids=lambda each: each.name)
def test_hint_names_the_variable_that_a_key_would_be_read_from(call_style, server, preset):
    assert hint(server, call_style, preset.name, {}) == f"Set {preset.key_variable}, or pass api_key=..."


def test_hint_names_the_headers_option_of_a_key_in_a_header(call_style, server):
    said = hint(server, call_style, "openai", {}, headers={"authorization": f"Bearer {KEY}"})
    assert said == "Check the credentials in headers=..., or set OPENAI_API_KEY, or pass api_key=..."


def test_rejecting_ollama_server_hints_at_sign_in(call_style, server):
    said = hint(server, call_style, "ollama", {})
    assert "ollama signin" in said
    assert "OLLAMA_API_KEY" in said
