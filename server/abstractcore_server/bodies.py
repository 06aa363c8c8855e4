"""Reads the bodies of requests: in time, up to a size, unpacked up to a size, and as JSON up to a depth."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from typing import Any, cast

import jiter

from abstractcore.errors import InvalidInputError, RequestTimeoutError

from .connection import ClientGone, Receive
from .failures import RequestRefused, refused
from .limits import Limits

_GZIP = 16 + zlib.MAX_WBITS
_AS_JSON = ("", "application/json", "application/x-www-form-urlencoded")
"""Content types of JSON. The last one is what curl sends with `-d`, as in vendors' documentation. A form that a web
page sends has an `Origin`, for which `Origins` has refused it before.
"""


async def read_body(receive: Receive, headers: Mapping[str, str], limits: Limits) -> bytes:
    """Returns the whole body, unpacked if it has `Content-Encoding: gzip`.

    Raises `RequestRefused` with 408, 413 or 415, and `ClientGone` if the client leaves before its end.
    """
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        raise refused(415, f"Content-Encoding {encoding[:40]!r} is not supported: use gzip, or none")
    declared = headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > limits.body_bytes):
        raise too_large(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            body = await _received(receive, limits)
    except TimeoutError:
        error = RequestTimeoutError(f"the body did not arrive within {limits.body_seconds:g} seconds")
        raise RequestRefused(408, error, connection="close") from None
    return _unpacked(body, limits) if encoding == "gzip" else body


async def _received(receive: Receive, limits: Limits) -> bytes:
    message = await receive()
    if message["type"] != "http.request":
        raise ClientGone
    if not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > limits.body_bytes:
            raise too_large(limits)
        return body
    pieces = bytearray(message.get("body", b""))
    while message.get("more_body", False):
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        pieces += message.get("body", b"")
        if len(pieces) > limits.body_bytes:
            raise too_large(limits)
    return bytes(pieces)


def _unpacked(body: bytes, limits: Limits) -> bytes:
    """Returns an unpacked body. One packed body may contain another, but not several after each other."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, limits.body_bytes + 1)
    except zlib.error:
        raise refused(400, "the body is not gzip, as its Content-Encoding says") from None
    if len(unpacked) > limits.body_bytes:
        raise too_large(limits)
    if not unpacker.eof or unpacker.unused_data:
        raise refused(400, "the body is not one complete gzip stream")
    return unpacked


def too_large(limits: Limits) -> RequestRefused:
    """Returns the refusal of a body that is too large. The connection stays open, and the rest of the body is dropped:
    a client or a proxy that still sends to a closed one would see a reset, and no response.
    """
    return refused(413, f"the body is larger than {limits.body_bytes} bytes")


def read_object(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Returns the JSON object in a body.

    Raises `RequestRefused` with 415 for another content type, and `InvalidInputError` for what is not a JSON object, or
    beyond the parser's limits: 200 levels, 4,300 digits.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _AS_JSON and not kind.endswith("+json"):
        raise refused(415, f"Content-Type {kind[:80]!r} is not supported here: send application/json")
    try:
        value = jiter.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError(f"the body must be a JSON object, got {type(value).__name__}")
    return cast("dict[str, Any]", value)
