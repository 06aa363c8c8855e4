"""`[llm.NAME]` and `[providers.NAME]` of `config.toml`: what they add, and what has precedence over them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import LLM, AbstractCoreError, AuthenticationError, ConfigurationError, Price, Services, create_llm
from abstractcore.errors import BudgetExceededError, UnknownProviderError

Make = Callable[..., LLM]
KEY = {"OPENAI_API_KEY": "sk-of-the-environment"}


@pytest.fixture
def make(tmp_path: Path):
    """Creates an LLM with a configuration, by the arguments of `create_llm`."""
    path = tmp_path / "config.toml"
    made: dict[str, Services] = {}

    def create(text: str, *names: str, environment: dict[str, str] | None = None, **options: Any) -> LLM:
        key = f"{text}{environment}"
        if key not in made:
            path.write_text(text)
            made[key] = Services(environment={"ABSTRACTCORE_CONFIG": str(path), **(environment or {})})
        return create_llm(*names, services=made[key], **options)

    yield create
    for services in made.values():
        services.close()


FAST = """
[llm.fast]
model = "openai/gpt-5.4-mini"
options.temperature = 0.2
options.tags = { team = "search", stage = "test" }
"""


def test_name_stands_for_a_model_with_options(make: Make):
    llm = make(FAST, "fast", environment=KEY)
    assert (llm.provider, llm.model) == ("openai", "gpt-5.4-mini")
    call = llm.build("hi", tags={"stage": "live"})
    assert (call.sampling.temperature, dict(call.tags)) == (0.2, {"team": "search", "stage": "live"})


def test_what_the_program_passes_has_precedence(make: Make):
    assert make(FAST, "fast", environment=KEY, temperature=1).build("hi").sampling.temperature == 1
    assert make(FAST, "fast", environment=KEY, temperature=None).build("hi").sampling.temperature is None
    assert make(FAST, "fast", environment=KEY).build("hi", temperature=0).sampling.temperature == 0


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ('[llm.default]\nmodel = "openai/gpt-5.4"', (), "openai/gpt-5.4"),
        ('[llm.default]\nmodel = "fast"\n[llm.fast]\nmodel = "openai/gpt-5.4"', (), "openai/gpt-5.4"),
        ('[llm.fast]\nprovider = "openai"\nmodel = "gpt-5.4"', ("fast",), "openai/gpt-5.4"),
        ('[llm.fast]\nmodel = "openai/gpt-5.4"', (None, "fast"), "openai/gpt-5.4"),
        ('[llm.fast]\nmodel = "openai/gpt-5.4"', ("openai", "fast"), "openai/fast"),
        ('[llm.fast]\nmodel = "openai/gpt-5.4"', ("openai/fast",), "openai/fast"),
        ('[llm.fast]\nmodel = "openai/gpt-5.4"', ("scripted",), "scripted/scripted"),
    ],
)
def test_only_a_name_alone_is_that_of_a_table(make: Make, text: str, names: tuple[str, ...], found: str):
    options = {"replies": ["hi"]} if "scripted" in names else {}
    llm = make(text, *names, environment=KEY, **options)
    assert f"{llm.provider}/{llm.model}" == found


def test_llms_of_one_name_share_its_budget(make: Make):
    text = '[llm.cheap]\nmodel = "scripted/scripted"\n[llm.cheap.budget]\nusd = 1\nper = "day"'
    price = Price(input=10_000, output=10_000)
    spent = Decimal(0)
    for _ in range(2):
        response = make(text, "cheap", replies=["a"], price=price).generate("hi", max_output_tokens=5)
        assert response.cost
        spent += response.cost
    with pytest.raises(BudgetExceededError, match=r"llm\.cheap") as caught:
        make(text, "cheap", replies=["a"], price=price).generate("hi", max_output_tokens=200)
    assert caught.value.spent == spent


def test_copies_are_of_the_same_name(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert copy.copy(make(FAST, "fast", environment=KEY)).build("hi").sampling.temperature == 0.2
    path = tmp_path / "own.toml"
    path.write_text('[llm.hello]\nmodel = "scripted/scripted"\noptions.temperature = 0.5\n')
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(path))
    from abstractcore.client import services

    monkeypatch.setattr(services, "_shared", {})
    llm = pickle.loads(pickle.dumps(create_llm("hello", replies=["a"])))
    assert llm.build("hi").sampling.temperature == 0.5
    services.default_services().close()


PROVIDER = """
[providers.openai]
base_url = "https://gateway.example/v1"
headers.X-Team = "search"
api_key_env = "MY_KEY"
options.max_retries = 0
"""


def test_provider_is_reached_as_its_table_says(make: Make):
    llm = make(PROVIDER, "openai/gpt-5.4", environment={"MY_KEY": "sk-mine"})
    assert llm.endpoint.url == "https://gateway.example/v1"  # pyright: ignore[reportAttributeAccessIssue]
    assert llm.prepared("hi", {}).timeout == 600


@pytest.mark.parametrize(
    ("name", "text", "variables", "url"),
    [
        ("openai", PROVIDER, {"MY_KEY": "k", "OPENAI_BASE_URL": "https://env.example/v1"}, "https://env.example/v1"),
        ("ollama", '[providers.ollama]\nbase_url = "http://box:11434"', {}, "http://box:11434"),
        ("ollama", '[providers.ollama]\nbase_url = "http://box:11434"', {"OLLAMA_HOST": "a:1"}, "http://a:1"),
        (
            "azure",
            '[providers.azure]\nbase_url = "https://one.openai.azure.com"',
            {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://two.openai.azure.com"},
            "https://two.openai.azure.com/openai/v1",
        ),
        (
            "azure",
            '[providers.azure]\nbase_url = "https://one.openai.azure.com"',
            {"AZURE_OPENAI_API_KEY": "k"},
            "https://one.openai.azure.com/openai/v1",
        ),
    ],
)
def test_environment_has_precedence_over_the_file(
    make: Make, name: str, text: str, variables: dict[str, str], url: str
):
    llm = make(text, name, "m", environment=variables)
    assert llm.endpoint.url == url  # pyright: ignore[reportAttributeAccessIssue]
    given = make(text, name, "m", environment=variables, base_url="https://call.example/v1")
    assert str(given.endpoint.url).startswith("https://call.example")  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        (
            '[llm.a]\nmodel = "b"\n[llm.b]\nmodel = "a"',
            (),
            r":2:1: llm\.a\.model: the names lead in a circle: a -> b -> a",
        ),
        ('[llm.a]\nmodel = "a"', (), r"in a circle: a -> a"),
        ('[llm.openai]\nmodel = "b"', (), r":1:1: llm\.openai: it is the name of a provider"),
        ('[llm."a b"]\nmodel = "b"', (), r"it cannot be the name of an LLM"),
        ("[llm.a]\noptions.seed = 1", (), r"llm\.a\.model: `model` is required"),
        ("llm = 3", (), r":1:1: llm: expected a table, got 3"),
        ('[llm.a]\nmodle = "x/y"', (), r":2:1: llm\.a\.modle: there is no such setting"),
        ('[llm.a]\nmodel = "local"\ntemperature = 0', (), r":3:1: .* written as in options\.temperature = 0\.2\."),
        ("[providers.openai]\ntimeout = 9", (), r":2:1: .* written as in options\.temperature = 0\.2\."),
        (
            '[llm.a]\nmodel = "openai/x"\n[llm.a.budget]\nusd = -1',
            (),
            r":4:1: llm\.a\.budget\.usd: must not be neg",
        ),
        ('[llm.a]\nmodel = "openai/x"\noptions.api_key = "sk-1"', (), r":3:1: .*secrets are not allowed in this file"),
        ('[providers.opnai]\nbase_url = "x"', (), r":1:1: providers\.opnai: there is no such provider"),
        ('[providers.openai.headers]\nAuthorization = "Bearer x"', (), r"secrets are not allowed in this file"),
        ("[providers.openai.headers]\nX-A = 3", (), r":2:1: providers\.openai\.headers\.X-A: expected a string, got 3"),
        ("[providers.openai]\nbase_url = 'no url'", ("openai/x",), r":2:1: providers\.openai\.base_url: .*no url"),
        ('[llm.a]\nmodel = "bb"\n[llm.bbb]\nmodel = "x/y"', ("a",), r":2:1: llm\.a\.model: .*Did you mean bbb\?"),
        ("[llm.auto]\nmodel = 'x/y'", (), r":1:1: llm\.auto: create_llm\('auto'\) chooses a model itself"),
        ("[providers.openai]\napi_key_env = 'sk-1-is-a-key'", (), r":2:1: .*api_key_env: expected the name of a var"),
        ("[providers.openai]\napi_key_command = ''", (), r":2:1: .*api_key_command: expected a command"),
        ("[providers.openai]\napi_key_command = []", (), r":2:1: .*api_key_command: expected a command"),
        (
            '[providers.openai]\napi_key_command = "pass \'x"',
            (),
            r":2:1: .*api_key_command: it cannot be read",
        ),
        (
            '[llm.a]\nmodel = "openai/x"\noptions.temprature = 1',
            ("a",),
            r":3:1: llm\.a\.options\.temprature: the provider",
        ),
        ('[llm.a]\nmodel = "openai/x"\noptions.seed = "1"', ("a",), r":3:1: llm\.a\.options\.seed: expected"),
        (
            "[providers.openai]\noptions.max_retries = -1",
            ("openai/x",),
            r":2:1: providers\.openai\.options\.max_retries",
        ),
        ('[llm.a]\nmodel = "opnai/x"', ("a",), r":2:1: llm\.a\.model: no provider is called 'opnai'"),
    ],
)
def test_error_names_the_line(make: Make, text: str, names: tuple[str, ...], message: str):
    with pytest.raises(ConfigurationError, match=rf"config\.toml{message}" if message[0] == ":" else message) as caught:
        make(text, *(names or ("scripted",)), environment=KEY)
    assert "sk-1" not in str(caught.value)


def test_problem_is_reported_once(make: Make):
    with pytest.raises(ConfigurationError) as caught:
        make("llm = 3", "scripted")
    assert str(caught.value).count("expected a table") == 1


def test_variable_without_a_key_is_named_with_its_line_as_a_missing_key(make: Make):
    with pytest.raises(
        AuthenticationError, match=r":5:1: providers\.openai\.api_key_env: the environment variable is not set"
    ):
        make(PROVIDER, "openai/x")


def test_none_of_the_program_has_precedence_over_every_table(make: Make):
    text = """
