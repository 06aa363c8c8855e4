"""A PostgreSQL whose connection is cut at a certain message, once."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tests.postgresql import PORT, PostgreSQL


@contextmanager
def cutting(server: PostgreSQL, words: str) -> Generator[str]:
    """Yields the URL of a socket that passes everything on to the server; the first message with `words`, and its
    connection, are dropped: "commit" is the driver's, "COMMIT" the server's.
    """
    with tempfile.TemporaryDirectory(prefix="pg-") as folder, socket.socket(socket.AF_UNIX) as listening:
        path = f"{folder}/.s.PGSQL.{PORT}"
        listening.bind(path)
        listening.listen()
        _Cut(listening, server.url.partition("unix_sock=")[2], words.encode() + b"\0").start()
        yield server.url.partition("unix_sock=")[0] + f"unix_sock={path}"
        listening.shutdown(socket.SHUT_RDWR)


class _Cut:
    def __init__(self, listening: socket.socket, target: str, words: bytes) -> None:
        self._listening = listening
        self._target = target
        self._words = words
        self._is_cut = False

    def start(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if self._words in data and not self._is_cut:
                    self._is_cut = True
                    break
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        source.close()
