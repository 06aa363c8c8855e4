"""One LLM in threads, in successive and concurrent event loops, and in forked children."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import ssl
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

import abstractcore.client.services
from abstractcore import Services, StreamInterruptedError, create_llm
from abstractcore.client.services import default_services
from abstractcore.schema import WireRequest
from abstractcore.transport import AsyncHttpTransport, ProxyRoute, TransportSettings
from tests.chaos_server import HANG, PATIENCE_SECONDS, chunk, completion, delta, stream_head, streamed
from tests.forks import in_fork

HELLO = stream_head() + chunk(delta("hello"))


def echo(request) -> list[bytes]:
    return [completion(request.json["messages"][-1]["content"])]


def test_threads_share_one_llm(server, connect):
    server.always_by(echo)
    llm = connect()
    prompts = [f"prompt {number}" for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        assert [response.content for response in pool.map(llm.generate, prompts)] == prompts
    assert len(server.connections) <= 8


def test_threads_stream_from_one_llm(server, connect):
    server.always_by(lambda request: [streamed(*request.json["messages"][-1]["content"])])
    llm = connect()
    prompts = [f"{number:04}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda prompt: "".join(llm.stream(prompt).text()), prompts)) == prompts


def test_tasks_share_one_llm(server, connect):
    async def main(prompts) -> list[str]:
        return [response.content for response in await asyncio.gather(*map(llm.agenerate, prompts))]

    server.always_by(echo)
    llm = connect()
    prompts = [f"prompt {number}" for number in range(64)]
    assert asyncio.run(main(prompts)) == prompts


def test_second_asyncio_run_works_and_each_loop_closes_its_connections(server, connect):
    server.always_by(echo)
    llm = connect()
    for number in range(3):
        assert asyncio.run(llm.agenerate(f"run {number}")).content == f"run {number}"
        server.wait_for(lambda: not server.open, "the end of the loop's connections")
    assert len(server.connections) == 3


def test_second_asyncio_run_works_after_a_stream_left_open_in_the_first(server, connect):
    async def leave_open() -> None:
        async with contextlib.AsyncExitStack() as stack:
            stream = await stack.enter_async_context(llm.astream("hi"))
            await anext(stream)
            stack.pop_all()
            kept.append(stream)

    async def read_on(stream) -> None:
        async for _ in stream:
            pass

    kept: list = []
    llm = connect()
    server.script(HELLO, HANG)
    asyncio.run(leave_open())
    server.wait_for(lambda: not server.open)
    server.script(completion("whole"))
    assert asyncio.run(llm.agenerate("hi")).content == "whole"
    with pytest.raises(StreamInterruptedError, match="closed"):
        asyncio.run(read_on(kept[0]))


def test_event_loops_in_several_threads_share_one_llm(server, connect):
    async def main(number: int) -> list[str]:
        answers = await asyncio.gather(*(llm.agenerate(f"{number}.{i}") for i in range(3)))
        return [answer.content for answer in answers]

    server.always_by(echo)
    llm = connect()
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda number: asyncio.run(main(number)), range(12)))
    assert results == [[f"{number}.{i}" for i in range(3)] for number in range(12)]
    server.wait_for(lambda: not server.open)


def test_event_loops_may_start_and_end_during_cleanup_of_closed_ones(services):
    """Many short loops, and a thread switch wherever one can be."""

    async def begin() -> None:
        await transport.pools.of(ProxyRoute("http"))

    def loops() -> None:
        for _ in range(40):
            asyncio.run(begin())

    transport = services.async_transport(TransportSettings())
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            for future in [pool.submit(loops) for _ in range(6)]:
                future.result()
    finally:
        sys.setswitchinterval(interval)
    assert len(transport.pools) == 0


def test_sync_and_async_calls_of_one_llm_do_not_interfere(server, connect):
    async def main() -> tuple[str, str]:
        return llm.generate("plain").content, (await llm.agenerate("loop")).content

    server.always_by(echo)
    llm = connect()
    assert asyncio.run(main()) == ("plain", "loop")
    assert len(server.connections) == 2


def test_ended_event_loop_is_forgotten(server, connect, services):
    async def main() -> weakref.ref:
        await llm.agenerate("hi")
        return weakref.ref(asyncio.get_running_loop())

    server.always(completion())
    llm = connect()
    loops = [asyncio.run(main()) for _ in range(3)]
    gc.collect()
    assert [loop() for loop in loops] == [None, None, None]


def test_event_loop_closed_without_shutdown_is_forgotten_later(server, connect, services):
    server.always(completion())
    llm = connect()

    def answer_once_more() -> None:
        assert asyncio.run(llm.agenerate("hi")).content == "hello"
        gc.collect()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(llm.agenerate("hi"))
    loop.close()
    with pytest.warns(ResourceWarning, match="unclosed"):
        answer_once_more()
    assert len(services.async_transport(TransportSettings()).pools) == 0


def test_llm_services_and_connections_are_garbage_collected(call_style, server, connect):
    services = Services(environment={})
    server.script(completion())
    llm = create_llm("openai-compatible", model="m", base_url=server.url, services=services)
    call_style.generate(llm, "hi")
    services.close()
    kept = [weakref.ref(each) for each in (llm, services, services.sync_transport(TransportSettings()))]
    call_style.close()
    del llm, services
    gc.collect()
    assert [each() for each in kept] == [None, None, None]


NEVER_CLOSED = """
import asyncio, sys
from abstractcore import create_llm
llm = create_llm("openai-compatible", model="m", base_url=sys.argv[1])
print(llm.generate("hi").content)
for _ in range(2):
    print(asyncio.run(llm.agenerate("hi")).content)
