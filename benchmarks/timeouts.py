"""The duration of calls that time out, for each kind of wait, sync and async.

`python benchmarks/timeouts.py [--timeout SECONDS ...] -- [WAIT ...]`; WAIT is part of a wait's name. Each would take
30 s or more without a timeout. A call may be late by a tenth of its timeout plus a quarter of a second: more is a MISS.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from abstractcore import LLM, AbstractCoreError, Services, create_llm
from abstractcore.ports import Conversion, Recognised
from abstractcore.registry import Registry
from abstractcore.testing.http_server import HANG, LAST_CHUNK, Pause, ScriptedServer, answer, chunk, drip, stream_head
from abstractcore_providers.plugin import register_providers

SLOW_SECONDS = 30.0
release = threading.Event()
_numbers = itertools.count()


def hang() -> None:
    """Blocks for a long time."""
    release.wait(SLOW_SECONDS)


class SlowFiles:
    """A media handler that hangs in one of its methods."""

    name = "slow"
    outputs = frozenset({"text"})

    def __init__(self, where: str) -> None:
        self._where = where

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        if declared is None:
            self._hang("recognise")
        return Recognised("document", "application/x-slow")

    def check(self, part: object) -> None:
        self._hang("check")

    def convert(self, part: object, context: object) -> Conversion:
        self._hang("convert")
        return Conversion("text", "text")

    def _hang(self, where: str) -> None:
        if where == self._where:
            hang()


class Sleeps:
    """Middleware that sleeps."""

    async def around_call(self, context: Any, next: Any) -> Any:
        await context.runtime.sleep(SLOW_SECONDS)
        return await next(context)


class Invokes:
    """Middleware that calls a blocking function."""

    async def around_call(self, context: Any, next: Any) -> Any:
        await context.runtime.invoke(hang)
        return await next(context)


@contextmanager
def listener(backlog: int) -> Generator[str]:
    """A server that accepts connections and never answers; with a backlog of 0 it accepts none after the first two."""
    with ExitStack() as stack:
        sock = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=backlog))
        port = sock.getsockname()[1]
        for _ in range(0 if backlog else 2):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        yield f"127.0.0.1:{port}"


@contextmanager
def slow_names() -> Generator[None]:
    """Makes DNS look-ups slow."""
    real = socket.getaddrinfo

    def slow(host: Any, *arguments: Any, **options: Any) -> Any:
        if str(host).endswith(".test"):
            hang()
        return real(host, *arguments, **options)

    socket.getaddrinfo = slow
    try:
        yield
    finally:
        socket.getaddrinfo = real


@contextmanager
def scripted(*steps: Any) -> Generator[str]:
    """A server with these scripted responses."""
    with ScriptedServer() as server:
        server.always(*steps)
        yield server.url


class Case:
    """An LLM for one kind of wait, and its call."""

    def __init__(self, stack: ExitStack, services: Services) -> None:
        self.services = services
        self.stack = stack
        self.request: dict[str, Any] = {}
        self.options: dict[str, Any] = {}
        self.occupy: Any = None

    def llm(self, url: str) -> LLM:
        return create_llm(
            "openai-compatible", model="m", base_url=url, services=self.services, max_retries=0, **self.options
        )


def with_handler(case: Case, where: str) -> LLM:
    registry = Registry()
    for provider in register_providers():
        registry.add_provider(provider)
    registry.add_media_handler(SlowFiles(where))
    case.services = Services(registry=registry)
    folder = case.stack.enter_context(tempfile.TemporaryDirectory())
    file = Path(folder, "file.slow")
    file.write_bytes(b"slow")
    case.request["media"] = [str(file)]
    return case.llm(case.stack.enter_context(scripted(answer("{}"))))


def with_script(*steps: Any) -> Callable[[Case], LLM]:
    return lambda case: case.llm(case.stack.enter_context(scripted(*steps)))


def with_middleware(middleware: object) -> Callable[[Case], LLM]:
    def make(case: Case) -> LLM:
        case.options["middleware"] = [middleware]
        return case.llm("http://127.0.0.1:1")

    return make


def with_stall(scheme: str, backlog: int, **request: Any) -> Callable[[Case], LLM]:
    def make(case: Case) -> LLM:
        case.request.update(request)
        return case.llm(f"{scheme}://{case.stack.enter_context(listener(backlog))}")

    return make


def with_slow_name(case: Case) -> LLM:
    case.stack.enter_context(slow_names())
    # A name of its own: whoever asks for one that is being looked up gets that look-up's answer.
    return case.llm(f"http://slow{next(_numbers)}.test:1")


def with_proxy(case: Case) -> LLM:
    case.options["proxy"] = f"http://{case.stack.enter_context(listener(8))}"
    return case.llm("https://api.test")


def with_full_pool(case: Case) -> LLM:
    case.options["max_connections"] = 1
    url = case.stack.enter_context(scripted(stream_head() + chunk(b"data: x"), HANG))
    llm = case.llm(url)

    def hold() -> None:
        try:
            llm.generate("hi", timeout=SLOW_SECONDS)
        except AbstractCoreError:
            return

    tasks: list[asyncio.Task[Any]] = []

    async def ahold() -> None:
        task = asyncio.create_task(llm.agenerate("hi", timeout=SLOW_SECONDS))
        tasks.append(task)
        await asyncio.sleep(0.2)

    threading.Thread(target=hold, daemon=True).start()
    time.sleep(0.2)
    case.occupy = ahold
    return llm


def with_slow_weights(case: Case) -> LLM:
    class Models:
        def path(self, name: str) -> Path:
            hang()
            return Path(name)

    case.services = Services(models=Models())  # pyright: ignore[reportArgumentType]
    return create_llm("local", services=case.services)


def with_client(*steps: Any) -> Callable[[Case], LLM]:
    def make(case: Case) -> LLM:
        kind = httpx2.AsyncClient if case.options.pop("call_style") == "async" else httpx2.Client
        case.options["http_client"] = kind(trust_env=False)
        return case.llm(case.stack.enter_context(scripted(*steps)))

    return make


HEAD = stream_head()
DELTA = chunk(b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')
SLOW_DRIP = Pause(0.2)
WAITS: dict[str, Callable[[Case], LLM]] = {
    "build (recognise a file)": lambda case: with_handler(case, "recognise"),
    "conversion of a file": lambda case: with_handler(case, "convert"),
    "weights of the embedded model": with_slow_weights,
    "middleware that sleeps": with_middleware(Sleeps()),
    "middleware that invokes": with_middleware(Invokes()),
    "name look-up": with_slow_name,
    "connection that is not taken": with_stall("http", 0),
    "TLS handshake": with_stall("https", 8),
    "proxy's answer to CONNECT": with_proxy,
    "free connection": with_full_pool,
    "request that is not read": with_stall("http", 8, prompt="x" * 30_000_000),
    "silent head": with_script(HANG),
    "dripping head": with_script(*drip(HEAD * 9, SLOW_DRIP)),
    "silent body": with_script(answer("", length=9), HANG),
    "dripping body": with_script(answer("", length=900), *drip(b" " * 900, SLOW_DRIP)),
    "dripping frame of a body": with_script(HEAD, *drip(b"000000000000000000000000000000", SLOW_DRIP)),
    "silence in a stream": with_script(HEAD + DELTA, HANG),
    "stream that drips": with_script(
        HEAD + DELTA, *[step for _ in range(400) for step in (SLOW_DRIP, DELTA)], LAST_CHUNK
    ),
    "head that drips to an http_client": with_client(*drip(HEAD * 9, SLOW_DRIP)),
}


def measure(wait: str, call_style: str, streamed: bool, library: str, timeout: float) -> tuple[float, str]:
    """Returns the duration of a call in seconds, and its error."""
    release.clear()
    with ExitStack() as stack:
        case = Case(stack, Services())
        if call_style == "async" and "http_client" not in wait:
            case.options["transport"] = library
        if "http_client" in wait:
            case.options["call_style"] = call_style
        llm = WAITS[wait](case)
        request: dict[str, Any] = {"prompt": "hi", **case.request, "timeout": timeout}
        start = time.monotonic()
        ended: list[str] = []

        def sync() -> None:
            if streamed:
                list(llm.stream(**request))
            else:
                llm.generate(**request)

        async def asynchronous() -> None:
            nonlocal start
            if case.occupy is not None:
                await case.occupy()
                start = time.monotonic()
            if streamed:
                async with llm.astream(**request) as stream:
                    _ = [delta async for delta in stream]
            else:
                await llm.agenerate(**request)

        async def timed() -> None:
            try:
                await asynchronous()
            finally:
                ended.append(str(time.monotonic() - start))

        error = "-"
        try:
            if call_style == "async":
                asyncio.run(timed())
            else:
                sync()
        except AbstractCoreError as caught:
            error = type(caught).__name__
            if caught.__cause__ is not None:
                error += f" from {type(caught.__cause__).__name__}"
        took = float(ended[0]) if ended else time.monotonic() - start
        if call_style == "async" and (after := time.monotonic() - start - took) > 0.3:
            error += f" (the loop's end: {after:.1f} s more)"
        release.set()
    return took, error


def main() -> None:
    """Measures the selected waits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, nargs="*", default=[0.5, 1.0, 3.0])
    parser.add_argument("wait", nargs="*")
    arguments = parser.parse_args()
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    for package in ("aiohttp", "pycurl"):
        __import__(package)  # loading a library does not count as waiting
    ways = [("sync", False, "httpx2"), ("sync", True, "httpx2"), ("async", False, "httpx2"), ("async", True, "httpx2")]
    ways += [("sync", False, "fast"), ("sync", True, "fast"), ("async", False, "fast")]
    for wait in WAITS:
        if arguments.wait and not any(part in wait for part in arguments.wait):
            continue
        for call_style, streamed, library in ways:
            if "http_client" in wait and library == "fast":
                continue
            name = f"{call_style}{' stream' if streamed else ''}{' fast' if library == 'fast' else ''}"
            row: list[str] = []
            errors: set[str] = set()
            for timeout in arguments.timeout:
                took, error = measure(wait, call_style, streamed, library, timeout)
                missed = "" if timeout * 0.99 <= took <= timeout * 1.1 + 0.25 else " MISS"
                row.append(f"{took:6.2f}{missed}")
                errors.add(error)
            print(f"{wait:36} {name:14} {' '.join(row)}  {', '.join(sorted(errors))}", flush=True)


if __name__ == "__main__":
    main()
