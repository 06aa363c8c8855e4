"""Maps the exceptions of aiohttp to errors of this package."""

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
    connect_timeout,
    no_address,
    read_timeout,
    refused_by_proxy,
)

FAILURES: tuple[type[Exception], ...] = (
    aiohttp.ClientError,
    HttpProcessingError,
    OSError,
    RuntimeError,
    ValueError,
    zlib.error,
)
"""The exceptions of aiohttp and zlib; RuntimeError is raised for a connection that another task has closed."""


def map_error(error: BaseException, url: str, seconds: float, proxy: ProxyInUse | None = None) -> AbstractCoreError:
    """Returns the error for one of `FAILURES`. Raise it after the `except` block: the cause holds request headers."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return connect_timeout(url, seconds, proxy)
    if isinstance(error, TimeoutError):
        return read_timeout(url, seconds)
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
    """Returns the reason in our own words: aiohttp's messages quote the URL."""
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return "the response is not HTTP"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the body is incomplete"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "connection closed"