stream = llm.stream("hi")
next(stream)
print("open")
"""


@pytest.mark.process
def test_llm_that_is_never_closed_exits_without_a_warning(server, services):
    for _ in range(3):
        server.script(completion())
    server.script(HELLO, HANG)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", NEVER_CLOSED, server.url],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 3,
        check=False,
    )
    assert (result.stdout, result.stderr, result.returncode) == ("hello\nhello\nhello\nopen\n", "", 0)
    server.wait_for(lambda: not server.open)


LEFT_EARLY = """
import asyncio, gc, sys, warnings
from abstractcore import create_llm

warnings.filterwarnings("ignore", "an open stream was dropped")  # said on purpose
url, transport, way = sys.argv[1:]
kept = []

async def leave():
    llm = create_llm("openai-compatible", model="m", base_url=url, transport=transport)
    stream = llm.astream("hi")
    async for _ in stream.text() if way == "text" else stream:
        if way == "kept":
            kept.append(stream)
        if way == "cycle":
            stream.itself = stream
        if way == "error":
            raise ZeroDivisionError
        if way == "return":
            return
        break
    if way == "pause":
        del stream
        await asyncio.sleep(0)
    if way == "more":
        async for _ in llm.astream("hi"):
            break

try:
    asyncio.run(leave(), debug=True)
except ZeroDivisionError:
    pass
