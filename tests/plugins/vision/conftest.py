"""What tests of pictures share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.testing import VirtualClock
from tests.plugins.vendor_server import VendorServer
from tests.plugins.vision import fakes

Remote: TypeAlias = Callable[..., LLM]
FAKES: dict[str, tuple[Callable[..., Any], str]] = {
    "openai": (fakes.openai, "painter-1"),
    "sd-server": (fakes.sd_server, "painter-1"),
    "gemini": (fakes.gemini, "painter-1"),
    "imagen": (fakes.imagen, "painter-1"),
    "stability": (fakes.stability, "ultra"),
    "fal": (fakes.fal, "painters/one"),
    "replicate": (fakes.replicate, "painters/one"),
    "bfl": (fakes.bfl, "painter-1"),
    "veo": (fakes.veo, "painter-1"),
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
        fake, model = FAKES[name]
        fake(vendor, *answers)
        given: dict[str, Any] = {"vision_image_model": model, "vision_api_key": fakes.KEY, **options}
        given |= {"vision_backend": name, "vision_base_url": vendor.url, "services": Services(clock=VirtualClock())}
        made.append(create_llm("scripted", replies=[], **given))
        return made[-1]

    yield remote
    for llm in made:
        llm.close()
