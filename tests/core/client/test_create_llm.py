"""`create_llm`: accepted arguments, errors with hints, and no I/O."""

from __future__ import annotations

import subprocess
import sys
import traceback

import pytest

from abstractcore import (
    AuthenticationError,
    ConfigurationError,
    InvalidInputError,
    Services,
    UnknownOptionError,
    UnknownProviderError,
    create_llm,
)
from tests.chaos_server import completion

CANARY = "sk-canary-0123456789"


def test_model_is_given_as_argument_or_after_the_provider_name(services):
    for llm in (
        create_llm("openai", model="gpt-5", api_key="k", services=services),
        create_llm("openai", "gpt-5", api_key="k", services=services),
        create_llm("openai/gpt-5", api_key="k", services=services),
    ):
        assert (llm.provider, llm.model, repr(llm)) == (
            "openai",
            "gpt-5",
            "LLM(openai/gpt-5 at https://api.openai.com/v1)",
        )


def test_model_name_may_contain_slashes(services):
    llm = create_llm("openai-compatible/org/model", base_url="http://localhost", services=services)
    assert (llm.provider, llm.model) == ("openai-compatible", "org/model")


def test_model_alone_may_name_its_provider_and_a_path_of_weights_does_not(services, tmp_path, monkeypatch):
    llm = create_llm(model="openai-compatible/org/model", base_url="http://localhost", services=services)
    assert (llm.provider, llm.model) == ("openai-compatible", "org/model")
    (tmp_path / "openai").mkdir()
    (tmp_path / "openai" / "small.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    llm = create_llm(model="openai/small.gguf", services=services)
    assert (llm.provider, llm.model) == ("local", "openai/small.gguf")


def test_provider_with_a_typo_before_a_model_is_named(services):
    with pytest.raises(UnknownProviderError, match="no provider is called 'opnai'") as caught:
        create_llm(model="opnai/gpt-5", services=services)
    assert caught.value.hint == "Did you mean openai?"


@pytest.mark.parametrize(
    "model",
    ["./opnai/weights", "~/opnai/weights", "/opnai/weights", "opnai/small.GGUF", "hf:opnai/weights", "acme/a"],
)
def test_names_of_weights_with_a_slash_have_no_provider(services, model):
    assert create_llm(model=model, services=services).model == model


def test_folder_of_weights_may_be_called_nearly_as_a_provider(services, tmp_path, monkeypatch):
    (tmp_path / "opnai" / "small").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert create_llm(model="opnai/small", services=services).provider == "local"


@pytest.mark.parametrize("provider", [None, "openai"])
def test_model_that_is_no_text_is_an_error(provider):
    with pytest.raises(InvalidInputError, match="expected a name, got int") as caught:
        create_llm(provider, model=7)
    assert caught.value.path == "model"


def test_two_model_names_are_an_error():
    with pytest.raises(InvalidInputError, match="two models"):
        create_llm("openai/gpt-5", model="gpt-4o")


def test_default_is_the_embedded_model(services):
    assert create_llm(services=services).provider == "local"


@pytest.mark.parametrize("name", ["opnai", "OpenAI", "open-ai"])
def test_unknown_provider_suggests_the_closest_name_only(name):
    with pytest.raises(UnknownProviderError, match=r"Did you mean openai\?$"):
        create_llm(name, model="m")


@pytest.mark.parametrize("name", ["xyzzy", "aws", "hub", ""])
def test_unknown_provider_without_similar_names_lists_all(name):
    names = ", ".join(sorted(Services().registry.providers))
    with pytest.raises(UnknownProviderError, match=f"The names are {names}\\."):
        create_llm(name, model="m")


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (("openai:gpt-5",), "openai/gpt-5"),
        (("ollama:llama3:8b",), "ollama/llama3:8b"),
        (("openrouter:openai/gpt-5",), "openrouter/openai/gpt-5"),
    ],
)
def test_colon_before_the_model_hints_at_the_slash(given, written):
    with pytest.raises(UnknownProviderError) as caught:
        create_llm(*given)
    assert caught.value.hint == f'Use a slash instead of the colon: create_llm("{written}").'


def test_name_must_be_a_string():
    with pytest.raises(InvalidInputError, match="provider"):
        create_llm(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "nearest"), [("temprature", "temperature"), ("max_token", "max_output_tokens"), ("apikey", "api_key")]
)
def test_unknown_option_suggests_similar_names(option, nearest):
    with pytest.raises(UnknownOptionError, match=f"Did you mean .*{nearest}"):
        create_llm("openai", model="m", **{option: 1})


def test_unknown_option_is_a_type_error():
    with pytest.raises(TypeError):
        create_llm("openai", model="m", colour="red")  # type: ignore[call-arg]


def test_option_of_another_provider_is_an_error():
    with pytest.raises(UnknownOptionError, match="replies"):
        create_llm("openai", model="m", replies=[])


def test_option_none_equals_omitted(call_style):
    options = ("stop", "media_policy", "tool_choice", "base_url", "api_key", "max_retries", "middleware", "proxy")
    llm = create_llm("scripted", replies=["a"], **dict.fromkeys(options))
    assert call_style.generate(llm, "hi").content == "a"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("temperature", "hot"),
        ("max_output_tokens", 0),
        ("stop", [""]),
        ("media_policy", {"smell": "auto"}),
        ("tool_choice", "maybe"),
        ("timeout", 0),
        ("timeout", "5"),
        ("timeout", float("nan")),
        ("timeout", float("inf")),
        ("max_retries", -1),
        ("max_retries", "3"),
        ("max_retries", True),
    ],
)
def test_invalid_default_is_refused_at_creation(option, value):
    with pytest.raises(InvalidInputError) as caught:
        create_llm("scripted", replies=[], **{option: value})
    assert caught.value.path == option


