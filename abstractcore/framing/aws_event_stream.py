"""Encodes and decodes Amazon's binary event stream (`application/vnd.amazon.eventstream`).

https://smithy.io/2.0/aws/amazon-eventstream.html
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import TypeAlias
from zlib import crc32

from ..errors import ServerError, StreamInterruptedError
from .lines import MAX_FRAME_BYTES

HeaderValue: TypeAlias = bool | int | str | bytes
"""A timestamp is an `int` of milliseconds since the epoch, a UUID its 16 `bytes`."""

_PRELUDE = Struct(">III")
_CHECKSUM = Struct(">I")
_LENGTH = Struct(">H")
_NUMBERS = {2: Struct(">b"), 3: Struct(">h"), 4: Struct(">i"), 5: Struct(">q"), 8: Struct(">q")}
_FLAGS = {0: True, 1: False}
_INT, _LONG, _BYTES, _TEXT, _UUID = 4, 5, 6, 7, 9
_LEAST_BYTES = _PRELUDE.size + _CHECKSUM.size
_LENGTH_BYTES = 4


@dataclass(slots=True)
class AwsEventStreamMessage:
    """One message. Messages may share `headers`: do not change them."""

    headers: Mapping[str, HeaderValue]
    payload: bytes

    def encode(self) -> bytes:
        """Returns the encoded message; raises `ValueError` for a header that cannot be encoded."""
        headers = b"".join(_header(name, value) for name, value in self.headers.items())
        lengths = Struct(">II").pack(_LEAST_BYTES + len(headers) + len(self.payload), len(headers))
        begun = lengths + _CHECKSUM.pack(crc32(lengths)) + headers + self.payload
        return begun + _CHECKSUM.pack(crc32(begun))


class AwsEventStreamFramer:
    """Splits a stream into messages of at most `max_bytes`, and verifies both CRCs of each.

    Raises `ServerError` for invalid data.
    """

    __slots__ = ("_headers", "_limit", "_needed", "_raw_headers", "_waiting", "_waiting_bytes")

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._limit = max_bytes
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._needed = 0
        self._raw_headers = b""
        self._headers: dict[str, HeaderValue] = {}

    def accepts(self, start: bytes) -> bool | None:
        """Returns whether `start` begins with the length of a message; None if it is too short to decide.

        Text never does: its first four bytes would be a length above any limit.
        """
        if len(start) < _LENGTH_BYTES:
            return None
        return int.from_bytes(start[:_LENGTH_BYTES], "big") <= max(self._limit, MAX_FRAME_BYTES)

    def feed(self, data: bytes) -> list[AwsEventStreamMessage]:
        """Returns the messages that `data` completes."""
        if self._waiting:
            self._waiting.append(data)
            self._waiting_bytes += len(data)
            if self._waiting_bytes < self._needed:
                return []
            data = b"".join(self._waiting)
            self._waiting.clear()
        messages: list[AwsEventStreamMessage] = []
        start, size = 0, len(data)
        while start < size:
            end = start + self._length_at(data, start) if size - start >= _PRELUDE.size else start + _PRELUDE.size
            if end > size:
                self._wait(data[start:] if start else data, end - start)
                break
            messages.append(self._message(data, start, end))
            start = end
        return messages

    def finish(self) -> list[AwsEventStreamMessage]:
        """Returns an empty list; raises `StreamInterruptedError` if the last message is incomplete."""
        if self._waiting:
            raise StreamInterruptedError("the stream ended in the middle of a message")
        return []

    def _wait(self, rest: bytes, needed: int) -> None:
        self._waiting.append(rest)
        self._waiting_bytes = len(rest)
        self._needed = needed

    def _length_at(self, data: bytes, start: int) -> int:
        """Returns the length of the message at `start`."""
        total, of_headers, checksum = _PRELUDE.unpack_from(data, start)
        if crc32(data[start : start + 8]) != checksum:
            raise ServerError("the response is not a valid event stream: prelude CRC mismatch")
        if total < _LEAST_BYTES + of_headers:
            raise ServerError(f"the provider sent a message of {total} bytes with {of_headers} bytes of headers")
        if total > self._limit:
            raise ServerError(f"the provider sent a message of over {self._limit:,} bytes")
        return total

    def _message(self, data: bytes, start: int, end: int) -> AwsEventStreamMessage:
        last = end - _CHECKSUM.size
        if crc32(data[start:last]) != _CHECKSUM.unpack_from(data, last)[0]:
            raise ServerError("the event stream is corrupt: message CRC mismatch")
        begin = start + _PRELUDE.size
        body = begin + _PRELUDE.unpack_from(data, start)[1]
        raw = data[begin:body]
        if raw != self._raw_headers:  # most messages have the headers of the one before
            self._headers, self._raw_headers = _read_headers(raw), raw
        return AwsEventStreamMessage(self._headers, data[body:last])


def _read_headers(raw: bytes) -> dict[str, HeaderValue]:
    headers: dict[str, HeaderValue] = {}
    offset = 0
    try:
        while offset < len(raw):
            raw_name, offset = _sized_value(raw, offset + 1, raw[offset])
            name = raw_name.decode()
            if name in headers:
                raise ValueError("duplicate header name")
            headers[name], offset = _value(raw, offset + 1, raw[offset])
    except (IndexError, ValueError, struct.error):
        raise ServerError(f"the provider sent a message with headers that cannot be read: {raw[:60]!r}") from None
    return headers


def _value(raw: bytes, offset: int, kind: int) -> tuple[HeaderValue, int]:
    """Returns the value at `offset`, and its end."""
    if kind in _FLAGS:
        return _FLAGS[kind], offset
    if kind in _NUMBERS:
        number = _NUMBERS[kind]
        return number.unpack_from(raw, offset)[0], offset + number.size
    if kind == _UUID:
        return _sized_value(raw, offset, 16)
    if kind not in (_BYTES, _TEXT):
        raise ValueError("unknown header type")
    value, offset = _sized_value(raw, offset + _LENGTH.size, _LENGTH.unpack_from(raw, offset)[0])
    return (value.decode() if kind == _TEXT else value), offset


def _sized_value(raw: bytes, offset: int, size: int) -> tuple[bytes, int]:
    if offset + size > len(raw):
        raise ValueError("truncated header")
    return raw[offset : offset + size], offset + size


def _header(name: str, value: HeaderValue) -> bytes:
    """Encodes a header; integers in 4 bytes if they fit, else in 8."""
    raw_name = name.encode()
    try:
        return bytes([len(raw_name)]) + raw_name + _write(value)
    except struct.error as error:
        raise ValueError(f"header {name!r}: {error}") from None


def _write(value: HeaderValue) -> bytes:
    if isinstance(value, bool):
        return b"\0" if value else b"\1"
    if isinstance(value, int):
        kind = _INT if -(2**31) <= value < 2**31 else _LONG
        return bytes([kind]) + _NUMBERS[kind].pack(value)
    raw = value.encode() if isinstance(value, str) else value
    return bytes([_TEXT if isinstance(value, str) else _BYTES]) + _LENGTH.pack(len(raw)) + raw
