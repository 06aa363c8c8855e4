"""An HTTP proxy on localhost: forwards requests, tunnels, and may require a password."""

from __future__ import annotations

import asyncio
import base64
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from tests.chaos_server import PATIENCE_SECONDS

_REFUSAL = b"HTTP/1.1 407 Who are you\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class ProxyServer:
    """Runs in a thread from `with` to the end of it. `login` is USER:PASSWORD. Every name is this machine's."""

    def __init__(self, login: str | None = None) -> None:
        self.asked: list[str] = []
        """The first lines of the requests to it."""
        self._login = login and base64.b64encode(login.encode()).decode()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="proxy", daemon=True)

    def __enter__(self) -> ProxyServer:
        self._thread.start()
        assert self._ready.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_SECONDS)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve_client(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                first = head.split(b"\r\n", 1)[0].decode()
                self.asked.append(first)
                if self._login and f"basic {self._login}".lower() not in head.decode("latin-1").lower():
                    writer.write(_REFUSAL)
                    await writer.drain()
                    return
                method, target, _ = first.split(" ")
                port = int(target.rpartition(":")[2]) if method == "CONNECT" else urlsplit(target).port
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    if method == "CONNECT":
                        writer.write(b"HTTP/1.1 200 Go\r\n\r\n")
                    else:
                        far_writer.write(head)
                    await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
                finally:
                    far_writer.close()
        finally:
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
