"""The configuration: one TOML file, and the environment over it. What is wrong is an error with its line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from abstractcore import ConfigurationError, InvalidInputError
from abstractcore.registry import Registry
from abstractcore_providers.vendors.openai_compatible import VENDORS
from abstractcore_server import Application, ServerSettings, Settings, read_settings, server_services
from abstractcore_server.configuration.reading import unknown_variables
from tests.documents import ROOT

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
EVERYTHING = {
    "AWS_BEARER_TOKEN_BEDROCK": "k",
    "AWS_REGION": "us-east-1",
    "GOOGLE_CLOUD_PROJECT": "p",
    **{preset.key_variable: "k" for preset in VENDORS},
    **dict.fromkeys(("ANTHROPIC_API_KEY", "CO_API_KEY", "GEMINI_API_KEY"), "k"),
}
"""An environment in which every provider is set up."""


def read(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> Settings:
    file = tmp_path / "server.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(str(file), environment or {})


def checked(settings: Settings, environment: dict[str, str] | None = None) -> None:
    services = server_services(settings, environment=environment or {})
    try:
        Application(settings, services=services).check()
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


def test_tables_in_the_documentation_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    certificate = trustme.CA().issue_cert("llm.example.com")
    certificate.cert_chain_pems[0].write_to_path("cert.pem")
    certificate.private_key_pem.write_to_path("key.pem")
    names = ("server.md", "server-setup.md", "server-calls.md")
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in names)
    blocks = re.findall(r"^```toml\n(.*?)^```", pages, re.DOTALL | re.MULTILINE)
    settings = read(tmp_path, "".join(blocks), {"ABSTRACTCORE_SERVER_KEY": KEY})
    assert settings.providers.keys() == {"openai", "vllm", "mistral"}
    assert settings.mcp.keys() == {"shop", "search"}
    assert settings.guards.keys() == {"privacy", "words", "kind"}
    checked(replace(settings, mcp={}, guards={}), {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})


REACHED = """
[providers.anthropic]
base_url = "https://api.anthropic.com"
[providers.google]
base_url = "https://generativelanguage.googleapis.com"
[providers.openai]
base_url = "https://gateway.example"
[providers.openai-compatible]
base_url = "https://gateway.example/a1b2c3d4e5f6a7b8c9d0e1f2"
[providers.vllm]
base_url = "http://10.0.0.5:8000"
[providers.mistral]
enabled = false
"""


def test_check_reports_the_urls_of_calls_and_what_to_write(tmp_path: Path):
    environment = {"OPENROUTER_API_KEY": "k", "TOGETHER_API_KEY": "k", "TOGETHER_BASE_URL": "https://gateway.example/t"}
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "OPENAI_API_KEY"), "k")
    services = server_services(read(tmp_path, REACHED), environment={**environment, **keys})
    lines = Application(read(tmp_path, REACHED), services=services).addresses()
    services.close()
    usual = "The base URL of this API usually ends with /v1"
    assert lines == [
        "calls of anthropic go to https://api.anthropic.com/v1/messages.",
        "calls of google go to https://generativelanguage.googleapis.com/v1beta/models/any:generateContent.",
        f"calls of openai go to https://gateway.example/chat/completions. {usual}: "
        'try base_url = "https://gateway.example/v1".',
        f"calls of openai-compatible go to https://gateway.example/***/chat/completions. {usual}.",
        f"calls of together go to https://gateway.example/t/chat/completions. {usual}.",
        "calls of vllm go to http://10.0.0.5:8000/v1/chat/completions.",
    ]


def test_check_reports_a_url_for_each_provider_that_is_reached_over_http(tmp_path: Path):
    names = sorted({*Registry.from_entry_points().providers} - {"local", "scripted"})
    tables = "".join(f'[providers.{name}]\nbase_url = "https://gateway.example/v1"\n' for name in names)
    settings = read(tmp_path, tables)
    services = server_services(settings, environment=EVERYTHING)
    lines = Application(settings, services=services).addresses()
    services.close()
    assert [line.split()[2] for line in lines] == names
    assert all("https://gateway.example/" in line for line in lines)
    assert len(names) == 51


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
        "MY_KEY": KEY,
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
    ("[server]\nport = 'x'\n", 2, "expected an integer, got 'x'"),
    ("[server]\nport = true\n", 2, "expected an integer"),
    ("[server]\nport = 70000\n", 2, "must be at most 65535"),
    ("[limits]\nbody_bytes = 0\n", 2, "must be at least 1"),
    ("[limits]\ncall_seconds = 'soon'\n", 2, "expected a number"),
    ("[server]\nhosts = [1]\n", 2, "expected a list of strings"),
    ("server = 1\n", 1, "expected a table"),
    ("[providers]\nopenai = 1\n", 2, "expected a table"),
    ("[providers.openai]\n[providers.anthropic]\non_disconnect = 'wait'\n", 3, "'cancel' or 'drain'"),
    ("[providers.a]\nmodels = []\n[providers.openai]\noptions.api_key = 'sk-x'\n", 4, "api_key_env"),
    ("[models.fast]\n", 1, "`models` is required"),
    ("[models.fast]\nmodels = []\n", 2, "at least one model"),
    ("[server]\nport = 1\ntls_key = 'x'\n", 1, "tls_certificate is not set"),
    ("[server]\ntls_certificate = 'nowhere.pem'\ntls_key = 'x'\n", 2, "nowhere.pem cannot be read"),
    ("[server]\nport = 1\naudit_log = '/nowhere/a.log'\n", 3, "the folder /nowhere does not exist"),
    ("[server]\nport = 1\nreceipts = '/dev/null/x'\n", 3, "/dev/null is not a folder"),
    ("[server]\nhosts = ['https://llm.example']\n", 2, "Write the name alone"),
    ("[server]\nkeys_env = ['NOT_SET']\n", 2, "none of these variables of the environment is set"),
    ("port = 1\n", 1, "Write it below a line [server]"),
]


@pytest.mark.parametrize(("text", "line", "message"), INVALID, ids=[each[2] + str(i) for i, each in enumerate(INVALID)])
def test_invalid_files_name_the_line(tmp_path: Path, text: str, line: int, message: str):
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert f"server.toml:{line}:" in str(caught.value)
    assert message in str(caught.value)


def test_all_that_is_wrong_is_reported_at_once(tmp_path: Path):
    text = "[server]\nprot = 1\nport = 'x'\n[limits]\nrequests = 0\n[models.a]\n[providers.openai]\nenabled = 'no'\n"
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert re.findall(r"server\.toml:(\d+):", str(caught.value)) == ["2", "3", "5", "8", "6"]
    text = "[server]\ndefault = 'x/y'\n[models.a]\nmodels = ['x/y']\n[providers.openia]\n"
    with pytest.raises(ConfigurationError) as caught:
        checked(read(tmp_path, text))
    assert re.findall(r"server\.toml:(\d+):", str(caught.value)) == ["5", "2"]
    with pytest.raises(ConfigurationError) as caught:
        checked(read(tmp_path, "".join(f"[models.a{number}]\nmodels = ['none']\n" for number in range(50))))
    assert len(re.findall(r"server\.toml:\d+:1: models\.a\d+\.models: there is no model", str(caught.value))) == 50
    environment = {"ABSTRACTCORE_SERVER_PORT": "many", "ABSTRACTCORE_SERVER_LIMITS_REQUESTS": "0"}
    with pytest.raises(ConfigurationError, match=r"SERVER_PORT: expected an integer.*\n.*REQUESTS: must be at least 1"):
        read_settings(None, environment)


def test_a_certificate_of_another_key_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    issuer = trustme.CA()
    issuer.issue_cert("a.example").cert_chain_pems[0].write_to_path("cert.pem")
    issuer.issue_cert("b.example").private_key_pem.write_to_path("key.pem")
    with pytest.raises(ConfigurationError, match=r"cert\.pem and key\.pem cannot be used: key values mismatch"):
        read(tmp_path, "[server]\ntls_certificate = 'cert.pem'\ntls_key = 'key.pem'\n")


UNUSABLE = [
    ("[providers.openia]\n", 1, "Did you mean openai?"),
    (
        "[server]\nport = 1\n[providers.openai]\n",
        3,
        'Set OPENAI_API_KEY, or name another variable: api_key_env = "NAME"',
    ),
    ("[providers.openai]\napi_key_env = 'sk-0123456789'\n", 2, "the name of a variable, not the key itself"),
    ("[providers.openai]\nbase_url = 'gateway'\n[providers.groq]\n", 2, "not a URL"),
    ("[providers.openai]\noptions.api_versoin = 'x'\n", 2, "api_versoin"),
    ("[models.fast]\nmodels = ['openia/x']\n", 2, "Did you mean openai? Write PROVIDER/MODEL"),
    ("[models.fast]\nmodels = ['openai/gpt-4.1', 'local']\n", 2, "'openai/gpt-4.1' cannot be used: no API key."),
    ("[models.fast]\nmodels = ['local/other']\n", 2, "[providers.local] models = ['other']"),
    ("[models.fast]\nmodels = ['default']\n[models.slow]\nmodels = ['fast']\n", 4, "a name of [models], not a model"),
    ("[server]\ndefault = 'openia/x'\n", 2, "Did you mean openai?"),
    ("[server]\ndefault = 'openai/x'\n", 2, "Set OPENAI_API_KEY"),
    ("[server]\ndefault = 'fast'\n[models.fast]\nmodels = ['default']\n", 2, "Name the table [models.default]"),
]


@pytest.mark.parametrize(("text", "line", "message"), UNUSABLE)
def test_what_cannot_be_used_names_the_line(tmp_path: Path, text: str, line: int, message: str):
    with pytest.raises(ConfigurationError) as caught:
        checked(read(tmp_path, text))
    assert f"server.toml:{line}:" in str(caught.value)
    assert "sk-0123456789" not in str(caught.value)
    assert message in str(caught.value)


def test_variables_that_are_no_settings_are_found():
    names = ("PORT", "CONFIG", "KEY", "LIMITS_REQUESTS", "LIMIT_REQUESTS", "SERVICE_HOST", "OWN_KEY", "OTHER_KEY")
    environment = {f"ABSTRACTCORE_SERVER_{name}": "1" for name in names} | {"ABSTRACTCORE_SERVERS": "1"}
    settings = Settings(server=ServerSettings(keys_env=("ABSTRACTCORE_SERVER_OWN_KEY",)))
    found = [name.removeprefix("ABSTRACTCORE_SERVER_") for name in unknown_variables(environment, settings)]
    assert found == ["LIMIT_REQUESTS", "OTHER_KEY", "SERVICE_HOST"]


def test_missing_file_and_bad_environment_are_named():
    with pytest.raises(ConfigurationError, match="does not exist"):
        read_settings("/nowhere/x.toml", {})
    with pytest.raises(ConfigurationError, match=r"^ABSTRACTCORE_SERVER_PORT: expected an integer"):
        read_settings(None, {"ABSTRACTCORE_SERVER_PORT": "many"})
    with pytest.raises(InvalidInputError, match="16 characters"):
        read_settings(None, {"ABSTRACTCORE_SERVER_KEY": "short"})


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        ('order = "second"', "routing.order: expected 'first' or 'cheapest'"),
        ("cooldown = 0", "routing.cooldown: expected a number of seconds above 0"),
        ("hedge_after = 2", "routing.hedge_after: a server sends an answer while it is made"),
        ("stiky = false", "routing.stiky: there is no such setting. Did you mean sticky"),
        ('sticky = "session"', "routing.sticky: expected true or false"),
        ("member_timeout = 0", "routing.member_timeout: expected a number of seconds above 0"),
        ('fall_back_on = ["all"]', "routing.fall_back_on"),
    ],
)
def test_wrong_routing_of_a_group_names_the_setting(tmp_path: Path, routing: str, message: str):
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, f'[models.smart]\nmodels = ["openai/a", "openai/b"]\nrouting = {{ {routing} }}')
