"""Guards with `close` or `aclose`: closed after a reload once their last request has ended, and at the server's end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import openai
import pytest

from abstractcore import ConfigurationError
from abstractcore.ports import GuardContext, Refusal, TextPiece
from abstractcore_server import GuardSettings, ModelSettings, Settings, server_services
from abstractcore_server.configuration.settings import MCPSettings
from tests.chaos_server import DONE, LAST_CHUNK, chunk, completion, delta, stream_head
from tests.leftovers import wait_until
from tests.server.serving import Served, serving

MODEL = "openai-compatible/m"
HI: list[Any] = [{"role": "user", "content": "hi"}]


class Watched:
    """A guard that must not be asked after it was closed."""

    hold_back = 0

    def __init__(self, label: str, closed: list[str]) -> None:
        self.label = label
        self.closed = closed

    def check_text(self, piece: TextPiece, context: GuardContext) -> Refusal | None:
        return Refusal("it was closed") if self.label in self.closed else None


class Sync(Watched):
    def close(self) -> None:
        assert threading.current_thread().name != "server"
        self.closed.append(self.label)


class Async(Watched):
    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed.append(self.label)

    def close(self) -> None:
        self.closed.append("close beside aclose")


class Broken(Watched):
    async def aclose(self) -> None:
        raise SystemExit(1)


class Hanging(Watched):
    async def aclose(self) -> None:
        await asyncio.Event().wait()


@dataclass
class Plugin:
    """Makes a guard of the class that the options name; each has a label with a number. A "shared" one is the same."""

    name = summary = "watched"
    closed: list[str] = field(default_factory=list[str])
    made: list[str] = field(default_factory=list[str])
    _shared: Watched | None = None

    def connect(self, options: Any, services: Any) -> Watched:
        kind = {"Sync": Sync, "Async": Async, "Broken": Broken, "Hanging": Hanging, "shared": Sync}[options["kind"]]
        if options["kind"] == "shared" and self._shared is not None:
            return self._shared
        made = kind(f"{options['kind']}-{len(self.made)}", self.closed)
        self.made.append(made.label)
        if options["kind"] == "shared":
            self._shared = made
        return made


def guards(*kinds: str) -> dict[str, GuardSettings]:
    return {
        f"{kind}{index}": GuardSettings("watched", timeout_seconds=0.1, options={"kind": kind})
        for index, kind in enumerate(kinds)
    }


@pytest.fixture
def plugin() -> Plugin:
    return Plugin()


@pytest.fixture
def served(plugin: Plugin) -> Iterator[Served]:
    services = server_services(Settings(), environment={}, random=lambda: 0.0)
    services.registry.add_guard(plugin)
    with serving(Settings(guards=guards("Sync", "Async")), services=services) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def reload(served: Served, **changes: Any) -> None:
    served.application.reload(replace(served.application.state.settings, **changes))


def asked(served: Served, client: openai.OpenAI) -> str | None:
    served.vendor.script(completion("hello"))
    return client.chat.completions.create(model=MODEL, messages=HI).choices[0].message.content


def test_replaced_guards_are_closed_when_the_last_stream_has_ended(
    served: Served, client: openai.OpenAI, plugin: Plugin
):
    gate = served.vendor.gate()
    last = chunk(delta("jour") + delta(finish_reason="stop") + DONE)
    served.vendor.script(stream_head(), chunk(delta("Bon")), gate, last, LAST_CHUNK)
    stream = client.chat.completions.create(model=MODEL, messages=HI, stream=True)
    texts = [next(stream).choices[0].delta.content]
    reload(served, guards=guards("Sync"))
    assert asked(served, client) == "hello"
    assert plugin.closed == []
    reload(served, guards=guards("Async"))
    assert wait_until(lambda: plugin.closed == ["Sync-2"])
    gate.open()
    texts += [each.choices[0].delta.content for each in stream if each.choices]
    assert "".join(text or "" for text in texts) == "Bonjour"
    assert wait_until(lambda: sorted(plugin.closed) == ["Async-1", "Sync-0", "Sync-2"])
    assert asked(served, client) == "hello"
    assert "Async-3" not in plugin.closed


def test_replaced_guards_check_responses_in_the_background_to_their_end(
    served: Served, client: openai.OpenAI, plugin: Plugin
):
    gate = served.vendor.gate()
    served.vendor.script(gate, completion("hello"))
    made = client.responses.create(model=MODEL, input="hi", background=True)
    reload(served, guards={})
    assert asked(served, client) == "hello"
    assert plugin.closed == []
    gate.open()
    ended = wait_until(lambda: (found := client.responses.retrieve(made.id)).status != "in_progress" and found)
    assert ended.output_text == "hello"
    assert wait_until(lambda: sorted(plugin.closed) == ["Async-1", "Sync-0"])


def test_guards_are_closed_once_at_the_end_and_failures_are_logged(caplog: pytest.LogCaptureFixture):
    plugin = Plugin()
    services = server_services(Settings(), environment={}, random=lambda: 0.0)
    services.registry.add_guard(plugin)
    given = guards("Broken", "Hanging", "Sync", "Async", "shared", "shared")
    with serving(Settings(guards=given), services=services) as served:
        gate = served.vendor.gate()
        served.vendor.script(stream_head(), chunk(delta("Bon")), gate)
        with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
            stream = client.chat.completions.create(model=MODEL, messages=HI, stream=True)
            next(stream)
            reload(served, guards=guards("shared"))
            stream.close()
        gate.open()
        assert wait_until(lambda: sorted(plugin.closed) == ["Async-3", "Sync-2"])
    assert plugin.closed[2:] == ["shared-4"]
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "the guard 'Broken0' was not closed: SystemExit" in logged
    assert "the guard 'Hanging1' was not closed: " in logged


def test_guards_of_a_configuration_that_is_not_taken_are_closed(served: Served, plugin: Plugin, client: openai.OpenAI):
    with pytest.raises(ConfigurationError, match="no guard is called 'none'"):
        reload(served, guards={**guards("Sync"), "x": GuardSettings("none")})
    assert wait_until(lambda: plugin.closed == ["Sync-2"])
    with pytest.raises(ConfigurationError):
        reload(served, guards=guards("Async"), mcp={"x": MCPSettings(url="ftp://x")})
    with pytest.raises(ConfigurationError):
        reload(served, guards=guards("Async"), models={"x": ModelSettings(("nowhere/x",))})
    assert asked(served, client) == "hello"
    assert plugin.closed == ["Sync-2"]
    assert plugin.made == ["Sync-0", "Async-1", "Sync-2"]
