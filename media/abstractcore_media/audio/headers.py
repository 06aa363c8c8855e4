"""Reads how long the header of a recording or video says it is, and whether it has the mark of its end. Pure.

FFmpeg estimates the length of some formats, and for others reports what is left of a cut file.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO

_OPEN_ENDED = 0x7FFF0000
"""Programs that write to a pipe write a size of at least this: they do not know it yet."""
_MAX_CHUNKS = 1000
_HEAD_BYTES, _TAIL_BYTES = 1 << 16, 1 << 17
_UNCOMPRESSED = frozenset({1, 3, 6, 7, 0xFFFE})
"""Formats of WAV whose seconds follow from their bytes: integers, floats, A-law, µ-law and the extensible form."""


@dataclass(frozen=True, slots=True)
class WavHeader:
    """The duration in the header of a WAV file, and of its data, in seconds. Equal if the header leaves it open.

    None for compressed sound, of which the header does not have it.
    """

    announced: float | None
    present: float | None


def read_wav_header(file: BinaryIO) -> WavHeader:
    """Returns the header of a RIFF or RF64 file; raises `ValueError` with the reason if it has no format or no data."""
    form: tuple[int, ...] | None = None
    large = 0
    for name, size, place in _chunks(file, 12, "<4sI"):
        if name == b"fmt ":
            form = _unpacked("<HHIIH", file.read(14))
        elif name == b"ds64":
            large = _unpacked("<QQ", file.read(16))[1]
        elif name == b"data":
            if form is None:
                raise ValueError("its header has no audio format")
            left = file.seek(0, os.SEEK_END) - place
            return _wav_header(form, large if large and size == 0xFFFFFFFF else size, left, bool(large))
    raise ValueError("it has a header and no audio data")


def _wav_header(form: tuple[int, ...], size: int, left: int, is_large: bool) -> WavHeader:
    codec, _, rate, _, frame_bytes = form
    present = min(size, left)
    announced = present if size >= _OPEN_ENDED and not is_large else size
    if codec not in _UNCOMPRESSED or not rate or not frame_bytes:
        return WavHeader(None, None) if present else WavHeader(0.0, 0.0)
    return WavHeader(announced / (rate * frame_bytes), present / (rate * frame_bytes))


def stated_seconds(file: BinaryIO, format: str, seconds: float) -> float:
    """Returns the length that the header of a file states; 0 if it states none. `seconds` is what FFmpeg has for it,
    and `format` the first of its names for the format.
    """
    if format in _STATED_BY_FFMPEG:
        return seconds
    read = _READERS.get(format)
    try:
        stated = read(file) if read is not None else 0.0
    except ValueError:
        return 0.0
    return seconds if stated is None else stated


def has_end_mark(file: BinaryIO, format: str) -> bool:
    """Returns whether a file has the mark of its end that its format wants: only Ogg does."""
    if format != "ogg":
        return True
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    last = tail.rfind(b"OggS\0")
    if last < 0 or len(tail) < last + 27:
        return False
    segments = tail[last + 27 : last + 27 + tail[last + 26]]
    is_whole = len(segments) == tail[last + 26] and len(tail) >= last + 27 + len(segments) + sum(segments)
    return bool(tail[last + 5] & 4) and is_whole


def _wav_stated(file: BinaryIO) -> float | None:
    return read_wav_header(file).announced


def _avi_stated(file: BinaryIO) -> float:
    """Returns the seconds of the longest track, by its header."""
    head = file.read(_HEAD_BYTES)
    longest = 0.0
    for found in _AVI_TRACK.finditer(head):
        scale, rate, _, length = _unpacked("<4I", found[1])
        longest = max(longest, scale * length / rate if rate else 0.0)
    return longest


_AVI_TRACK = re.compile(rb"strh....(?:vids|auds).{16}(.{16})", re.DOTALL)


def _asf_stated(file: BinaryIO) -> float:
    """Returns the seconds of the file properties, without those that a player waits, unless it is a broadcast."""
    head = file.read(_HEAD_BYTES)
    place = head.find(_ASF_FILE_PROPERTIES)
    length, _, wait, flags = _unpacked("<3QI", head[place + 64 : place + 92] if place >= 0 else b"")
    return 0.0 if flags & 1 else max(0.0, length / 10_000_000 - wait / 1000)


_ASF_FILE_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")


def _caf_stated(file: BinaryIO) -> float | None:
    """Returns the seconds of packets of one size; None for others, whose table FFmpeg reads."""
    seconds_per_byte = 0.0
    for name, size, _ in _chunks(file, 8, ">4sQ"):
        if name == b"desc":
            rate, _, _, packet_bytes, frames = _unpacked(">d4sIII", file.read(24))
            if not packet_bytes or not rate > 0:
                return None
            seconds_per_byte = frames / rate / packet_bytes
        elif name == b"data":
            return (size - 4) * seconds_per_byte if size < 1 << 63 else 0.0
    return 0.0


def _mp3_stated(file: BinaryIO) -> float | None:
    """Returns None, so that FFmpeg's value holds, for a file with a count of its frames; others are estimated."""
    head = file.read(10)
    if head.startswith(b"ID3") and len(head) == 10:
        size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True))
        file.seek(10 + size)
        head = b""
    return None if _FRAME_COUNT.search(head + file.read(2048)) else 0.0


_FRAME_COUNT = re.compile(rb"Xing\0\0\0[\x01\x03\x05\x07\x09\x0b\x0d\x0f]|Info\0\0\0[\x01-\x0f]|VBRI")
_STATED_BY_FFMPEG = frozenset({"mov", "matroska", "flac", "flv", "aiff", "au", "wv", "tta", "ape", "mxf"})
_READERS: Mapping[str, Callable[[BinaryIO], float | None]] = MappingProxyType(
    {"wav": _wav_stated, "avi": _avi_stated, "asf": _asf_stated, "caf": _caf_stated, "mp3": _mp3_stated}
)


def _chunks(file: BinaryIO, start: int, head: str) -> Iterator[tuple[bytes, int, int]]:
    """Yields name, size and place of the content of the first chunks; the file is at their contents."""
    place = start
    for _ in range(_MAX_CHUNKS):
        file.seek(place)
        found = file.read(struct.calcsize(head))
        if len(found) < struct.calcsize(head):
            return
        name, size = struct.unpack(head, found)
        place += len(found)
        yield name, size, place
        place += size + (size % 2 if head.startswith("<") else 0)
        if place >= 1 << 63:
            return


def _unpacked(form: str, content: bytes) -> tuple[int, ...]:
    try:
        return struct.unpack(form, content)
    except struct.error:
        raise ValueError("its header is cut") from None
