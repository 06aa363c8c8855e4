"""Cancellation: cancelled tasks, outer timeouts, Ctrl-C. The server counts open connections."""

from __future__ import annotations

import asyncio
import contextvars
import time

import pytest

from abstractcore import InvalidInputError, RequestTimeoutError, StreamInterruptedError, TextDelta, accumulate
from abstractcore.schema import WireRequest
from abstractcore.transport import AsyncHttpTransport, TransportSettings
from tests.chaos_server import HANG, chunk, completion, delta, failure, stream_head, streamed

HELLO = stream_head() + chunk(delta("hello"))


async def read_hello(stream) -> None:
    """Read on until nothing more is on its way."""
    while not isinstance(await anext(stream), TextDelta):
        pass


async def seen(server, count: int = 1) -> None:
    """Wait for the server's requests without standing in the loop's way."""
    await asyncio.to_thread(server.wait_for_requests, count)


@pytest.mark.parametrize(
    "steps", [[HANG], [b"HTTP/1.1 200 OK\r\n", HANG], [completion()[:-5], HANG]], ids=["head", "in-head", "body"]
)
def test_cancelling_a_call_closes_its_connection(server, connect, steps):
    async def main() -> float:
        server.script(*steps)
        task = asyncio.ensure_future(connect().agenerate("hi"))
        await seen(server)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled = time.monotonic()
        await asyncio.to_thread(server.wait_for, lambda: not server.open)
        return cancelled

    server.assert_closed_promptly(asyncio.run(main()))
    assert len(server.requests) == 1


def test_cancelling_a_backoff_pause_ends_the_call(server, connect):
    async def main() -> None:
        server.script(failure(503, retry_after="60"))
        task = asyncio.ensure_future(connect(timeout=None).agenerate("hi"))
        await seen(server)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(task, 0.2)

    asyncio.run(main())
    assert len(server.requests) == 1


def test_outer_timeout_raises_the_callers_timeout_error(server, connect):
    async def main() -> float:
        server.script(HANG)
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.1):
                await connect().agenerate("hi")
        assert not isinstance(caught.value, RequestTimeoutError)
        cancelled = time.monotonic()
        await asyncio.to_thread(server.wait_for, lambda: not server.open)
        return cancelled

    server.assert_closed_promptly(asyncio.run(main()))


def test_wait_for_around_a_read_interrupts_the_stream_and_closes_its_connection(server, connect):
    async def main() -> float:
        server.script(HELLO, HANG)
        async with connect().astream("hi") as stream:
            await read_hello(stream)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(stream), 0.1)
            cancelled = time.monotonic()
            await asyncio.to_thread(server.wait_for, lambda: not server.open)
            with pytest.raises(StreamInterruptedError) as caught:
                await anext(stream)
            assert caught.value.partial.text == "hello"
            return cancelled

    server.assert_closed_promptly(asyncio.run(main()))


def test_wait_for_around_the_first_read_closes_the_connection(server, connect):
    async def main() -> float:
        server.script(HANG)
        stream = connect().astream("hi")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.1)
        cancelled = time.monotonic()
        await asyncio.to_thread(server.wait_for, lambda: not server.open)
        with pytest.raises(StreamInterruptedError):
            await anext(stream)
        return cancelled

    server.assert_closed_promptly(asyncio.run(main()))


def test_cancelled_task_closes_its_stream(server, connect):
    async def read() -> None:
        async with connect().astream("hi") as stream:
            async for _ in stream:
                pass

    async def main() -> float:
        server.script(HELLO, HANG)
        task = asyncio.ensure_future(read())
        await seen(server)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled = time.monotonic()
        await asyncio.to_thread(server.wait_for, lambda: not server.open)
        return cancelled

    server.assert_closed_promptly(asyncio.run(main()))


def test_closing_a_stream_from_another_task_ends_its_reader(server, connect):
    async def main() -> None:
        server.script(HELLO, HANG)
        stream = connect().astream("hi")
        await read_hello(stream)
        reader = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        await stream.close()
        with pytest.raises(StreamInterruptedError):
            await reader
        await asyncio.to_thread(server.wait_for, lambda: not server.open)

    asyncio.run(main())


def test_second_task_reading_a_stream_is_refused_without_a_second_request(server, connect):
    async def main() -> str:
        gate = server.gate()
        server.script(gate, streamed("whole"))
        async with connect().astream("hi") as stream:
            reader = asyncio.ensure_future(anext(stream))
            await seen(server)
            with pytest.raises(InvalidInputError, match="being read already"):
                await anext(stream)
            gate.open()
            await reader
            return "".join([text async for text in stream.text()])

    assert asyncio.run(main()) == "whole"
    assert len(server.requests) == 1


def test_each_delta_may_be_read_in_another_task_and_context(server, connect):
    """No context variable, time-out or cancel scope is open between two reads."""

    async def main() -> list:
        server.script(streamed("hel", "lo"))
        deltas = []
        async with connect(timeout=30).astream("hi") as stream:
            while True:
                try:
                    reader = asyncio.create_task(_next(stream), context=contextvars.Context())
                    deltas.append(await reader)
                except StopAsyncIteration:
                    return deltas

    async def _next(stream):
        return await anext(stream)

    assert accumulate(asyncio.run(main())).text == "hello"


def test_failure_in_a_task_group_cancels_sibling_calls(server, connect):
    async def fail(count: int) -> None:
        await seen(server, count)
        raise ZeroDivisionError

    async def all_at_once(*coroutines) -> None:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)

    async def main() -> None:
        llm = connect()
        for _ in range(3):
            server.script(HANG)
        with pytest.raises(ExceptionGroup) as caught:
            await all_at_once(*(llm.agenerate("hi") for _ in range(3)), fail(3))
        assert [type(error) for error in caught.value.exceptions] == [ZeroDivisionError]
        await asyncio.to_thread(server.wait_for, lambda: not server.open)

    asyncio.run(main())


def test_cancelled_call_does_not_affect_others_of_its_loop(server, connect):
    async def main() -> str:
        llm = connect()
        gate = server.gate()
        server.script(gate, completion("whole"))
        whole = asyncio.ensure_future(llm.agenerate("hi"))
        await seen(server)
        server.script(HANG)
        cancelled = asyncio.ensure_future(llm.agenerate("hi"))
        await seen(server, 2)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        gate.open()
        return (await whole).content

    assert asyncio.run(main()) == "whole"


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 20])
def test_cancelled_calls_return_their_pool_slots(server, services, turns):
    """However far they got: `turns` of the loop are let pass before the cancellation."""

    async def main() -> None:
        transport = AsyncHttpTransport(TransportSettings(max_connections=2))
        request = WireRequest(server.url, {}, b"")
        server.always(HANG)
        tasks = [asyncio.ensure_future(transport.open(request, 5.0)) for _ in range(8)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(result) for result in results} == {asyncio.CancelledError}
        server.always(completion("free"))
        body = await transport.open(request, 1.0)
        assert b"free" in await body.read()
        await body.close()

    asyncio.run(main())


def test_ctrl_c_in_a_sync_call_closes_its_connection(server, connect, ctrl_c):
    server.script(HANG)
    ctrl_c(lambda: server.requests)
    with pytest.raises(KeyboardInterrupt):
        connect().generate("hi")
    server.assert_closed_promptly(time.monotonic())
    assert len(server.requests) == 1


def test_ctrl_c_in_an_event_loop_closes_its_connections(server, connect, ctrl_c):
    server.script(HANG)
    ctrl_c(lambda: server.requests)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(connect().agenerate("hi"))
    server.wait_for(lambda: not server.open)
