"""What `abstractcore serve` adds to a call: the gateway minus the vendor, which answers after 20 ms in its own process.

The vendor, the gateway and a bare proxy (uvicorn and aiohttp) are processes of their own; calls alternate between them.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp
import clients
import wire
from rounds import Row, Setup

from server import Requests

_DELAY = 0.02
_CALLS = {1: 150, 4: 60, 16: 25, 64: 12}
"""Calls of each client at once."""
_EVENTS = 50
_PAUSE = 0.01
"""Between the first event of a stream, if it comes alone, and the others."""
_ALONE = {**clients.STREAM_BODY, "user": "alone"}
_ADDED = 0.7e-3
_FIRST = 1e-3
_P99 = 2.5
_OF_BARE = 0.6
_PROXY = """
import os, sys
import aiohttp

session = None

async def app(scope, receive, send):
    global session
    if scope["type"] != "http":
        return
    if session is None:
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False)
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    headers = {"content-type": "application/json"}
    async with session.post(os.environ["UPSTREAM"] + scope["path"], data=body, headers=headers) as answer:
        kind = answer.headers["content-type"].encode()
        await send({"type": "http.response.start", "status": answer.status, "headers": [(b"content-type", kind)]})
        async for chunk in answer.content.iter_any():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

if __name__ == "__main__":
    import uvicorn
    uvicorn.run("proxy:app", port=0, log_level="info", access_log=False, loop="uvloop", http="httptools")
"""


def gateway(setup: Setup) -> list[Row]:
    """Added time of whole answers and first chunks, and the throughput beside a bare proxy's."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        vendor = stack.enter_context(running_vendor())
        served, process = stack.enter_context(running_gateway(vendor, folder))
        proxy = stack.enter_context(_proxy(vendor, folder))
        return asyncio.run(_rows(vendor, served, proxy, process, 1 if setup.quick else 3))


async def _rows(vendor: str, served: str, proxy: str, process: int, rounds: int) -> list[Row]:
    urls = {"direct": vendor, "gateway": served, "bare": proxy}
    rows: list[Row] = []
    for url in urls.values():
        await load(url, 2, 20)
        await load(url, 2, 5, clients.STREAM_BODY)
    for at_once, calls in _CALLS.items():
        found: dict[str, list[float]] = {name: [] for name in urls}
        seconds = dict.fromkeys(urls, 0.0)
        spent = 0.0
        for _ in range(rounds):
            for name, url in urls.items():
                before, start = _cpu(process), time.perf_counter()
                found[name] += await load(url, at_once, calls)
                seconds[name] += time.perf_counter() - start
                spent += _cpu(process) - before if name == "gateway" else 0
        rows += _rows_of(at_once, found, seconds, spent / (at_once * calls * rounds))
    for words, body in (("", clients.STREAM_BODY), (" that comes alone", _ALONE)):
        firsts = {name: statistics.median(await load(url, 1, 100, body)) for name, url in urls.items()}
        rows.append(Row(f"added to the first chunk{words}", firsts["gateway"] - firsts["direct"], goal=_FIRST))
        rows.append(Row(f"the same of a bare proxy{words}", firsts["bare"] - firsts["direct"]))
    return rows


def _rows_of(at_once: int, found: dict[str, list[float]], seconds: dict[str, float], spent: float) -> list[Row]:
    middle = {name: statistics.median(each) for name, each in found.items()}
    late = {name: statistics.quantiles(each, n=100)[98] for name, each in found.items()}
    words = f"{at_once} at once"
    rows = [
        Row(
            f"added by the gateway, median, {words}",
            middle["gateway"] - middle["direct"],
            goal=_ADDED if at_once == 1 else None,
        ),
        Row(f"added by a bare proxy, median, {words}", middle["bare"] - middle["direct"]),
        Row(f"CPU time of the gateway for a call, {words}", spent),
    ]
    if at_once == max(_CALLS):
        rows.append(Row(f"99th percentile / direct, {words}", late["gateway"], late["direct"], goal=_P99))
        rows.append(
            Row(
                f"calls in a second of a bare proxy / the gateway's, {words}",
                seconds["gateway"],
                seconds["bare"],
                goal=1 / _OF_BARE,
            )
        )
    return rows