gc.collect()
print("left", flush=True)
sys.stdin.read()
"""


@pytest.mark.process
@pytest.mark.parametrize("way", ["break", "text", "kept", "cycle", "error", "return", "pause", "more"])
@pytest.mark.parametrize("transport", ["httpx2", "fast"])
def test_async_stream_left_open_is_closed_by_loop_shutdown_silently(server, transport, way):
    server.always(HELLO, HANG)
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", LEFT_EARLY, server.url, transport, way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "left\n"
    server.wait_for(lambda: not server.open, "the end of the connections of a program that runs on")
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (out, [line for line in err.splitlines() if not line.startswith("Executing <")]) == ("", [])
    assert len(server.connections) == (2 if way == "more" else 1)


def test_stream_over_a_custom_http_client_is_closed_by_loop_shutdown(server, services):
    async def leave() -> None:
        llm = create_llm(
            "openai-compatible", model="m", base_url=server.url, services=services, http_client=httpx2.AsyncClient()
        )
        kept.append(llm.astream("hi"))
        await anext(kept[0])

    kept: list = []
    server.script(HELLO, HANG)
    asyncio.run(leave())
    server.wait_for(lambda: not server.open, "the end of the connection")
    assert kept[0]._call.state == "closed"


def test_body_dropped_while_its_loop_is_blocked_leaves_no_task(server):
    """What reads it consists of generators, one inside the other, each of which Python would have the loop close."""

    async def read() -> None:
        await (await AsyncHttpTransport(TransportSettings()).open(request, PATIENCE_SECONDS)).read()

    server.script(HELLO, HANG)
    request, complaints = WireRequest(server.url, {}, b""), []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _, complaint: complaints.append(complaint))
    loop.run_until_complete(read())
    gc.collect()
    loop.run_until_complete(loop.shutdown_asyncgens())
    left = asyncio.all_tasks(loop)
    loop.close()
    assert (left, complaints) == (set(), [])
    server.wait_for(lambda: not server.open, "the end of the connection")


def test_two_tasks_may_close_a_stream_concurrently(server, connect):
    async def main() -> None:
        server.script(HELLO, HANG)
        stream = connect().astream("hi")
        await anext(stream)
        await asyncio.gather(*(stream.close() for _ in range(3)))
        await asyncio.to_thread(server.wait_for, lambda: not server.open)

    asyncio.run(main())


@pytest.mark.process
def test_forked_child_uses_its_own_connections(call_style, server, connect):
    server.always_by(echo)
    llm = connect()
    assert call_style.generate(llm, "parent").content == "parent"

    def child() -> None:
        assert llm.generate("child").content == "child"
        assert asyncio.run(llm.agenerate("child")).content == "child"
        gc.collect()

    in_fork(child)
    assert call_style.generate(llm, "parent again").content == "parent again"
    users = [(request.json["messages"][-1]["content"], request.connection.number) for request in server.requests]
    assert users == [("parent", 0), ("child", 1), ("child", 2), ("parent again", 0)]


@pytest.mark.process
def test_fork_mid_stream_leaves_the_stream_to_the_parent(server, connect):
    gate = server.gate()
    llm = connect()
    server.script(HELLO, gate, chunk(delta(" there", "stop")) + b"0\r\n\r\n")
    streams = [llm.stream("hi")]
    next(streams[0])
    server.always(completion("child"))

    def child() -> None:
        assert llm.generate("hi").content == "child"
        streams.clear()
        gc.collect()

    in_fork(child)
    gate.open()
    assert "".join(streams[0].text()) == "hello there"
    assert len(server.connections) == 2


@pytest.mark.process
def test_forked_child_does_not_close_an_inherited_async_stream(server, connect):
    gate = server.gate()
    server.script(HELLO, gate, chunk(delta(" there", "stop")) + b"0\r\n\r\n")

    async def main() -> str:
        streams = [connect().astream("hi")]
        await anext(streams[0])

        def child() -> None:
            with pytest.warns(ResourceWarning):
                streams.clear()

        in_fork(child)
        gate.open()
        return "".join([text async for text in streams[0].text()])

    assert asyncio.run(main()) == "hello there"


@pytest.mark.process
def test_fork_waits_for_another_threads_tls_context(monkeypatch):
    """OpenSSL's locks would stay locked in the child."""
    begun, forking = threading.Event(), threading.Event()
    made: list[object] = []

    def create(**options: object) -> ssl.SSLContext:
        begun.set()
        assert forking.wait(PATIENCE_SECONDS)
        made.append("context")
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr(httpx2, "create_ssl_context", create)
    monkeypatch.setenv("SSL_CERT_FILE", "/a/name/that/no/other/test/has")
    maker = threading.Thread(target=TransportSettings().tls, args=["https"])
    maker.start()
    assert begun.wait(PATIENCE_SECONDS)
    os.register_at_fork(before=forking.set)  # these hooks run before older ones

    def child() -> None:
        assert made == ["context"]

    in_fork(child)
    maker.join()


@pytest.mark.process
def test_calls_continue_while_the_process_forks(server, connect):
    """After the first call: a fork while another thread imports a module stops any Python program's child."""
    server.always_by(echo)
    llm = connect()
    llm.generate("first")
    stop = threading.Event()
    errors: list[BaseException] = []

    def call() -> None:
        try:
            while not stop.is_set():
                assert llm.generate("parent").content == "parent"
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            in_fork(lambda: llm.generate("child"))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []


def test_default_services_are_created_once_by_concurrent_threads(monkeypatch):
    both = threading.Barrier(2, timeout=PATIENCE_SECONDS)

    def make() -> Services:
        both.wait()
        return Services()

    monkeypatch.setattr(abstractcore.client.services, "_shared", {})
    monkeypatch.setattr(abstractcore.client.services, "Services", make)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: default_services(), range(2))
    assert first is second