def test_timeout_none_means_no_limit(call_style):
    assert call_style.generate(create_llm("scripted", replies=["a"], timeout=None), "hi").content == "a"
    assert call_style.generate(create_llm("scripted", replies=["a"], timeout=5), "hi", timeout=None).content == "a"


@pytest.mark.parametrize("accepts", ["image", 3])
def test_accepts_must_be_a_list(accepts):
    with pytest.raises(ConfigurationError, match="list"):
        create_llm("scripted", replies=[], accepts=accepts)


@pytest.mark.parametrize("replies", ["hello", 3])
def test_replies_must_be_a_list(replies):
    with pytest.raises(ConfigurationError, match="list"):
        create_llm("scripted", replies=replies)


@pytest.mark.parametrize("name", ["openai", "openai/", "openai-compatible"])
def test_missing_model_is_an_error(name, services):
    with pytest.raises(ConfigurationError, match="model"):
        create_llm(name, api_key="k", base_url="http://localhost", services=services)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "http:///v1",
        "http://[::1",
        "http://localhost:99999",
        "http://localhost:port",
        f"ftp://user:{CANARY}@localhost",
    ],
)
def test_invalid_base_url_is_refused_without_showing_its_password(url, services):
    with pytest.raises(ConfigurationError, match="is not a URL") as caught:
        create_llm("openai-compatible", model="m", base_url=url, services=services)
    assert CANARY not in error_text(caught.value)


def test_base_url_with_a_query_is_refused(services):
    with pytest.raises(ConfigurationError, match="base_url has a query") as caught:
        create_llm("openai-compatible", model="m", base_url=f"http://host.test/v1?key={CANARY}", services=services)
    assert CANARY not in error_text(caught.value)


def test_base_url_with_a_password_is_refused(services):
    with pytest.raises(ConfigurationError, match="base_url has a user name or password") as caught:
        create_llm("openai-compatible", model="m", base_url=f"http://user:{CANARY}@host.test/v1", services=services)
    assert CANARY not in error_text(caught.value)


def test_missing_base_url_is_an_error(services):
    with pytest.raises(ConfigurationError, match="base_url"):
        create_llm("openai-compatible", model="m", services=services)


# Keys


def error_text(error: BaseException) -> str:
    """All that an error says, with its causes."""
    texts = traceback.format_exception(error)
    each: BaseException | None = error
    while each is not None:
        texts += [str(each), repr(each), repr(each.args), repr(vars(each))]
        each = each.__cause__ or each.__context__
    return "\n".join(texts)


@pytest.mark.parametrize(
    "key",
    [
        f"{CANARY} x",
        f"{CANARY}\nx",
        f"{CANARY}\r\nx-evil: 1",
        f"{CANARY}\x00",
        f"{CANARY}\u00e9",
        f"\u201c{CANARY}\u201d",
        f"{CANARY}\udc80",
    ],
)
def test_key_with_characters_invalid_in_headers_is_refused_and_never_shown(key, services):
    with pytest.raises(ConfigurationError, match="API key") as caught:
        create_llm("openai", model="m", api_key=key, services=services)
    assert CANARY not in error_text(caught.value)


@pytest.mark.parametrize("key", [f"{CANARY}\n", f" {CANARY}", f"{CANARY}\r\n", f"\t{CANARY} "])
def test_white_space_around_a_key_is_stripped(call_style, server, connect, key):
    server.script(completion())
    call_style.generate(connect(api_key=key), "hi")
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


@pytest.mark.parametrize("key", ["", " ", "\n", None])
def test_empty_key_counts_as_missing(call_style, server, connect, services, key):
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        create_llm("openai", model="m", api_key=key, services=services)
    server.script(completion())
    call_style.generate(connect(api_key=key), "hi")
    assert "authorization" not in server.requests[0].headers


def test_environment_key_is_read_at_creation_only(call_style, server):
    environment = {"OPENAI_COMPATIBLE_API_KEY": "first"}
    services = Services(environment=environment)
    llm = create_llm("openai-compatible", model="m", base_url=server.url, services=services)
    environment["OPENAI_COMPATIBLE_API_KEY"] = "second"
    server.always(completion())
    call_style.generate(llm, "hi")
    del environment["OPENAI_COMPATIBLE_API_KEY"]
    call_style.generate(llm, "hi")
    services.close()
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer first"] * 2


def test_api_key_option_overrides_the_environment(call_style, server):
    services = Services(environment={"OPENAI_COMPATIBLE_API_KEY": "environment"})
    llm = create_llm("openai-compatible", model="m", base_url=server.url, services=services, api_key="given")
    server.script(completion())
    call_style.generate(llm, "hi")
    services.close()
    assert server.requests[0].headers["authorization"] == "Bearer given"


NO_IO = """
import sys
from abstractcore import create_llm

def create_all():
    create_llm()
    create_llm("scripted", replies=["a"])
    create_llm("openai", model="gpt-5", api_key="k")
    create_llm("openai-compatible", model="m", base_url="https://host.test/v1", proxy="http://proxy.test:1")

create_all()
seen = []
sys.addaudithook(lambda name, arguments: seen.append((name, arguments)))
create_all()
print([event for event in seen if event[0].partition(".")[0] not in ("object", "builtins", "sys", "code", "compile")])
"""


@pytest.mark.process
def test_creating_an_llm_does_no_io():
    """The first creation loads modules; after that there is nothing to be seen."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", NO_IO], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.stdout, result.stderr) == ("[]\n", "")