async def load(url: str, at_once: int, calls: int, body: Mapping[str, object] = clients.BODY) -> list[float]:
    """Returns the seconds of each call, to the first chunk of a stream, on connections of their own."""

    async def one_client(session: aiohttp.ClientSession) -> list[float]:
        return [await _call(session, url, body) for _ in range(calls)]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        found = await asyncio.gather(*(one_client(session) for _ in range(at_once)))
    return [each for one in found for each in one]


async def _call(session: aiohttp.ClientSession, url: str, body: Mapping[str, object]) -> float:
    start = time.perf_counter()
    async with session.post(f"{url}/v1/chat/completions", json=body, headers=clients.HEADERS) as answer:
        assert answer.status == 200, await answer.text()
        await answer.content.readany()
        first = time.perf_counter()
        await answer.read()
    return (first if body.get("stream") else time.perf_counter()) - start


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running_vendor(program: Path = Path(__file__)) -> Generator[str]:
    """Yields the address of a vendor in a process of its own; this module's answers each request after the delay."""
    with _started([sys.executable, str(program)], {}, r"listening at (\S+)") as (url, _):
        yield url


@contextmanager
def running_gateway(vendor: str, folder: Path) -> Generator[tuple[str, int]]:
    """Yields the address of `abstractcore serve` in front of a vendor, and the id of its process."""
    config = folder / "server.toml"
    config.write_text(f'[server]\nport = 0\n[providers.openai]\nbase_url = "{vendor}/v1"\n', encoding="utf-8")
    command = [sys.executable, "-m", "abstractcore", "serve", "--config", str(config)]
    with _started(command, {"OPENAI_API_KEY": clients.KEY}, r"listening at (\S+)") as (url, process):
        yield url, process


@contextmanager
def _proxy(vendor: str, folder: Path) -> Generator[str]:
    (folder / "proxy.py").write_text(_PROXY, encoding="utf-8")
    with _started([sys.executable, str(folder / "proxy.py")], {"UPSTREAM": vendor}, r"running on (\S+)") as (url, _):
        yield url


@contextmanager
def _started(command: list[str], variables: dict[str, str], pattern: str) -> Generator[tuple[str, int]]:
    """Yields the address that a process prints to stderr, and its id; ends the process."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables}) as process:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, f"{command} did not start"
            found = re.search(pattern, line)
        try:
            yield found[1], process.pid
        finally:
            process.terminate()


class _Delayed(Requests):
    """Answers each request after the delay; of a stream, all chunks at once, or the first one alone."""

    def answer(self, head: bytes, tight: bytes) -> None:
        loop = asyncio.get_running_loop()
        if b'"user":"alone"' in tight:
            loop.call_later(_DELAY, self.transport.write, _STREAM[:_FIRST_END])
            loop.call_later(_DELAY + _PAUSE, self.transport.write, _STREAM[_FIRST_END:])
        else:
            answer = _STREAM if b'"stream":true' in tight else PLAIN
            loop.call_later(_DELAY, self.transport.write, answer)


def _answer(body: bytes, kind: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n%b" % (kind, len(body), body)


PLAIN = _answer(wire.completion(), b"application/json")
_STREAM = _answer(b"".join((*wire.events()[:_EVENTS], *wire.events()[-3:])), b"text/event-stream")
_FIRST_END = _STREAM.index(wire.events()[1])


async def serve(answers: type[Requests]) -> None:
    """Runs a vendor at a free port of the loopback, and prints its address."""
    server = await asyncio.get_running_loop().create_server(answers, "127.0.0.1", 0)
    print(f"listening at http://127.0.0.1:{server.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(_Delayed))
