"""Requests and responses between our data and httpx2's, alike sync and async, and what all transports ask for."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias, cast

import httpcore2
import httpx2

from ..errors import ServerError
from ..ports import Body
from ..schema import WireRequest
from ..schema.quoting import shown
from ..schema.wire import ENCODINGS, unexpected_encoding
from ..version import __version__

HEADERS: list[tuple[str, str]] = [
    ("accept", "application/json, text/event-stream, */*;q=0.1"),
    ("accept-encoding", ", ".join(ENCODINGS)),
    ("user-agent", f"abstractcore/{__version__}"),
]
"""What every request says."""

Trace: TypeAlias = Callable[[str, object], object]
"""Is told of each step that httpx2 makes."""


def to_http(request: WireRequest, timeouts: Mapping[str, float], trace: Trace | None = None) -> httpcore2.Request:
    """The request for httpx2's pools; `timeouts` has the seconds for each step, and `trace`, if given, sees each.

    It is made without httpx2's own requests and clients, which take longer than all else that is done here.
    """
    url, host = _target(request.url)
    headers = [(b"host", host), (b"content-length", b"%d" % len(request.body))]
    headers += [(name.encode("ascii"), value.encode("ascii")) for name, value in headers_of(request)]
    return httpcore2.Request(
        request.method,
        url,
        headers=headers,
        content=request.body,
        extensions={"timeout": timeouts} if trace is None else {"timeout": timeouts, "trace": trace},
    )


@lru_cache(maxsize=256)
def _target(url: str) -> tuple[httpcore2.URL, bytes]:
    """`url` for a pool, and its `Host` header."""
    address = parsed(url)
    target = httpcore2.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path)
    return target, address.netloc


def headers_of(request: WireRequest) -> list[tuple[str, str]]:
    """What every request says, where it says nothing else itself, and its own headers."""
    own = request.headers
    return [*(pair for pair in HEADERS if pair[0] not in own), *own.items()]


@lru_cache(maxsize=256)
def parsed(url: str) -> httpx2.URL:
    """`url`, with what an address cannot hold escaped and nothing else changed. Raises `httpx2.InvalidURL`."""
    address = httpx2.URL(url)
    if not address.host:
        raise httpx2.InvalidURL("no host")
    return address


def lower_headers(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Header fields with lower-case names; a repeated field's values are joined with commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def head_of(response: httpx2.Response | httpcore2.Response) -> tuple[int, Mapping[str, str]]:
    """The status and the header fields."""
    if isinstance(response, httpx2.Response):
        return response.status_code, lower_headers(response.headers.raw)
    return response.status, lower_headers(response.headers)


def cut_after_surplus(response: httpcore2.Response) -> None:
    """Cut the connection of a response that was read to its end if the server has sent more than the response.

    httpcore2 keeps what is left and would take it for the response to the next request, which may be another tenant's.
    Only h11's state knows of it, and httpcore2 has no public access to that (HTTP/2 is not used here).
    """
    stream = getattr(response.stream, "_stream", None)
    state = getattr(getattr(stream, "_connection", None), "_h11_state", None)
    if state is not None and state.trailing_data[0]:
        network: httpcore2.NetworkStream = cast("dict[str, Any]", response.extensions)["network_stream"]
        shut_down(network.get_extra_info("socket"))


class UnreadBody:
    """The body of an error in an unexpected encoding, taken as empty: the status and the headers still say much."""

    def __init__(self, body: Body) -> None:
        """`body` is closed, or will be, by whoever makes this.

        Raises `ServerError` if its response is no error: then the body is what was asked for.
        """
        if 200 <= body.status < 300:
            encoding = shown(unexpected_encoding(body.headers))
            message = f"the response has the unexpected Content-Encoding {encoding}: {' and '.join(ENCODINGS)} are read"
            raise ServerError(message, status=body.status)
        self.status: int = body.status
        self.headers: Mapping[str, str] = body.headers

    async def read(self) -> bytes:
        """Nothing."""
        return b""

    async def close(self) -> None:
        """Nothing is held."""

    def abort(self) -> None:
        """Nothing can be cut."""


def shut_down(connection: socket.socket | None) -> None:
    """End what waits for `connection` in any thread."""
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
