"""Content that vendors send, as parts: the type is read from its first bytes, not believed."""

from __future__ import annotations

from abstractcore import AudioPart, Blob, ServerError
from abstractcore.mediajobs import MadeFile

_ID3 = 10
"""Bytes of the head of an ID3 tag, which may stand before other formats than MP3."""


def audio_of(file: MadeFile, content: bytes) -> AudioPart:
    """Returns a sound; raises `ServerError` for anything else."""
    found = audio_type(content)
    if found is None:
        start = content[:24]
        raise ServerError(f"expected a sound, got {len(content):,} bytes that begin with {start!r}")
    return AudioPart(Blob.from_bytes(content, found))


def audio_type(content: bytes) -> str | None:
    """Returns the media type of a sound; None for anything else."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "audio/wav"
    if content[:4] == b"fLaC":
        return "audio/flac"
    if content[:4] == b"OggS":
        return "audio/ogg"
    if content[4:8] == b"ftyp":
        return "audio/mp4"
    if content[:3] == b"ID3" and len(content) > _ID3:
        return "audio/mpeg"
    is_frame = len(content) > 3 and content[0] == 0xFF and content[1] & 0xE0 == 0xE0
    if is_frame and content[1] & 0x06 == 0:
        return "audio/aac"  # ADTS: the bits of the layer are zero
    return "audio/mpeg" if is_frame else None
