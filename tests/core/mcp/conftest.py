"""Servers of the tools in `shop.py`, in both eras of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from abstractcore import MCPTools
from abstractcore.client.services import default_services
from tests.core.tools.loops import Way
from tests.leftovers import _module_leaves_nothing, portals, wait_until  # noqa: F401 - a fixture of all modules here
from tests.warm_programs import WarmProgram

_SCRIPT = Path(__file__).with_name("shop.py")
_SHOP = WarmProgram(_SCRIPT)
SHOP = _SHOP.command
COLD_SHOP = [sys.executable, "-c", f"import runpy; runpy.run_path({str(_SCRIPT)!r}, run_name='warm')['main']()"]
"""The same from the start: what it makes when it is loaded, as the key of its state, is its own."""
PATIENCE_SECONDS = 120.0


@pytest.fixture(scope="session", autouse=True)
def shops_start_quickly() -> Iterator[None]:
    """Importing the SDK takes a second, and nearly every test starts a server."""
    with _SHOP.running():
        yield


@pytest.fixture(autouse=True)
def _no_server_is_left() -> Iterator[None]:
    """The servers of sync calls live until their event loop ends: it is ended after each test, which may take longer
    than `close` waits.
    """
    yield
    default_services().sync_runtime.close()
    assert wait_until(lambda: not portals())


@pytest.fixture(params=["auto", "legacy"])
def mode(request: Any) -> str:
    """Revision 2026-07-28 of the protocol, or one before it."""
    return request.param


@pytest.fixture(params=["sync-whole", "async-streamed"])
def way(request: Any) -> Iterator[Way]:
    """One of two ways of a call: loops have tests of all four. Its event loop closes after the test, which ends the
    servers.
    """
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def shop(mode: str) -> Iterator[MCPTools]:
    """The shop over stdio."""
    with ExitStack() as stack:
        yield stack.enter_context(MCPTools(command=SHOP, mode=mode, connect_timeout=PATIENCE_SECONDS))


@pytest.fixture(params=["sync-streamed", "async-streamed"])
def streamed_way(request: Any) -> Iterator[Way]:
    """One of the two streamed ways."""
    with Way.of(request.param) as way:
        yield way
