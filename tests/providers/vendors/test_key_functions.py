"""An `api_key` that is a function: every vendor's requests are the same, and a refused key is asked for once more."""

from __future__ import annotations

import asyncio
import pickle
import threading
from typing import Any

import httpx2
import pytest

from abstractcore import (
    AuthenticationError,
    ConfigurationError,
    InvalidInputError,
    ProviderError,
    RequestTimeoutError,
    Services,
    create_llm,
)
from abstractcore.concurrency import SyncRuntime
from abstractcore.registry import Registry
from abstractcore.testing import CallStyle
from tests.chaos_server import PATIENCE_SECONDS, completion, failure, streamed
from tests.providers.operations import ask

KEY = "sk-canary-0123456789"
_WITHOUT_KEYS = frozenset({"local", "scripted"})
_PLACES = {"region": "us-east-1", "project": "p", "location": "us", "resource": "r"}
VENDORS = sorted(Registry.from_entry_points().providers.keys() - _WITHOUT_KEYS)


def key_of_module() -> str:
    return KEY


class Keys:
    """A function that returns one key after another."""

    def __init__(self, *keys: str) -> None:
        self.left = [*keys]
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        return self.left.pop(0)


def requests_with(provider: str, key: Any) -> list[tuple[str, dict[str, str]]]:
    """Returns the requests of a call with a key: their URLs and headers."""
    found: list[tuple[str, dict[str, str]]] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        found.append((str(request.url), dict(request.headers)))
        return httpx2.Response(500)

    services = Services(environment={})
    options = {name: value for name, value in _PLACES.items() if name in services.registry.provider(provider).options}
    with httpx2.Client(transport=httpx2.MockTransport(respond)) as client:
        llm: Any = create_llm(
            provider,
            "m",
            services=services,
            api_key=key,
            http_client=client,
            max_retries=0,
            **({"base_url": "https://vendor.example/v1"} if not options else {}),
            **options,
        )
        with pytest.raises(ProviderError):
            ask(llm)
    services.close()
    return found


@pytest.mark.parametrize("provider", VENDORS)
def test_key_of_a_function_is_sent_as_one_that_is_text(provider: str):
    async def key() -> str:
        return KEY

    given = requests_with(provider, KEY)
    assert given
    assert any(KEY in url or KEY in str(headers) for url, headers in given)
    assert requests_with(provider, lambda: KEY) == requests_with(provider, key) == given


def test_function_is_asked_once_and_again_for_a_refused_key(call_style: CallStyle, server, connect):
    keys = Keys("one", "two")
    for each in (completion(), completion(), failure(401), completion()):
        server.script(each)
    llm = connect(api_key=keys, max_retries=0)
    for _ in range(3):
        answer = call_style.generate(llm, "hi")
    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer one",
        "Bearer one",
        "Bearer one",
        "Bearer two",
    ]
    assert [attempt.error for attempt in answer.attempts] == ["AuthenticationError", None]
    assert keys.asked == 2


def test_stream_is_begun_again_with_another_key(call_style: CallStyle, server, connect):
    server.script(failure(401))
    server.script(streamed("he", "llo"))
    with call_style.stream(connect(api_key=Keys("one", "two")), "hi") as stream:
        for _ in stream:
            pass
    assert stream.response.content == "hello"


def test_key_that_is_refused_twice_is_an_error_that_does_not_show_it(call_style: CallStyle, server, connect):
    keys = Keys(KEY, f"{KEY}2", f"{KEY}3")
    llm = connect(api_key=keys)
    server.script(failure(401, f"wrong key {KEY}"))
    server.script(failure(401, f"wrong key {KEY}2"))
    with pytest.raises(AuthenticationError) as caught:
        call_style.generate(llm, "hi")
    assert keys.asked == 2
    assert len(caught.value.attempts) == 2
    assert "canary" not in f"{caught.value!r} {caught.value.hint} {llm!r} {llm.endpoint!r}"


def test_key_that_is_text_is_not_sent_again(call_style: CallStyle, server, connect):
    server.script(failure(401))
    with pytest.raises(AuthenticationError):
        call_style.generate(connect(api_key=KEY), "hi")


def test_tasks_that_begin_together_ask_once(server, connect):
    asked: list[None] = []

    async def key() -> str:
        asked.append(None)
        await asyncio.sleep(0.01)
        return KEY

    for _ in range(8):
        server.script(completion())
    llm = connect(api_key=key)

    async def run() -> None:
        await asyncio.gather(*(llm.agenerate("hi") for _ in range(8)))

    asyncio.run(run())
    assert len(asked) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_threads_that_begin_together_ask_once(server, services: Services, connect, fails: bool):
    asked = Keys(*[KEY] * 16)
    all_wait = threading.Event()
    ends: list[str] = []

    def key() -> str:
        found = asked()
        all_wait.wait(PATIENCE_SECONDS)
        if fails:
            raise OSError("the store of keys is down")
        return found

    def call() -> None:
        try:
            ends.append(llm.generate("hi").content)
        except AuthenticationError as error:
            ends.append(error.message)

    class Waiting(SyncRuntime):
        """Counts the threads that wait for the one that asks."""

        count = 0

        async def wait(self, future: Any, seconds: float | None = None) -> bool:
            self.count += 1
            if self.count == 15:
                all_wait.set()
            return await super().wait(future, seconds)

    server.always(completion("hello"))
    services.sync_runtime = Waiting()
    llm = connect(api_key=key)
    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert asked.asked == 1
    assert ends == ["the function given as api_key failed: OSError." if fails else "hello"] * 16


def test_time_limit_of_a_call_is_no_failure_of_the_function(call_style: CallStyle, connect):
    ended = threading.Event()
    with pytest.raises(RequestTimeoutError):
        call_style.generate(connect(api_key=lambda: str(ended.wait(PATIENCE_SECONDS)), timeout=0.1), "hi")
    ended.set()


@pytest.mark.parametrize(
    ("key", "kind", "problem"),
    [
        (lambda: "", AuthenticationError, "there is no API key: the function given as api_key returned no text"),
        (lambda: None, AuthenticationError, "there is no API key"),
        (lambda: 1, ConfigurationError, "the function given as api_key returned int: expected text"),
        (lambda: "sk canary", ConfigurationError, "has characters a key cannot have"),
        (lambda: 1 / 0, AuthenticationError, "the function given as api_key failed: ZeroDivisionError"),
    ],
)
def test_function_without_a_key_is_an_error(
    call_style: CallStyle, connect, key: Any, kind: type[Exception], problem: str
):
    with pytest.raises(kind, match=problem) as caught:
        call_style.generate(connect(api_key=key, timeout=PATIENCE_SECONDS), "hi")
    assert "canary" not in str(caught.value)


def test_other_values_are_refused():
    with pytest.raises(InvalidInputError, match="api_key: expected text or a function, got int"):
        create_llm("openai/m", api_key=1)  # pyright: ignore[reportArgumentType]


def test_no_key_is_pickled():
    llm = create_llm("openai/m", api_key=key_of_module)
    pickled = pickle.dumps(llm)
    assert b"canary" not in pickled
    assert pickle.loads(pickled).model == "m"
    with pytest.raises(InvalidInputError, match="api_key: an object that may hold a credential is not pickled"):
        pickle.dumps(create_llm("openai/m", api_key=Keys(KEY)))
