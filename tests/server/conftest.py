"""A running server for each module, and the real clients that talk to it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.chaos_server import PATIENCE_SECONDS
from tests.postgresql import postgresql
from tests.server.serving import Served, serving

__all__ = ["postgresql"]


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    """A server for all tests of a module. A module with settings of its own defines this fixture itself."""
    with serving() as served:
        yield served


@pytest.fixture
def served(running: Served) -> Iterator[Served]:
    """The server of the module; what its scripted model and its vendor answer is this test's."""
    running.begin_test()
    yield running
    running.begin_test()
    assert running.vendor.unscripted == 0, "there were more requests to the vendor than scripts"


@pytest.fixture(scope="module")
def http(running: Served) -> Iterator[httpx2.Client]:
    """A client without an API: making one takes longer than most requests."""
    with httpx2.Client(base_url=running.url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        yield client
