"""The configuration: one TOML file, and the environment over it. What is wrong is an error with its line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from abstractcore import ConfigurationError, InvalidInputError
from abstractcore.server import Application, Settings, read_settings, server_services
from tests.server.fields import PAGE

WHOLE = """
[server]
host = "127.0.0.1"
port = 9000
hosts = ["llm.example"]
keys_env = ["MY_KEY", "NOT_SET"]
default = "openai/gpt-5.4-mini"

[limits]
body_bytes = 1000
call_seconds = 30

[providers.openai]
api_key_env = "MY_OPENAI_KEY"
base_url = "https://gateway.example/v1"
on_disconnect = "drain"
options.max_retries = 5

[providers.anthropic]
enabled = false

[models.fast]
models = "openai/gpt-5.4-mini"

[models."smart one"]
models = ["openai/gpt-5.4", "openai/gpt-4.1"]
"""
KEY = "correct-key-0123456789"


def read(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> Settings:
    file = tmp_path / "server.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(str(file), environment or {})


def checked(settings: Settings, environment: dict[str, str] | None = None) -> None:
    services = server_services(settings, environment=environment or {})
    try:
        Application(settings, services=services).state.llms.check()
    finally:
        services.close()


def test_whole_file_is_read(tmp_path: Path):
    settings = read(tmp_path, WHOLE, {"MY_KEY": f" {KEY} "})
    assert (settings.server.port, settings.server.hosts, settings.keys) == (9000, ("llm.example",), (KEY,))
    assert (settings.limits.body_bytes, settings.limits.call_seconds, settings.limits.choices) == (1000, 30.0, 8)
    openai = settings.providers["openai"]
    assert (openai.on_disconnect, openai.options) == ("drain", {"max_retries": 5})
    assert not settings.providers["anthropic"].enabled
    assert settings.models["fast"].models == ("openai/gpt-5.4-mini",)
    assert settings.models["smart one"].models == ("openai/gpt-5.4", "openai/gpt-4.1")
    checked(settings, {"MY_OPENAI_KEY": "sk-0123456789"})


def test_tables_in_the_documentation_are_valid(tmp_path: Path):
    blocks = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    settings = read(tmp_path, "".join(blocks), {"SHOP_TOKEN": "t", "SEARCH_KEY": "k"})
    assert settings.providers.keys() == {"openai", "vllm", "mistral"}
    assert settings.mcp.keys() == {"shop", "search"}
    assert settings.guards.keys() == {"privacy", "words", "kind"}
    checked(replace(settings, mcp={}, guards={}), {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})


def test_a_short_key_is_an_error_with_the_name_of_its_variable(tmp_path: Path):
    with pytest.raises(InvalidInputError, match=r"^MY_KEY: a key needs at least 16 characters"):
        read(tmp_path, WHOLE, {"MY_KEY": "secret"})


def test_keys_are_not_shown():
    assert KEY not in repr(read_settings(None, {"ABSTRACTCORE_SERVER_KEY": KEY}))


def test_environment_wins_over_the_file_and_given_values_over_both(tmp_path: Path):
    environment = {
        "ABSTRACTCORE_SERVER_PORT": "1234",
        "ABSTRACTCORE_SERVER_HOSTS": "a.example, b.example",
        "ABSTRACTCORE_SERVER_FETCH_URLS": "true",
        "ABSTRACTCORE_SERVER_LIMITS_CALL_SECONDS": "7",
        "ABSTRACTCORE_SERVER_DEFAULT": "openai/gpt-4.1",
    }
    settings = read(tmp_path, WHOLE, environment)
    assert (settings.server.port, settings.server.hosts) == (1234, ("a.example", "b.example"))
    assert settings.server.fetch_urls
    assert settings.limits.call_seconds == 7.0
    assert settings.server.default == "openai/gpt-4.1"
    assert read_settings(None, environment, {"port": 5}).server.port == 5


def test_file_is_named_by_the_environment_too(tmp_path: Path):
    (tmp_path / "x.toml").write_text("[server]\nport = 77\n")
    assert read_settings(None, {"ABSTRACTCORE_SERVER_CONFIG": str(tmp_path / "x.toml")}).server.port == 77


INVALID = [
    ("[server", 1, "not TOML"),
    ("[server]\nport = 1\n[servers]\n", 3, "there is no such table"),
    ("[server]\n\n  prot = 1\n", 3, "Did you mean port?"),
    ("[server]\nport = 'x'\n", 2, "expected a whole number, got 'x'"),
    ("[server]\nport = true\n", 2, "expected a whole number"),
    ("[server]\nport = 70000\n", 2, "must be at most 65535"),
    ("[limits]\nbody_bytes = 0\n", 2, "must be at least 1"),
    ("[limits]\ncall_seconds = 'soon'\n", 2, "expected a number"),
    ("[server]\nhosts = [1]\n", 2, "expected a list of texts"),
    ("server = 1\n", 1, "expected a table"),
    ("[providers]\nopenai = 1\n", 2, "expected a table"),
    ("[providers.openai]\n[providers.anthropic]\non_disconnect = 'wait'\n", 3, "'cancel' or 'drain'"),
    ("[providers.a]\nmodels = []\n[providers.openai]\noptions.api_key = 'sk-x'\n", 4, "api_key_env"),
    ("[models.fast]\n", 1, "it is missing"),
    ("[models.fast]\nmodels = []\n", 2, "at least one model"),
    ("[server]\nport = 1\ntls_key = 'x'\n", 1, "tls_certificate is not set"),
]


@pytest.mark.parametrize(("text", "line", "message"), INVALID, ids=[each[2] + str(i) for i, each in enumerate(INVALID)])
def test_invalid_files_name_the_line(tmp_path: Path, text: str, line: int, message: str):
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert f"server.toml:{line}:" in str(caught.value)
    assert message in str(caught.value)


UNUSABLE = [
    ("[providers.openia]\n", 1, "Did you mean openai?"),
    ("[server]\nport = 1\n[providers.openai]\n", 3, "no API key"),
    ("[providers.openai]\nbase_url = 'gateway'\n[providers.groq]\n", 1, "not a URL"),
    ("[providers.openai]\noptions.api_versoin = 'x'\n", 1, "api_versoin"),
    ("[models.fast]\nmodels = ['nowhere/x']\n", 2, "does not exist here"),
    ("[models.fast]\nmodels = ['openai/gpt-4.1', 'local/other']\n", 2, "does not exist here"),
]


@pytest.mark.parametrize(("text", "line", "message"), UNUSABLE)
def test_what_cannot_be_used_names_the_line(tmp_path: Path, text: str, line: int, message: str):
    with pytest.raises(ConfigurationError) as caught:
        checked(read(tmp_path, text))
    assert f"server.toml:{line}:" in str(caught.value)
    assert message in str(caught.value)


def test_missing_file_and_bad_environment_are_named():
    with pytest.raises(ConfigurationError, match="does not exist"):
        read_settings("/nowhere/x.toml", {})
    with pytest.raises(ConfigurationError, match=r"ABSTRACTCORE_SERVER_.*port.*whole number"):
        read_settings(None, {"ABSTRACTCORE_SERVER_PORT": "many"})
    with pytest.raises(InvalidInputError, match="16 characters"):
        read_settings(None, {"ABSTRACTCORE_SERVER_KEY": "short"})
