"""Valid and bad input for backends: texts, a recording, an image, and bytes that are neither."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from math import sin, tau

_RATE = 16_000


@dataclass(frozen=True, slots=True)
class Inputs:
    """What backends are called with. `recording` and `image` are files of types that every backend should read."""

    text: str = "Good morning. The train leaves at nine."
    prompt: str = "a lighthouse on a cliff"
    recording: bytes = field(default_factory=lambda: wav(1.0), repr=False)
    image: bytes = field(default_factory=lambda: png(64, 64), repr=False)
    junk: bytes = field(default=b"\x00junk\xff" * 64, repr=False)


def wav(seconds: float) -> bytes:
    """Returns a recording of a tone: WAV, 16 bits, 16 kHz, one channel."""
    samples = (round(8000 * sin(tau * 440 * index / _RATE)) for index in range(int(seconds * _RATE)))
    data = b"".join(struct.pack("<h", sample) for sample in samples)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, _RATE, 2 * _RATE, 2, 16)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data


def png(width: int, height: int) -> bytes:
    """Returns an image of two colours: PNG, RGB."""
    row = b"\0" + b"\x20\x60\xa0" * (width // 2) + b"\xf0\xe0\x40" * (width - width // 2)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
