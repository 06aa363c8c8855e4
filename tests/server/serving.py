"""A running server for tests: uvicorn on a loopback port, a scripted model and a mock vendor behind it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from abstractcore import LLM, ModelCall, Services, create_llm
from abstractcore_server import AccessControl, Application, ProviderSettings, Settings, server_services
from abstractcore_server.process import GracefulServer, listening_socket, url_of
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer

VENDOR_KEY = "vendor-key-0123456789"
FORMATS: Mapping[str, str] = {
    "anthropic": "",
    "cohere": "",
    "google": "",
    "ollama": "",
    "openai": "/v1",
    "openai-compatible": "/v1",
    "openai-responses": "/v1",
}
"""Providers that the mock vendor is for, and the path of their APIs there."""


class Script:
    """The replies of the scripted model: each call takes the next one that the test has given."""

    def __init__(self) -> None:
        self._replies: list[Any] = []

    def __call__(self, call: ModelCall) -> Any:
        """Returns the next reply."""
        assert self._replies, "there were more calls than replies"
        reply = self._replies.pop(0)
        return reply(call) if callable(reply) and not isinstance(reply, type) else reply

    def add(self, *replies: Any) -> None:
        """Adds replies, as those of `create_llm("scripted", replies=[...])`."""
        self._replies += replies

    def clear(self) -> None:
        """Removes all replies."""
        self._replies.clear()


class Served:
    """A server that runs. `url` is its address, `calls` those of the scripted model, named "scripted", `vendor` is
    behind the providers of `FORMATS`.
    """

    def __init__(self, application: Application, llm: LLM, script: Script, vendor: ScriptedServer, url: str) -> None:
        self.application = application
        self.url = url
        self.vendor = vendor
        self._llm = llm
        self._script = script
        self._begin = 0

    def script(self, *replies: Any) -> None:
        """Adds replies of the scripted model."""
        self._script.add(*replies)

    @property
    def calls(self) -> list[ModelCall]:
        """The calls of the scripted model in this test."""
        return list(self._llm.calls[self._begin :])

    @property
    def call(self) -> ModelCall:
        """The only call of the scripted model in this test."""
        (call,) = self.calls
        return call

    def begin_test(self) -> None:
        """Forgets what earlier tests left."""
        self._script.clear()
        self._begin = len(self._llm.calls)
        self.vendor.clear()


@contextmanager
def serving(
    settings: Settings | None = None,
    *,
    access: AccessControl | None = None,
    services: Services | None = None,
    vendors: Mapping[str, str] = FORMATS,
    traces: Path | None = None,
) -> Generator[Served]:
    """Runs a server during `with`. Its providers, `vendors` with the paths of their APIs, are at the mock vendor,
    unless the settings say otherwise.
    """
    script = Script()
    with ScriptedServer() as vendor:
        settings = settings or Settings()
        settings = replace(settings, server=replace(settings.server, port=0))
        given = services or server_services(settings, environment={}, random=lambda: 0.0)
        llm = create_llm("scripted", replies=script, services=given, max_retries=0)
        at_vendor = {name: provider_at(vendor, path) for name, path in vendors.items()}
        settings = replace(settings, providers={**at_vendor, **settings.providers})
        application = Application(settings, models={"scripted": llm}, services=given, access=access, traces=traces)
        with running(application, settings) as url:
            yield Served(application, llm, script, vendor, url)
        given.close()


def provider_at(vendor: ScriptedServer, path: str, **more: Any) -> ProviderSettings:
    """Returns the settings of a provider at the mock vendor, which is called once: its failures are the test's."""
    options = {"api_key": VENDOR_KEY, "max_retries": 0}
    return ProviderSettings(base_url=vendor.url + path, options=options, **more)


@contextmanager
def running(application: Application, settings: Settings) -> Generator[str]:
    """Runs uvicorn in a thread of its own."""
    with listening_socket(settings.server, is_open=application.state.access.is_open) as listening:
        url = url_of(listening, settings.server)
        server = GracefulServer(application)
        started = threading.Event()
        server.config.callback_notify = _set(started)
        server.config.timeout_notify = 0

        def run() -> None:
            with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
                runner.run(server.serve(sockets=[listening]))

        thread = threading.Thread(target=run, name="server", daemon=True)
        thread.start()
        assert started.wait(PATIENCE_SECONDS), "the server did not start"
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive(), "the server did not end"


def _set(event: threading.Event) -> Any:
    async def notify() -> None:
        event.set()

    return notify
