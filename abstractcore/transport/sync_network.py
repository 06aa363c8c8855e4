"""TCP and TLS for httpx2's sync pools, with one deadline for all waits of an exchange."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

import httpcore2

from ..ports import current_interruption, interruptible
from .joined_writes import JoinedWrites
from .messages import shut_down
from .name_lookup import addresses
from .timeouts import seconds_left

AddressCheck: TypeAlias = Callable[[str, Sequence[str]], None]


class SyncNetwork(httpcore2.NetworkBackend):
    """Resolves host names in a thread, and gives each address an equal part of the time left.

    `check` gets a host and its addresses before they are connected to, and may raise `httpcore2.ConnectError`.
    """

    def __init__(self, check: AddressCheck | None = None) -> None:
        self._check = check
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> SyncNetworkStream:
        """Returns a connection to the first address that answers."""
        try:
            found = addresses(host, port, seconds_left(timeout))
            resolved = list(dict.fromkeys(str(info[4][0]) for info in found))
            if self._check is not None:
                self._check(host, resolved)
            failure: Exception | None = None
            for number, address in enumerate(resolved):
                left = seconds_left(timeout)
                part = None if left is None else left / (len(resolved) - number)
                try:
                    stream = self._backend.connect_tcp(address, port, part, local_address, socket_options)
                    return SyncNetworkStream(stream)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failure = error
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from None
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from None
        raise failure or httpcore2.ConnectError(f"{host} has no address")


class SyncNetworkStream(httpcore2.NetworkStream):
    """A connection whose reads and writes wait no longer than the time left of the exchange."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._writes = JoinedWrites()
        connection: Any = stream.get_extra_info("socket")
        # In TLS through a proxy with TLS the socket has the outer layer only; the stream has the inner one.
        inner = stream.get_extra_info("ssl_object") is not None and not isinstance(connection, ssl.SSLSocket)
        self._socket: socket.socket | None = None if inner else connection

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Returns received data, up to `max_bytes`; empty at the end."""
        try:
            if current_interruption() is None:  # the most frequent: reads of a body
                return self._read(max_bytes, timeout)
            with interruptible(self._cut):
                return self._read(max_bytes, timeout)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends all of `buffer`; the head of a request is sent with its body."""
        for joined in self._writes.add(buffer):
            self._send(joined, timeout)

    def _send(self, buffer: bytes, timeout: float | None) -> None:
        try:
            with interruptible(self._cut):
                self._write(buffer, timeout)
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from None

    def _read(self, max_bytes: int, timeout: float | None) -> bytes:
        rest = self._writes.rest()
        if rest:
            self._send(rest, timeout)
        left = seconds_left(timeout)
        if self._socket is None:
            return self._stream.read(max_bytes, left)
        self._socket.settimeout(left)
        return self._socket.recv(max_bytes)

    def _write(self, buffer: bytes, timeout: float | None) -> None:
        if self._socket is None:
            self._stream.write(buffer, seconds_left(timeout))
            return
        rest = memoryview(buffer)
        while rest:
            self._socket.settimeout(seconds_left(timeout))
            rest = rest[self._socket.send(rest) :]

    def _cut(self) -> None:
        shut_down(self._stream.get_extra_info("socket"))

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> SyncNetworkStream:
        """Returns the connection with TLS."""
        try:
            left = seconds_left(timeout)
        except TimeoutError as error:
            self.close()
            raise httpcore2.ConnectTimeout(str(error)) from None
        # The handshake detaches the socket: closing it from outside needs a duplicate.
        raw: socket.socket = self._stream.get_extra_info("socket")
        twin = socket.fromfd(raw.fileno(), raw.family, raw.type)
        with twin, interruptible(partial(shut_down, twin)):
            return SyncNetworkStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        """Returns transport information for httpx2."""
        return self._stream.get_extra_info(info)
