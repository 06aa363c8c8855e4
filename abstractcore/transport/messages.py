"""Requests and responses between our data and the HTTP library's, alike in both colours."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

import httpx2

from ..errors import ServerError
from ..schema import WireRequest
from ..version import __version__

_HEADERS: list[tuple[str, str]] = [
    ("accept", "application/json, text/event-stream, */*;q=0.1"),
    ("accept-encoding", "gzip, deflate"),
    ("user-agent", f"abstractcore/{__version__}"),
]
_CONNECT_SECONDS = 10.0


def to_http(request: WireRequest, timeout: float) -> httpx2.Request:
    """The library's request; `timeout` in seconds bounds each step, and connecting has ten at most.

    Host and length are written here and the URL is parsed once, which halves the library's own work on a request.
    """
    url = _parsed(request.url)
    headers = [("host", url.netloc.decode("ascii")), *_HEADERS, ("content-length", str(len(request.body)))]
    headers += request.headers.items()
    connect = min(timeout, _CONNECT_SECONDS)
    return httpx2.Request(
        request.method,
        url,
        headers=headers,
        stream=httpx2.ByteStream(request.body),
        extensions={"timeout": {"connect": connect, "read": timeout, "write": timeout, "pool": timeout}},
    )


@lru_cache(maxsize=256)
def _parsed(url: str) -> httpx2.URL:
    return httpx2.URL(url)


def lower_headers(response: httpx2.Response) -> Mapping[str, str]:
    """Header fields with lower-case names; a repeated field's values are joined with commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def check_encoding(response: httpx2.Response) -> None:
    """Raise `ServerError` for a body packed other than once: a kilobyte packed twice can fill the memory."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "deflate"):
        raise ServerError(f"the provider sent its answer packed as {encoding!r}, which was not asked for")


def cut(response: httpx2.Response) -> None:
    """Shut the response's socket down, whichever thread is reading it."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
