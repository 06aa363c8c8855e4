"""The SoundFont of the package, and that of the user."""

from __future__ import annotations

import os
from pathlib import Path

from abstractcore import InvalidInputError

BUILT_IN = Path(__file__).parent.parent / "fonts" / "eas-gm.sf2"
"""General MIDI in 8-bit samples of the Android Open Source Project: see fonts/NOTICE."""


def font_at(path: str | os.PathLike[str] | None) -> Path:
    """Returns the SoundFont at a path, by default our own. Raises `InvalidInputError` if it is not a SoundFont."""
    if path is None:
        return BUILT_IN
    file = Path(path)
    try:
        with file.open("rb") as opened:
            head = opened.read(12)
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror or error}", path="music_soundfont") from None
    if head[:4] != b"RIFF" or head[8:] != b"sfbk":
        raise InvalidInputError(f"{file} is not a SoundFont", path="music_soundfont", hint="Name an .sf2 or .sf3 file.")
    return file
