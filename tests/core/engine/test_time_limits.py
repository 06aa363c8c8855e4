"""`timeout=` covers every wait of a call, sync and async. Each wait here exceeds the time limit of a test."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import httpx2
import pytest

from abstractcore import (
    AbstractCoreError,
    DocumentPart,
    ModelReply,
    RequestTimeoutError,
    Services,
    StreamInterruptedError,
    TextPart,
    create_llm,
)
from abstractcore.concurrency import AsyncRuntime, SyncRuntime, drive
from abstractcore.ports import Conversion, Fallback, Recognised
from abstractcore.registry import Registry
from abstractcore.schema import Blob
from abstractcore.testing import AsyncCalls, VirtualClock
from abstractcore_providers.plugin import register_providers
from abstractcore_providers.vendors.google import CachedContents
from tests.chaos_server import HANG, PATIENCE_SECONDS, Pause, answer, chunk, completion, delta, drip, stream_head
from tests.core.concurrency.test_invoke import wait_until

TIMEOUT_SECONDS = 0.3
LONG_SECONDS = 6 * PATIENCE_SECONDS
BETWEEN_SECONDS = 0.05
VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")
LIBRARIES = ("httpx2", "fast")


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """An event that is set at the test's end at the latest."""
    event = threading.Event()
    yield event
    event.set()


@contextlib.contextmanager
def in_time(error: type[AbstractCoreError] = RequestTimeoutError) -> Iterator[pytest.ExceptionInfo[AbstractCoreError]]:
    """What is inside ends in `error`, not before its time, and long before it would end by itself."""
    start = time.monotonic()
    with pytest.raises(error) as caught:
        yield caught
    took = time.monotonic() - start
    assert TIMEOUT_SECONDS * 0.9 < took < PATIENCE_SECONDS


class SlowFiles:
    """A handler of files that begin with SLOW; it waits for `release` in the method `where`."""

    name = "slow"
    fallbacks = (Fallback("text", frozenset({"text"})),)

    def __init__(self, where: str, release: threading.Event) -> None:
        self.begun = threading.Event()
        self.seen: list[str] = []
        self._where = where
        self._release = release

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        if declared is None:
            self._wait("recognise")
        ours = head.startswith(b"SLOW") if declared is None else declared == "application/x-slow"
        return Recognised("document", "application/x-slow") if ours else None

    def check(self, part) -> None:
        self._wait("check")

    def convert(self, part, context) -> Conversion:
        self.seen.append(VARIABLE.get())
        self._wait("convert")
        return Conversion("converted", "text")

    def _wait(self, where: str) -> None:
        if where == self._where:
            self.begun.set()
            self._release.wait(LONG_SECONDS)


def services_for(handler: SlowFiles, **given) -> Services:
    registry = Registry()
    for provider in register_providers():
        registry.add_provider(provider)
    registry.add_media_handler(handler)
    return Services(registry=registry, environment={}, **given)


@pytest.fixture
def slow(release, tmp_path):
    """Makes a slow handler, services with it, and a file for it."""

    def slow(where: str) -> tuple[SlowFiles, Services, Path]:
        handler = SlowFiles(where, release)
        file = tmp_path / "file.slow"
        file.write_bytes(b"SLOW")
        return handler, services_for(handler), file

    return slow


def scripted(services: Services, **options):
    return create_llm("scripted", replies=["a"] * 50, services=services, **options)


def runtime_of(services: Services, call_style) -> SyncRuntime | AsyncRuntime:
    return services.async_runtime if call_style.name == "async" else services.sync_runtime


# Files.


