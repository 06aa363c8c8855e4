"""LLMs whose voice is a vendor's, played by a strict server on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.testing import VirtualClock
from abstractcore.testing.http_server import ScriptedServer
from tests.plugins.voice.remote.fakes import BASES, FAKES, KEY, Fake


class Vendor(NamedTuple):
    """A vendor, its server, and an LLM that speaks by it."""

    name: str
    fake: Fake
    server: ScriptedServer
    llm: LLM


Connect = Callable[..., Vendor]


@pytest.fixture
def connect(server: ScriptedServer) -> Iterator[Connect]:
    """`connect(name, **options)` returns a vendor."""
    made: list[Services] = []

    def connect(name: str, *, clock: VirtualClock | None = None, **given: Any) -> Vendor:
        fake = FAKES[name]()
        server.always_by(fake.script)
        services = Services(environment={}, clock=clock)
        made.append(services)
        options: dict[str, Any] = {
            "voice_backend": f"abstractvoice:{name}",
            "voice_base_url": server.url + BASES.get(name, ""),
            "voice_api_key": KEY,
            "replies": [],
            **given,
        }
        return Vendor(name, fake, server, create_llm("scripted", services=services, **options))

    yield connect
    for services in made:
        services.close()
