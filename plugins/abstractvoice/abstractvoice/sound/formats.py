"""The formats of sound that voices can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from abstractcore import InvalidInputError


@dataclass(frozen=True, slots=True)
class SoundFormat:
    """A format: its name, its media type, and how PyAV writes it: container, codec, rate if fixed, bits a second."""

    name: str
    media_type: str
    container: str
    codec: str
    rate: int | None = None
    bits: int | None = None


FORMATS = {
    row.name: row
    for row in (
        SoundFormat("wav", "audio/wav", "wav", "pcm_s16le"),
        SoundFormat("mp3", "audio/mpeg", "mp3", "libmp3lame", bits=96_000),
        SoundFormat("opus", "audio/ogg", "ogg", "libopus", rate=48_000, bits=48_000),
        SoundFormat("flac", "audio/flac", "flac", "flac"),
        SoundFormat("pcm", "audio/pcm", "", ""),
    )
}


def format_named(name: str) -> SoundFormat:
    """Returns a format; raises `InvalidInputError` with the nearest names."""
    found = FORMATS.get(name.lower())
    if found is not None:
        return found
    near = get_close_matches(name.lower(), FORMATS, n=2, cutoff=0.5)
    hint = f"Is it {' or '.join(near)}?" if near else f"The formats are {', '.join(FORMATS)}."
    raise InvalidInputError(f"no format of sound is called {name!r}.", path="format", hint=hint)
