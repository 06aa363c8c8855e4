"""Tests with event loops and with forked children: cancelled calls, and many loops with one transport."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..http_server import HANG, LAST_CHUNK, PATIENCE_SECONDS, answer, chunk, stream_head
from .cases import AsyncCase, TransportCase, expect, rest, same


class CancellationTests(AsyncCase):
    """A cancelled task leaves no open connection."""

    def test_cancelled_call_closes_its_connection(self) -> None:
        """While it waits for the head, and for the body."""

        async def cancel() -> float:
            task = asyncio.create_task(self.fetch())
            await asyncio.to_thread(self.server.wait_for_requests, number + 1)
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.wait([task])
            return time.monotonic()

        for number, head in enumerate([b"", stream_head() + chunk(b"data")]):
            self.server.script(head, HANG)
            cancelled = self.run(cancel())
            self.run(asyncio.sleep(0))
            self.server.assert_closed_promptly(cancelled, number)

    def test_cancelled_call_does_not_affect_others(self) -> None:
        """They wait in the same loop."""
        gate = self.server.gate()
        self.server.always_by(lambda request: [gate, answer(request.body)])

        async def main() -> list[bytes]:
            tasks = [asyncio.create_task(self.fetch(body=b"%d" % number)) for number in range(4)]
            await asyncio.to_thread(self.server.wait_for_requests, 4)
            tasks[0].cancel()
            for _ in tasks:
                gate.open()
            return [response.body for response in await asyncio.gather(*tasks[1:])]

        same(self.run(main()), [b"1", b"2", b"3"])


class EventLoopSuite(AsyncCase):
    """For a transport that serves any number of event loops."""

    def test_successive_event_loops_have_their_own_connections(self) -> None:
        """Each loop's shutdown closes them."""
        self.server.always_by(lambda request: [answer(request.body)])
        for number in range(3):
            same(asyncio.run(self.fetch(body=b"%d" % number)).body, b"%d" % number)
            self.server.wait_for(lambda: not self.server.open, "the end of the loop's connections")
        same(len(self.server.connections), 3)

    def test_body_left_open_does_not_outlive_its_loop(self) -> None:
        """Nor does it harm the next one."""
        self.server.script(stream_head() + chunk(b"data"), HANG)
        self.server.script(answer("next"))
        left = asyncio.run(self.open())
        self.server.wait_for(lambda: not self.server.open, "the end of the loop's connections")
        same(asyncio.run(self.fetch()).body, b"next")
        left.abort()

    def test_event_loops_in_several_threads_do_not_interfere(self) -> None:
        """Twelve loops in six threads, four calls at once in each."""

        async def main(number: int) -> list[bytes]:
            calls = (self.fetch(body=b"%d.%d" % (number, each)) for each in range(4))
            return [response.body for response in await asyncio.gather(*calls)]

        def run(number: int) -> list[bytes]:
            return asyncio.run(main(number))

        self.server.always_by(lambda request: [answer(request.body)])
        with ThreadPoolExecutor(6) as threads:
            found = list(threads.map(run, range(12)))
        same(found, [[b"%d.%d" % (number, each) for each in range(4)] for number in range(12)])
        self.server.wait_for(lambda: not self.server.open, "the end of the loops' connections")


_FORKS = hasattr(os, "fork")


def in_fork(function: Callable[[], object]) -> None:
    """Runs `function` in a forked child; raises `AssertionError` if it fails there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the server runs in a thread: the child has none
        child = os.fork()
    if child == 0:
        signal.alarm(int(PATIENCE_SECONDS))
        try:
            function()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    expect(os.waitpid(child, 0)[1] == 0, "the child failed")


class ForkSuite(TransportCase):
    """For a transport that is shared with forked children. Skipped where fork is not available."""

    def test_forked_child_has_its_own_connections(self) -> None:
        """The parent keeps its own."""
        if not _FORKS:
            return
        self.server.always_by(lambda request: [answer(request.body)])
        same(self.answer(body=b"parent").body, b"parent")

        def child() -> None:
            self.begin_in_child()
            same(self.answer(body=b"child").body, b"child")
            gc.collect()

        in_fork(child)
        same(self.answer(body=b"again").body, b"again")
        found = [(request.body, request.connection.number) for request in self.server.requests]
        same(found, [(b"parent", 0), (b"child", 1), (b"again", 0)])

    def test_body_dropped_in_a_forked_child_continues_in_the_parent(self) -> None:
        """Its connection is the parent's."""
        if not _FORKS:
            return
        gate = self.server.gate()
        self.server.script(stream_head(), chunk(b"first"), gate, chunk(b"second"), LAST_CHUNK)
        bodies = [self.run(self.open())]
        same(self.run(bodies[0].read()), b"first")

        def child() -> None:
            bodies[0].abort()
            bodies.clear()
            gc.collect()

        in_fork(child)
        gate.open()
        same(self.run(rest(bodies[0])), b"second")
        self.run(bodies[0].close())
