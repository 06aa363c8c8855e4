"""Base classes of transport tests: a server, a transport, and methods to run them."""

from __future__ import annotations

import asyncio
import gc
import traceback
import warnings
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from ...concurrency import drive
from ...errors import AbstractCoreError
from ...ports import Body, Transport
from ...schema import WireRequest, WireResponse
from ..http_server import PATIENCE_SECONDS, ScriptedServer

T = TypeVar("T")
ErrorT = TypeVar("ErrorT", bound=AbstractCoreError)
KEY = "sk-canary-0123456789"
"""Sent with every request; must not occur in an error."""


class TransportCase:
    """Makes a server and a transport for each test, and closes both. Override `make_transport`."""

    server: ScriptedServer
    transport: Transport

    def make_transport(self) -> Transport:
        """Returns a new transport to test."""
        raise NotImplementedError

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine of the transport to its end."""
        raise NotImplementedError

    def run_at_once(self, coroutines: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
        """Runs coroutines concurrently."""
        raise NotImplementedError

    def begin_in_child(self) -> None:
        """Called in a forked child before it runs anything."""

    async def settle(self) -> None:
        """Lets pending network events be handled."""

    def at_end(self, last: Callable[[], object]) -> None:
        """Calls `last` after the test, when the transport is closed."""
        self._last.append(last)

    def setup_method(self) -> None:
        """pytest calls this before each test."""
        self._last: list[Callable[[], object]] = []
        self.server = ScriptedServer().__enter__()
        self.transport = self.make_transport()

    def teardown_method(self) -> None:
        """pytest calls this after each test."""
        self.run(self.transport.close())
        for last in reversed(self._last):
            last()
        self.server.__exit__()
        expect(self.server.unscripted == 0, "there were more requests than scripts")

    def request(
        self, body: bytes = b"{}", path: str = "/", headers: Mapping[str, str] | None = None, url: str | None = None
    ) -> WireRequest:
        """Returns a request to the server, with a key."""
        address = self.server.url if url is None else url
        return WireRequest(address + path, {"authorization": f"Bearer {KEY}", **(headers or {})}, body)

    async def open(self, timeout: float = PATIENCE_SECONDS, **request: Any) -> Body:
        """Returns a response whose body is not read."""
        return await self.transport.open(self.request(**request), timeout)

    async def fetch(self, timeout: float = PATIENCE_SECONDS, **request: Any) -> WireResponse:
        """Makes a complete exchange, and closes the body."""
        body = await self.open(timeout, **request)
        try:
            return WireResponse(body.status, body.headers, await rest(body))
        finally:
            await body.close()

    def answer(self, timeout: float = PATIENCE_SECONDS, **request: Any) -> WireResponse:
        """Makes a complete exchange."""
        return self.run(self.fetch(timeout, **request))

    def failure(self, expected: type[ErrorT], timeout: float = PATIENCE_SECONDS, **request: Any) -> ErrorT:
        """Returns the error of an exchange, which must be an `expected` and must not contain the key."""
        try:
            response = self.answer(timeout, **request)
        except expected as error:
            expect(KEY not in error_text(error), f"the error holds the key: {error_text(error)}")
            return error
        raise AssertionError(f"{expected.__name__} was expected, and the answer was {response.body[:80]!r}")


class SyncCase(TransportCase):
    """Runs tests in sync code: a coroutine that never suspends ends in its first step."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine here."""
        return drive(coroutine)

    def run_at_once(self, coroutines: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
        """Runs each coroutine in a thread."""

        def call(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
            return drive(make())

        with ThreadPoolExecutor(len(coroutines)) as threads:
            return list(threads.map(call, coroutines))


class AsyncCase(TransportCase):
    """Runs tests in an event loop of their own, which runs only during each method."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine in the loop."""
        return self._runner.run(coroutine)

    def run_at_once(self, coroutines: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
        """Runs each coroutine in a task."""

        async def gather() -> list[T]:
            return await asyncio.gather(*(make() for make in coroutines))

        return self.run(gather())

    async def settle(self) -> None:
        """Runs a few iterations of the loop."""
        for _ in range(10):
            await asyncio.sleep(0)

    def begin_in_child(self) -> None:
        """Creates a loop for the child; the parent's stays open, since closing it would affect its connections."""
        self._runner, self._parents = asyncio.Runner(), self._runner

    def setup_method(self) -> None:
        """pytest calls this before each test."""
        self._runner = asyncio.Runner()
        super().setup_method()

    def teardown_method(self) -> None:
        """pytest calls this after each test."""
        super().teardown_method()
        self._runner.close()


def expect(condition: object, otherwise: str) -> None:
    """Raises `AssertionError(otherwise)` unless `condition` holds: pytest does not explain assertions of packages."""
    if not condition:
        raise AssertionError(otherwise)


def same(found: object, expected: object) -> None:
    """Raises `AssertionError` unless both are equal."""
    expect(found == expected, f"{expected!r} was expected, not {found!r}")


async def rest(body: Body) -> bytes:
    """Returns the rest of a body."""
    pieces: list[bytes] = []
    while piece := await body.read():
        pieces.append(piece)
    return b"".join(pieces)


def error_text(error: BaseException) -> str:
    """Returns the text of an error and of the errors in its chain."""
    texts: list[str] = []
    todo: list[BaseException | None] = [error]
    while todo:
        each = todo.pop()
        if each is not None:
            texts += [str(each), repr(each), repr(each.args), repr(vars(each))]
            todo += [each.__cause__, each.__context__]
    return "\n".join([*texts, *traceback.format_exception(error)])


@contextmanager
def no_warning() -> Generator[None]:
    """Raises `AssertionError` for a warning in its body, also in finalizers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect()
    expect(not caught, f"there was a warning: {[str(each.message) for each in caught]}")