[providers.scripted]
options.temperature = 0.1
options.max_output_tokens = 5
options.headers.X-Options = "o"
headers.X-Provider = "p"
limits.parallel = 1

[llm.a]
model = "scripted/scripted"
options.temperature = 0.2
options.replies = ["x"]
options.headers.X-Named = "n"
"""
    call = make(text, "a").build("hi")
    assert (call.sampling.temperature, call.sampling.max_output_tokens) == (0.2, 5)
    assert make(text, "a", temperature=None).build("hi").sampling.temperature is None
    assert make(text, "a", temperature=0.3).build("hi", temperature=0.4).sampling.temperature == 0.4
    sent: list[Any] = []

    class Watching:
        async def around_call(self, context: Any, next: Any) -> Any:
            sent.append(context.headers)
            return await next(context)

    make(text, "a", middleware=[Watching()]).generate("hi")
    assert sent == [{"x-provider": "p", "x-options": "o", "x-named": "n"}]


def test_all_problems_are_found_at_once(make: Make):
    with pytest.raises(ConfigurationError) as caught:
        make("[llm.a]\nmodle = 1\n[providers.opnai]\n[media_policy]\nimage = 3", "scripted")
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == [
        "media_policy.image",
        "llm.a.modle",
        "providers.opnai",
    ]


@pytest.mark.parametrize(
    ("name", "error", "hint"),
    [("fsat", UnknownProviderError, "Did you mean fast?"), ("fast", AuthenticationError, "Set OPENAI_API_KEY")],
)
def test_other_errors_stay_what_they_are(make: Make, name: str, error: type[AbstractCoreError], hint: str):
    with pytest.raises(error) as caught:
        make(FAST, name)
    assert hint in str(caught.value)