@pytest.mark.parametrize("where", ["recognise", "convert"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_slow_file_read_times_out_and_is_counted(call_style, slow, release, where, streamed):
    _, services, file = slow(where)
    llm = scripted(services, timeout=TIMEOUT_SECONDS)
    with in_time():
        if streamed:
            list(call_style.stream(llm, "hi", media=[file]))
        else:
            call_style.generate(llm, "hi", media=[file])
    runtime = runtime_of(services, call_style)
    assert runtime.abandoned == 1
    release.set()
    wait_until(lambda: runtime.abandoned == 0)
    assert call_style.generate(llm, "hi", media=[file], timeout=PATIENCE_SECONDS).content == "a"


def test_slow_fspath_times_out(call_style, services, release):
    class SlowPath:
        def __fspath__(self) -> str:
            release.wait(LONG_SECONDS)
            return "never"

    with in_time():
        call_style.generate(scripted(services), "hi", media=[SlowPath()], timeout=TIMEOUT_SECONDS)


def test_slow_artifact_store_times_out(call_style, release):
    class SlowStore:
        def get(self, sha256: str) -> bytes:
            release.wait(LONG_SECONDS)
            return b""

        def put(self, data: bytes, media_type: str, name: str | None = None) -> Blob:
            raise NotImplementedError

    services = services_for(SlowFiles("", release), artifacts=SlowStore())
    part = DocumentPart(Blob.from_artifact("0" * 64, "application/x-slow", 4))
    with in_time():
        call_style.generate(scripted(services), "hi", media=[part], timeout=TIMEOUT_SECONDS)


def test_count_tokens_times_out(call_style, slow):
    _, services, file = slow("convert")
    llm = create_llm("anthropic", model="claude-x", api_key="k", base_url="http://127.0.0.1:1", services=services)
    request = {"media": [file], "timeout": TIMEOUT_SECONDS}
    with in_time():
        call_style.run(llm.acount_tokens("hi", **request)) if call_style.name == "async" else llm.count_tokens(
            "hi", **request
        )


def test_cached_contents_times_out(call_style, slow):
    _, services, file = slow("convert")
    llm = create_llm("google", model="gemini-x", api_key="k", base_url="http://127.0.0.1:1", services=services)
    contents, request = CachedContents(llm), {"media": [file], "timeout": TIMEOUT_SECONDS, "seconds": 60}
    with in_time():
        call_style.run(contents.acreate("hi", **request)) if call_style.name == "async" else contents.create(
            "hi", **request
        )


def test_conversion_runs_in_the_callers_context(call_style, slow, release):
    handler, services, file = slow("")
    token = VARIABLE.set("mine")
    try:
        call_style.generate(scripted(services), "hi", media=[file])
    finally:
        VARIABLE.reset(token)
    assert handler.seen == ["mine"]


def test_ctrl_c_ends_a_call_that_waits_for_a_conversion(slow, ctrl_c):
    handler, services, file = slow("convert")
    ctrl_c(handler.begun.is_set)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        scripted(services).generate("hi", media=[file], timeout=LONG_SECONDS)
    assert time.monotonic() - start < PATIENCE_SECONDS
    assert services.sync_runtime.abandoned == 1


# A flood of slow files.


def test_slow_files_do_not_delay_dns_lookups(slow, server, release, connect):
    """Not in an event loop, whose own threads look names up by default, and not on any library."""
    _, services, file = slow("convert")
    server.always(completion("quick"))

    async def main(library: str) -> str:
        llm = scripted(services, timeout=LONG_SECONDS)
        slow_ones = [asyncio.create_task(llm.agenerate("hi", media=[file])) for _ in range(40)]
        try:
            await asyncio.to_thread(wait_until, lambda: busy() > 1)
            url = f"http://localhost:{server.port}/v1"
            return (await connect(base_url=url, transport=library).agenerate("hi")).content
        finally:
            for task in slow_ones:
                task.cancel()

    def busy() -> int:
        return [thread.name for thread in threading.enumerate()].count("abstractcore-files")

    for library in LIBRARIES:
        before = time.monotonic()
        assert asyncio.run(main(library)) == "quick"
        assert time.monotonic() - before < LONG_SECONDS / 2  # the loop's end did not wait for them either


def test_queued_file_reads_are_dropped_after_cancellation(slow, release, monkeypatch):
    # Cancelling forty tasks takes a busy machine longer than the usual delay before a slot is reused.
    monkeypatch.setattr("abstractcore.concurrency.workers._PAUSE_SECONDS", 2.0)
    handler, services, _ = slow("convert")

    async def main() -> None:
        llm = scripted(services)
        files = [b"SLOW %d" % number for number in range(40)]
        tasks = [asyncio.create_task(llm.agenerate("hi", media=[file])) for file in files]
        await asyncio.to_thread(wait_until, lambda: len(handler.seen) == 16)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(result) for result in results} == {asyncio.CancelledError}

    asyncio.run(main())
    assert services.async_runtime.abandoned == 16
    release.set()
    wait_until(lambda: services.async_runtime.abandoned == 0)
    assert len(handler.seen) == 16


AT_EXIT = """
import asyncio, socket, sys, threading
from abstractcore import create_llm, RequestTimeoutError

real = socket.getaddrinfo
def slow(host, *arguments, **options):
    if host == "slow.test":
        threading.Event().wait(60)
    return real(host, *arguments, **options)
socket.getaddrinfo = slow

async def main():
    llm = create_llm("openai-compatible/m", base_url="http://slow.test/v1", transport=sys.argv[1])
    try:
        await llm.agenerate("hi", timeout=0.2)
    except RequestTimeoutError:
        print("late")

asyncio.run(main())
print("end")
"""


@pytest.mark.process
@pytest.mark.parametrize("library", LIBRARIES)
def test_hanging_dns_lookup_does_not_delay_loop_shutdown_or_exit(library):
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_EXIT, library],
        capture_output=True,
        text=True,
        timeout=LONG_SECONDS / 2,
        check=False,
        env=environment,
    )
    assert (result.stdout.split(), result.stderr, result.returncode) == (["late", "end"], "", 0)


