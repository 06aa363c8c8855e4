"""`models`, `routing` and `limits` of `config.toml`, `[auto]`, and keys that a command prints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abstractcore import LLM, AuthenticationError, ConfigurationError, LimitExceededError, Services, create_llm
from abstractcore.client.key_commands import KeyCommand
from abstractcore.testing.http_server import answer
from tests.chaos_server import completion, failure

Make = Callable[..., LLM]
KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}


@pytest.fixture
def make(tmp_path: Path):
    """Creates an LLM with a configuration, by the arguments of `create_llm`."""
    path = tmp_path / "config.toml"
    made: dict[str, Services] = {}

    def create(text: str, *names: str, environment: dict[str, str] = KEYS, **options: Any) -> LLM:
        key = f"{text}{environment}"
        if key not in made:
            path.write_text(text)
            made[key] = Services(environment={"ABSTRACTCORE_CONFIG": str(path), **environment})
        return create_llm(*names, services=made[key], **options)

    yield create
    for services in made.values():
        services.close()


GROUP = """
[llm.any]
models = ["small", "openai/gpt-5.4"]
options.temperature = 0.5

[llm.any.routing]
order = "spread"
cooldown = 60

[llm.small]
model = "anthropic/claude-haiku-5-5"
"""


def test_several_models_are_a_group(make: Make):
    llm = make(GROUP, "any")
    models = [f"{each.provider}/{each.model}" for each in llm.members]
    assert models == ["anthropic/claude-haiku-5-5", "openai/gpt-5.4"]
    assert llm.build("hi").sampling.temperature == 0.5
    assert len(make(GROUP, "any", environment={"OPENAI_API_KEY": "k"}).members) == 1, "the other one has no key"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[llm.a]\nmodels = ["b"]\n[llm.b]\nmodels = ["openai/x", "a"]',
            r":2:1: llm\.a\.models: .*: a -> b -> a",
        ),
        ('[llm.a]\nmodels = ["x/y"]\nmodel = "x/y"', r":2:1: llm\.a\.models: expected either model or models"),
        (
            '[llm.a]\nmodel = "x/y"\n[llm.a.routing]\norder = "first"',
            r":3:1: llm\.a\.routing: it is for several",
        ),
        ('[llm.a]\nmodels = ["x/y"]\nrouting.order = "last"', r":3:1: llm\.a\.routing\.order: expected"),
        ('[llm.a]\nmodels = ["x/y"]\nrouting.cooldown = 0', r":3:1: llm\.a\.routing\.cooldown: expected a number"),
        ('[llm.a]\nmodels = ["x/y"]\nrouting.fall_back_on = ["x"]', r":3:1: llm\.a\.routing\.fall_back_on: expected"),
        ('[llm.a]\nmodel = "x/y"\nlimits.parallel = 0', r":3:1: llm\.a\.limits\.parallel: expected"),
        ('[llm.a]\nmodel = "x/y"\nlimits.paralel = 1', r":3:1: llm\.a\.limits\.paralel: there is no such setting"),
        (
            '[llm.a]\nmodels = ["b", "local"]\n[llm.b]\nmodel = "c"\n[llm.c]\nmodels = ["x/y"]',
            r":2:1: llm\.a\.models: a group cannot be a member of another group: 'b'",
        ),
        (
            '[llm.a]\nmodels = ["local", "auto"]',
            r":2:1: llm\.a\.models: a group cannot be a member of another group: 'auto'",
        ),
        ('[auto]\nmodels = ["auto"]', r":2:1: auto\.models: there is no such named LLM, and no provider: 'auto'"),
        (
            '[auto]\nmodels = ["opnai/x"]',
            r":2:1: auto\.models: there is no such provider: 'opnai'. Did you",
        ),
        ('[auto]\nmodel = "x/y"', r":2:1: auto\.model: there is no such setting"),
        (
            '[providers.openai]\napi_key_env = "A"\napi_key_command = "b"',
            r":3:1: providers\.openai\.api_key_command: expected either",
        ),
    ],
)
def test_error_names_the_line(make: Make, text: str, message: str):
    with pytest.raises(ConfigurationError, match=rf"config\.toml{message}"):
        make(text, "scripted")


def test_llms_of_one_name_share_its_limits(make: Make):
    text = '[llm.slow]\nmodel = "scripted/scripted"\n[llm.slow.limits]\nrequests_per_minute = 1'
    first, second = (make(text, "slow", replies=["a", "b"]) for _ in range(2))
    assert first.generate("hi").content == "a"
    with pytest.raises(LimitExceededError):
        second.generate("hi", timeout=0.05)
    assert make(text, "slow", replies=["c"], limits={"parallel": 2}).generate("hi").content == "c", "its own limits"


def test_limits_of_a_provider_are_those_of_all_its_llms(make: Make):
    text = "[providers.scripted.limits]\nrequests_per_minute = 1"
    assert make(text, "scripted", replies=["a"]).generate("hi").content == "a"
    with pytest.raises(LimitExceededError):
        make(text, "scripted/other", replies=["b"]).generate("hi", timeout=0.05)


def test_auto_takes_the_first_model_whose_key_is_there(make: Make):
    text = '[auto]\nmodels = ["openai/gpt-5.4", "quick"]\n[llm.quick]\nmodel = "anthropic/claude-haiku-5-5"\n'
    llm = make(text, "auto", environment={"ANTHROPIC_API_KEY": "k"})
    assert [(each.provider, each.model) for each in llm.members] == [("anthropic", "claude-haiku-5-5")]
    assert "[auto]" in repr(llm)


@pytest.mark.process
def test_command_prints_the_key_where_the_environment_has_none(make: Make, server: Any, tmp_path: Path):
    script = tmp_path / "key.py"
    script.write_text("print('sk-of-the-command')")
    text = f"[providers.openai]\nbase_url = '{server.url}/v1'\napi_key_command = ['{sys.executable}', '{script}']\n"
    body = b'{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop",'
    body += b'"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
    for environment, key in (({}, "sk-of-the-command"), ({"OPENAI_API_KEY": "sk-of-the-user"}, "sk-of-the-user")):
        server.script(answer(body, content_type="application/json"))
        assert make(text, "openai/gpt-4.1", environment=environment).generate("hi").content == "hi"
        assert server.requests[-1].headers["authorization"] == f"Bearer {key}"


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("/nonexistent/key", "canary"), "cannot be run: No such file"),
        (("python\0canary",), "cannot be run: ValueError"),
        ((sys.executable, "-c", "import sys; print('canary'); sys.exit('canary')"), "failed with exit status 1"),
        ((sys.executable, "-c", ""), "printed nothing"),
        ((sys.executable, "-c", "print('canary'); print('user: canary')"), "printed 2 lines, expected one"),
        ((sys.executable, "-c", "print(' \\n')"), "printed nothing"),
        ((sys.executable, "-c", "import sys; sys.stdout.buffer.write(b'canary\\xff')"), "bytes that are not UTF-8"),
        ((sys.executable, "-c", "print('canary', flush=True); import time; time.sleep(600)"), "did not end within 2 s"),
    ],
)
def test_command_that_gives_no_key_is_explained_without_what_it_printed(command: tuple[str, ...], problem: str):
    with pytest.raises(AuthenticationError, match="which should print the key") as caught:
        KeyCommand("openai", command, seconds=2).printed()
    assert problem in str(caught.value)
    assert "api_key_command of [providers.openai]" in str(caught.value)
    assert "canary" not in str(caught.value).replace(repr(command[0]), "")


@pytest.mark.process
def test_llms_of_a_provider_share_the_key_of_its_command_and_have_it_printed_again_once(
    make: Make, server: Any, tmp_path: Path
):
    script, runs = tmp_path / "key.py", tmp_path / "runs"
    script.write_text(f"f = open({str(runs)!r}, 'a+'); f.write('x'); f.seek(0); print('key-', len(f.read()), sep='')")
    text = f"[providers.openai-compatible]\napi_key_command = ['{sys.executable}', '{script}']\n"
    text += f"base_url = '{server.url}/v1'"
    first, second = (make(text, f"openai-compatible/{name}", environment={}, max_retries=0) for name in "ab")
    for each in (completion(), completion(), failure(401), completion(), failure(401), completion()):
        server.script(each)
    for llm in (first, second, first, second):
        llm.generate("hi")
    keys = [request.headers["authorization"] for request in server.requests]
    assert keys == [f"Bearer key-{number}" for number in (1, 1, 1, 2, 1, 2)]
    assert runs.read_text() == "xx"


def test_member_whose_variable_is_not_set_is_left_out(make: Make):
    text = '[providers.openai]\napi_key_env = "MY_KEY"\n[llm.any]\nmodels = ["openai/x", "ollama/y"]'
    assert [each.provider for each in make(text, "any", environment={}).members] == ["ollama"]
