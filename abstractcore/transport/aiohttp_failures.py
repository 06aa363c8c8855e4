"""Our error for the exceptions of aiohttp."""

from __future__ import annotations

import os
import zlib

import aiohttp
import httpx2
from aiohttp.http_exceptions import HttpProcessingError

from ..errors import AbstractCoreError
from .failures import (
    ProxyInUse,
    broken,
    cannot_connect,
    cannot_unpack,
    no_address,
    refused_by_proxy,
    slow_to_answer,
    slow_to_connect,
)

FAILURES: tuple[type[Exception], ...] = (
    aiohttp.ClientError,
    HttpProcessingError,
    OSError,
    RuntimeError,
    ValueError,
    zlib.error,
)
"""What aiohttp and zlib raise; RuntimeError comes from a connection that another task has closed."""


def as_ours(error: BaseException, url: str, seconds: float, proxy: ProxyInUse | None = None) -> AbstractCoreError:
    """Our error for one of `FAILURES`. Raise it after the `except` block: the original holds the request's headers."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return slow_to_connect(url, seconds, proxy)
    if isinstance(error, TimeoutError):
        return slow_to_answer(url, seconds)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return refused_by_proxy(url, proxy)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return cannot_connect(url, str(error.certificate_error), proxy)
    if isinstance(error, aiohttp.ClientConnectorError):
        return cannot_connect(url, str(error.os_error), proxy)
    if isinstance(error, zlib.error):
        return cannot_unpack(url)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | httpx2.InvalidURL):
        return no_address(url)
    return broken(url, _reason(error), proxy)


def _reason(error: BaseException) -> str:
    """In words of our own: aiohttp's quote the address."""
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return "what came is not HTTP"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the body is not complete"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "it was closed"
