"""Tests with event loops: cancelled calls, and many loops with one transport."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from ..http_bytes import answer, chunk, stream_head
from ..http_server import HANG
from .cases import AsyncCase, same


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
