"""What tests of remote music share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.testing import VirtualClock
from tests.plugins.music.remote import fakes
from tests.plugins.vendor_server import VendorServer

Remote: TypeAlias = Callable[..., LLM]
FAKES: dict[str, Callable[..., Any]] = {
    "elevenlabs": fakes.elevenlabs,
    "stable-audio": fakes.stable_audio,
    "lyria": fakes.lyria,
    "lyria-vertex": fakes.lyria_vertex,
    "ace-step": fakes.ace_step,
}
STARTS = {
    "elevenlabs": "/v1/music",
    "stable-audio": "/v2beta/audio/stable-audio-2/text-to-audio",
    "lyria": "/v1beta/interactions",
    "lyria-vertex": "/publishers/google/models/lyria-002:predict",
    "ace-step": "/release_task",
}


@pytest.fixture
def vendor() -> Iterator[VendorServer]:
    """A server of a vendor, which answers as a test says."""
    with VendorServer() as server:
        yield server


@pytest.fixture
def remote(vendor: VendorServer) -> Iterator[Remote]:
    """`remote(name, *answers)`: an LLM with the backend of a vendor, which `vendor` plays, on a clock without waits."""
    made: list[LLM] = []

    def remote(name: str, *answers: Any, **options: Any) -> LLM:
        FAKES[name](vendor, *answers)
        services = Services(clock=VirtualClock(), environment={})
        given: dict[str, Any] = {"music_api_key": fakes.KEY, "music_base_url": vendor.url, **options}
        made.append(create_llm("scripted", replies=[], music_backend=name, services=services, **given))
        return made[-1]

    yield remote
    for llm in made:
        llm.close()
