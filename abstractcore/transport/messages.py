"""Converts requests and responses between our data and httpx2's; headers and checks of all transports."""

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
from ..schema.base_error import shown
from ..schema.wire import ENCODINGS, unexpected_encoding
from ..version import __version__

HEADERS: list[tuple[str, str]] = [
    ("accept", "application/json, text/event-stream, */*;q=0.1"),
    ("accept-encoding", ", ".join(ENCODINGS)),
    ("user-agent", f"abstractcore/{__version__}"),
]
"""The headers of every request."""

Trace: TypeAlias = Callable[[str, object], object]
"""Called with the trace events of httpx2."""


def to_http(request: WireRequest, timeouts: Mapping[str, float], trace: Trace | None = None) -> httpcore2.Request:
    """Returns the request for httpx2's pools; `timeouts` holds the seconds for each step, and `trace` gets its events.

    httpx2's own requests and clients are slower than everything else that is done here.
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
    """Returns `url` for a pool, and its `Host` header."""
    address = parsed(url)
    target = httpcore2.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path)
    return target, address.netloc


def headers_of(request: WireRequest) -> list[tuple[str, str]]:
    """Returns the headers of a request, with defaults for those that it does not set."""
    own = request.headers
    return [*(pair for pair in HEADERS if pair[0] not in own), *own.items()]


@lru_cache(maxsize=256)
def parsed(url: str) -> httpx2.URL:
    """Returns `url` with invalid characters escaped. Raises `httpx2.InvalidURL`."""
    address = httpx2.URL(url)
    if not address.host:
        raise httpx2.InvalidURL("no host")
    return address


def lower_headers(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Returns headers with lower-case names; values of a repeated header are joined with commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def head_of(response: httpx2.Response | httpcore2.Response) -> tuple[int, Mapping[str, str]]:
    """Returns the status and the headers."""
    if isinstance(response, httpx2.Response):
        return response.status_code, lower_headers(response.headers.raw)
    return response.status, lower_headers(response.headers)


def close_after_surplus(response: httpcore2.Response) -> None:
    """Closes the connection of a response that was read to its end if the server has sent more than the response.

    httpcore2 would read the surplus as the response to the next request, which may be another tenant's.
    Only h11's state knows of it, and httpcore2 has no public access to that (HTTP/2 is not used here).
    """
    stream = getattr(response.stream, "_stream", None)
    state = getattr(getattr(stream, "_connection", None), "_h11_state", None)
    if state is not None and state.trailing_data[0]:
        network: httpcore2.NetworkStream = cast("dict[str, Any]", response.extensions)["network_stream"]
        shut_down(network.get_extra_info("socket"))


class UnreadBody:
    """The body of an error response with an unexpected encoding, read as empty: status and headers are useful."""

    def __init__(self, body: Body) -> None:
        """The caller closes `body`.

        Raises `ServerError` if the response is not an error: then its body is needed.
        """
        if 200 <= body.status < 300:
            encoding = shown(unexpected_encoding(body.headers))
            message = f"unexpected Content-Encoding {encoding}: expected {' or '.join(ENCODINGS)}"
            raise ServerError(message, status=body.status)
        self.status: int = body.status
        self.headers: Mapping[str, str] = body.headers

    async def read(self) -> bytes:
        """Returns empty bytes."""
        return b""

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def abort(self) -> None:
        """Does nothing: there is no connection."""


def shut_down(connection: socket.socket | None) -> None:
    """Shuts `connection` down, which ends waits for it in any thread."""
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
