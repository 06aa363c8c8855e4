"""`Recordings` and `SoundFile`: questions and answers in files, in place of a microphone and a loudspeaker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import abstractcore
from abstractcore.capabilities import one_part

from ..output_files import write_parts
from ..screen import note


class Recordings:
    """Files that are heard one after the other, each a turn of the user."""

    def __init__(self, files: Sequence[str]) -> None:
        self._left = list(files)

    def next(self) -> str | None:
        """Returns the next file; None after the last one."""
        return self._left.pop(0) if self._left else None

    def hears_speech(self) -> bool:
        """Nobody interrupts."""
        return False

    def __enter__(self) -> Recordings:
        return self

    def __exit__(self, *exception: object) -> None: ...


class SoundFile:
    """A WAV file of all replies, which is written at the end of the conversation."""

    def __init__(self, file: str) -> None:
        self._file = Path(file)
        self._parts: list[abstractcore.AudioPart] = []
        if self._file.suffix.lower() != ".wav":
            hint = "Name it FILE.wav; other formats are for `abstractcore speak`."
            raise abstractcore.InvalidInputError(f"--output {file!r} is not a WAV file.", hint=hint)

    @property
    def played(self) -> float | None:
        """All that was written counts as heard."""
        return None

    def begin(self) -> None:
        """A reply begins."""

    def play(self, part: abstractcore.AudioPart, stops: Any) -> bool:
        """Keeps a part."""
        self._parts.append(part)
        return True

    def finish(self) -> None:
        """Does nothing: the file is written at the end."""

    def stop(self) -> None:
        """Does nothing."""

    def __enter__(self) -> SoundFile:
        return self

    def __exit__(self, *exception: object) -> None:
        if exception[0] is not None:
            return
        if not self._parts:
            note(f"nothing was said: {self._file} is not written")
            return
        write_parts([one_part(self._parts)], [self._file])
