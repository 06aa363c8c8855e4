"""The header of a WAV file, by itself: the standard library's `wave` refuses floating point and compressed sound."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_OPEN_ENDED = 0x7FFF0000
"""Programs that write to a pipe put a size of this or more: they don't know it yet."""


@dataclass(frozen=True, slots=True)
class WavHeader:
    """How many seconds of sound a WAV file announces and how many it has. They are equal where the end is left open."""

    announced: float
    present: float


def read_wav_header(data: bytes) -> WavHeader:
    """The header of a RIFF or RF64 file; raises `ValueError`, with the reason, if it is not one or is broken."""
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
                raise ValueError("its header does not say how the sound is coded")
            present = min(size, len(data) - position)
            announced = present if size >= _OPEN_ENDED else size
            return WavHeader(announced / bytes_per_second, present / bytes_per_second)
        position += size + size % 2
    raise ValueError("it has a header and no sound")
