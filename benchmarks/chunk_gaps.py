"""How long a client waits between two chunks of a stream while others send large requests through the same server.

The vendor, in a process of its own, writes an event every five milliseconds. A large request has about 100,000 tokens.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import clients
import gateway
import wire
from rounds import Row, Setup

from server import Requests

_PAUSE = 0.005
_EVENTS = 200
_STREAMS = 4
_LARGE_AT_ONCE = 2
_LONGEST = 0.05
_LARGE_BODY = {
    "model": clients.MODEL,
    "messages": [
        {"role": role, "content": "A sentence of a long conversation. " * 60}
        for role in ("user", "assistant") * 100 + ("user",)
    ],
}
"""About 420,000 characters."""


def chunk_gaps(setup: Setup) -> list[Row]:
    """The 99th percentile of the time between chunks, and how many arrive."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        vendor = stack.enter_context(gateway.running_vendor(Path(__file__)))
        served, _ = stack.enter_context(gateway.running_gateway(vendor, folder))
        return asyncio.run(_rows(vendor, served))


async def _rows(vendor: str, served: str) -> list[Row]:
    rows: list[Row] = []
    for words, url in (("directly", vendor), ("through the gateway", served)):
        gaps, chunks = await _gaps(url)
        late = statistics.quantiles(gaps, n=100)[98]
        rows.append(Row(f"99th percentile between chunks {words}", late, goal=_LONGEST if url == served else None))
        rows.append(Row(f"events sent / received {words}", _STREAMS * _EVENTS, chunks, goal=1, is_count=True))
    return rows


async def _gaps(url: str) -> tuple[list[float], int]:
    """Returns the seconds between chunks of all streams, and the number of events."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        large = [asyncio.create_task(_ask_without_end(session, url)) for _ in range(_LARGE_AT_ONCE)]
        try:
            found = await asyncio.gather(*(_stream(session, url) for _ in range(_STREAMS)))
        finally:
            for task in large:
                task.cancel()
            await asyncio.gather(*large, return_exceptions=True)
    return [gap for gaps, _ in found for gap in gaps], sum(events for _, events in found)


async def _stream(session: aiohttp.ClientSession, url: str) -> tuple[list[float], int]:
    gaps: list[float] = []
    events = 0
    async with session.post(f"{url}/v1/chat/completions", json=clients.STREAM_BODY, headers=clients.HEADERS) as answer:
        last = None
        async for chunk in answer.content.iter_any():
            now = time.perf_counter()
            if last is not None:
                gaps.append(now - last)
            last = now
            events += chunk.count(b"data: ")
    return gaps, events


async def _ask_without_end(session: aiohttp.ClientSession, url: str) -> None:
    body = json.dumps(_LARGE_BODY).encode()
    headers = {**clients.HEADERS, "content-type": "application/json"}
    while True:
        async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            await answer.read()


class _Paced(Requests):
    """Answers at once, or writes an event at a time."""

    def answer(self, head: bytes, tight: bytes) -> None:
        if b'"stream":true' in tight:
            kind = b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            self.transport.write(b"HTTP/1.1 200 OK\r\n" + kind)
            self._write(iter(_PIECES))
        else:
            self.transport.write(gateway.PLAIN)

    def _write(self, pieces: Iterator[bytes]) -> None:
        piece = next(pieces, None)
        if piece is not None:
            self.transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            asyncio.get_running_loop().call_later(_PAUSE, self._write, pieces)


_PIECES = [*wire.events()[: _EVENTS - 3], *wire.events()[-3:], b""]


if __name__ == "__main__":
    asyncio.run(gateway.serve(_Paced))