# Names, models, middleware.


@pytest.fixture
def slow_names(monkeypatch, release) -> list[str]:
    """Look-ups of names that end in .test hang until the test ends, and then fail; yields the requested names."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def slow(host, *arguments, **options):
        if str(host).endswith(".test"):
            asked.append(host)
            release.wait(LONG_SECONDS)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    return asked


def new_name() -> str:
    """Returns a name that no other test uses: calls share a lookup, and that of an earlier test may still be ending."""
    return f"slow-{uuid.uuid4().hex}.test"


@pytest.mark.parametrize("library", LIBRARIES)
def test_hanging_dns_lookup_times_out(call_style, connect, slow_names, library):
    llm = connect(base_url=f"http://{new_name()}/v1", transport=library, timeout=TIMEOUT_SECONDS, max_retries=0)
    for _ in range(2):
        with in_time():
            call_style.generate(llm, "hi")
    assert len(slow_names) == 1  # the second call waited for the first one's


def test_many_hanging_dns_lookups_do_not_delay_others(call_style, server, connect, slow_names):
    for _ in range(5):
        llm = connect(base_url=f"http://{new_name()}/v1", timeout=0.05, max_retries=0)
        with pytest.raises(RequestTimeoutError):
            call_style.generate(llm, "hi")
    server.script(completion("quick"))
    assert call_style.generate(connect(base_url=f"http://localhost:{server.port}/v1"), "hi").content == "quick"


def test_host_with_several_addresses_is_reached_at_the_one_that_answers(call_style, server, connect, monkeypatch):
    """No server listens at the first."""
    real = socket.getaddrinfo

    def several(host, port, *arguments, **options):
        if host != "several.test":
            return real(host, port, *arguments, **options)
        return [*real("127.0.0.77", port, *arguments, **options), *real("127.0.0.1", port, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", several)
    server.script(completion("reached"))
    assert call_style.generate(connect(base_url=f"http://several.test:{server.port}/v1"), "hi").content == "reached"


def test_unresolvable_host_is_a_connection_failure(call_style, connect):
    for name in ("no-such-host.invalid", f"{'x' * 70}.test"):
        with pytest.raises(AbstractCoreError, match="cannot connect"):
            call_style.generate(connect(base_url=f"http://{name}/v1", max_retries=0), "hi")


def test_slow_weight_download_times_out(call_style, release):
    class SlowModels:
        def path(self, name: str) -> Path:
            release.wait(LONG_SECONDS)
            raise FileNotFoundError(name)

    services = Services(models=SlowModels(), environment={})
    with in_time():
        call_style.generate(create_llm("local", services=services), "hi", timeout=TIMEOUT_SECONDS)
    assert runtime_of(services, call_style).abandoned == 1


class Waits:
    """A middleware that waits in one ring through the runtime."""

    def __init__(self, ring: str, release: threading.Event) -> None:
        setattr(self, ring, self._wait)
        self._release = release

    async def _wait(self, given, next):
        context = getattr(given, "context", given)
        await context.runtime.invoke(self._release.wait, LONG_SECONDS)
        return await next(given)


@pytest.mark.parametrize("ring", ["around_call", "around_attempt"])
def test_blocking_middleware_times_out(call_style, release, services, ring):
    with in_time():
        call_style.generate(scripted(services, middleware=[Waits(ring, release)]), "hi", timeout=TIMEOUT_SECONDS)


class Fallback:
    """A middleware that answers where there was no answer in time."""

    async def around_call(self, context, next):
        try:
            return await next(context)
        except RequestTimeoutError:
            await context.runtime.sleep(0.0)
            return ModelReply((TextPart("the other"),))


def test_middleware_can_handle_a_timeout(call_style, connect, server):
    """There is a moment left for it."""
    server.script(HANG)
    llm = connect(middleware=[Fallback()], timeout=TIMEOUT_SECONDS)
    assert call_style.generate(llm, "hi").content == "the other"


def test_middleware_can_handle_a_timeout_of_any_wait_of_an_attempt(call_style, release, services):
    llm = scripted(services, middleware=[Fallback(), Waits("around_attempt", release)])
    assert call_style.generate(llm, "hi", timeout=TIMEOUT_SECONDS).content == "the other"


def test_sleep_past_the_limit_ends_at_it_on_a_virtual_clock(services):
    clock = VirtualClock()
    runtime = SyncRuntime(clock)

    async def sleep() -> None:
        async with runtime.timeout(30.0):
            await runtime.sleep(20.0)
            await runtime.sleep(20.0)

    with pytest.raises(TimeoutError):
        drive(sleep())
    assert (clock.sleeps, clock.now()) == ([20.0, 10.0], 30.0)


def test_earliest_of_nested_limits_applies(release):
    runtime = SyncRuntime()
    for outer_seconds, inner_seconds in ((0.05, LONG_SECONDS), (LONG_SECONDS, 0.05)):
        outer, inner = runtime.timeout(outer_seconds), runtime.timeout(inner_seconds)

        async def wait(outer=outer, inner=inner) -> None:
            async with outer, inner:
                await runtime.call(release.wait, LONG_SECONDS)

        with pytest.raises(TimeoutError):
            drive(wait())
        assert (outer.expired(), inner.expired()) == (outer_seconds == 0.05, inner_seconds == 0.05)


def test_limit_that_was_left_has_no_effect():
    runtime = SyncRuntime()

    async def work() -> int:
        async with runtime.timeout(0.01):
            pass
        await runtime.sleep(0.05)
        return await runtime.call(int, "42")

    assert drive(work()) == 42


def test_exception_inside_a_limit_is_unchanged():
    runtime = SyncRuntime()

    def fail() -> None:
        raise TimeoutError("mine")

    limit = runtime.timeout(PATIENCE_SECONDS)

    async def work() -> None:
        async with limit:
            await runtime.call(fail)

    with pytest.raises(TimeoutError, match="mine"):
        drive(work())
    assert not limit.expired()


def test_gather_ends_at_the_limit(release):
    runtime = SyncRuntime()

    async def hang() -> None:
        release.wait(LONG_SECONDS)

    async def work() -> None:
        async with runtime.timeout(TIMEOUT_SECONDS):
            await runtime.gather(hang, hang)

    start = time.monotonic()
    with pytest.raises(TimeoutError):
        drive(work())
    assert time.monotonic() - start < PATIENCE_SECONDS


# Servers.


def long_drip(head: bytes):
    """A script that sends `head`, then a byte at a time forever."""
    return lambda request: itertools.chain([head], itertools.cycle([Pause(BETWEEN_SECONDS), b"0"]))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_dripping_response_head_times_out(call_style, server, connect, library, streamed):
    server.always(*drip(stream_head(x_long="v" * 1000), Pause(BETWEEN_SECONDS)))
    llm = connect(timeout=TIMEOUT_SECONDS, transport=library)
    with in_time() as caught:
        list(call_style.stream(llm, "hi")) if streamed else call_style.generate(llm, "hi")
    assert [attempt.error for attempt in caught.value.attempts] == ["RequestTimeoutError"]
    assert (caught.value.provider, caught.value.model) == ("openai-compatible", "m")


@pytest.mark.parametrize(
    "head", [stream_head(), answer("", length=9), answer("", length=9_000)], ids=["frame", "silence", "body"]
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_body_without_decoded_data_times_out(call_style, server, connect, head, streamed):
    if b"content-length: 9\r\n" in head:
        server.script(head, HANG)
    else:
        server.always_by(long_drip(head))
    llm = connect(timeout=TIMEOUT_SECONDS)
    with in_time():
        list(call_style.stream(llm, "hi")) if streamed else call_style.generate(llm, "hi")
    server.assert_closed_promptly(time.monotonic())


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_body_without_decoded_data_over_a_custom_http_client_times_out(server, connect, streamed):
    """Each of its waits for a byte has all the time: only an alarm ends them."""
    server.script(stream_head(), *[Pause(BETWEEN_SECONDS), b"0"] * int(2 * PATIENCE_SECONDS / BETWEEN_SECONDS))
    with httpx2.Client() as client:
        llm = connect(timeout=TIMEOUT_SECONDS, http_client=client)
        with in_time():
            list(llm.stream("hi")) if streamed else llm.generate("hi")
        server.assert_closed_promptly(time.monotonic())


@pytest.mark.parametrize("rest", [[HANG], [Pause(BETWEEN_SECONDS), chunk(delta("x"))] * 2000], ids=["silent", "drip"])
def test_timeout_mid_stream_has_a_request_timeout_error_as_cause(call_style, server, connect, rest):
    server.script(stream_head() + chunk(delta("hello")), *rest)
    with in_time(StreamInterruptedError) as caught:
        list(call_style.stream(connect(timeout=TIMEOUT_SECONDS), "hi"))
    assert isinstance(caught.value.__cause__, RequestTimeoutError)
    assert caught.value.partial.text.startswith("hello")


def test_connection_is_reused_after_a_call_with_a_short_timeout(call_style, server, connect):
    """Alarms of calls that have ended cut nothing."""
    short = 1.5
    pauses = itertools.cycle(
        (0, short + BETWEEN_SECONDS)
    )  # the second call is made while the first one's alarm would ring
    server.always_by(lambda request: [Pause(next(pauses)), completion("hello")])
    llm = connect()
    for timeout in (short, PATIENCE_SECONDS, short, PATIENCE_SECONDS):
        assert call_style.generate(llm, "hi", timeout=timeout).content == "hello"
    assert len(server.connections) == 1


def test_without_a_timeout_files_are_read_in_the_callers_thread(slow, release):
    handler, services, file = slow("")
    threads: list[threading.Thread] = []
    handler._wait = lambda where: threads.append(threading.current_thread())
    assert scripted(services).generate("hi", media=[file], timeout=None).content == "a"
    assert {*threads} == {threading.current_thread()}


def test_async_calls_read_files_in_a_worker_thread(slow, release):
    handler, services, file = slow("")
    threads: list[threading.Thread] = []
    handler._wait = lambda where: threads.append(threading.current_thread())
    with AsyncCalls() as call_style:
        call_style.generate(scripted(services), "hi", media=[file], timeout=None)
    assert threading.current_thread() not in threads
