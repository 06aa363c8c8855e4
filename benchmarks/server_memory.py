"""The memory of `abstractcore serve`: with a thousand streams that wait for their model, and over many requests."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import wire
from rounds import Row, Setup

from server import Requests

_PATH = b"/v1/chat/completions"
_EVENT = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n'
)
_AT_ONCE = 16
_PATIENCE_SECONDS = 120


class _Vendor(Requests):
    """Answers at once, or begins a stream that never goes on."""

    def answer(self, head: bytes, tight: bytes) -> None:
        if b'"stream":true' in tight:
            chunk = b"%x\r\n%b\r\n" % (len(_EVENT), _EVENT)
            kind = b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            self.transport.write(b"HTTP/1.1 200 OK\r\n" + kind + chunk)
        else:
            body = wire.completion()
            kind = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
            self.transport.write(b"HTTP/1.1 200 OK\r\n" + kind + body)


def memory(setup: Setup) -> list[Row]:
    """Measures the memory of a server process in MB."""
    return asyncio.run(_measured(1000, 2000 if setup.quick else 100_000))


async def _measured(clients: int, requests: int) -> list[Row]:
    _allow_files(4 * clients)
    vendor = await asyncio.get_running_loop().create_server(_Vendor, "127.0.0.1", 0)
    async with vendor, asyncio.timeout(_PATIENCE_SECONDS + requests / 20):
        with _server(vendor.sockets[0].getsockname()[1]) as (process, port):
            await _ask_often(port, 500)
            before = _megabytes(process)
            opened = await asyncio.gather(*(_opened_stream(port) for _ in range(clients)))
            idle = _megabytes(process)
            for writer in opened:
                writer.close()
            await _ask_often(port, requests // 10)
            first = _megabytes(process)
            await _ask_often(port, requests)
            last = _megabytes(process)
    return [
        Row("a server: MB", before, is_count=True),
        Row(f"{clients} idle streams: MB", idle, goal=200, is_count=True),
        Row(f"after {requests} requests / after {requests // 10}: MB", last, first, goal=1.1, is_count=True),
    ]


@contextmanager
def _server(vendor: int) -> Generator[tuple[int, int]]:
    """Runs a server in a process of its own; yields the id of the process and its port."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "server.toml"
        provider = f'base_url = "http://127.0.0.1:{vendor}/v1"\n'
        config.write_text(f"[limits]\nrequests = 4096\n[providers.openai-compatible]\n{provider}")
        command = [sys.executable, "-m", "abstractcore", "serve", "--port", "0", "--config", str(config)]
        environment = {**os.environ, "XDG_DATA_HOME": folder}
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
            try:
                assert process.stderr is not None
                found = re.search(r"listening at http://127.0.0.1:(\d+)", process.stderr.readline())
                assert found is not None
                yield process.pid, int(found[1])
            finally:
                process.kill()


async def _opened_stream(port: int) -> asyncio.StreamWriter:
    """Returns a connection whose stream has begun."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(stream=True))
    await reader.readuntil(b'"content":"a"')
    return writer


async def _ask_often(port: int, requests: int) -> None:
    async def some(count: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(count):
            writer.write(_request(stream=False))
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            assert head.startswith(b"HTTP/1.1 200 ")
            assert length is not None
            await reader.readexactly(int(length[1]))
        writer.close()

    await asyncio.gather(*(some(requests // _AT_ONCE) for _ in range(_AT_ONCE)))


def _request(*, stream: bool) -> bytes:
    asked = {"model": "openai-compatible/m", "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    body = json.dumps(asked).encode()
    head = b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % (_PATH, len(body)) + body


def _megabytes(process: int) -> float:
    """Returns the memory that a process has in RAM. Linux only."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def _allow_files(files: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, hard), hard))
