"""Reads the header of a WAV file: the standard library's `wave` rejects floating-point and compressed audio."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_OPEN_ENDED = 0x7FFF0000
"""Programs that write to a pipe write a size of at least this: they do not know it yet."""


@dataclass(frozen=True, slots=True)
class WavHeader:
    """The duration in the header of a WAV file, and of its data, in seconds. Equal if the header leaves it open."""

    announced: float
    present: float


def read_wav_header(data: bytes) -> WavHeader:
    """Returns the header of a RIFF or RF64 file; raises `ValueError` with the reason for any other or a corrupt one."""
    if data[:4] not in (b"RIFF", b"RF64") or data[8:12] != b"WAVE":
        raise ValueError("it does not begin with a RIFF/WAVE header")
    bytes_per_second, position = 0, 12
    while position + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, position)
        position += 8
        if name == b"fmt " and position + 16 <= len(data):
            bytes_per_second = struct.unpack_from("<I", data, position + 8)[0]
        elif name == b"data":
            if not bytes_per_second:
                raise ValueError("its header has no audio format")
            present = min(size, len(data) - position)
            announced = present if size >= _OPEN_ENDED else size
            return WavHeader(announced / bytes_per_second, present / bytes_per_second)
        position += size + size % 2
    raise ValueError("it has a header and no audio data")
