"""The limits of reading one document: time, sizes, and the end of the call."""

from __future__ import annotations

import time
from dataclasses import dataclass

from abstractcore.errors import MediaError
from abstractcore.ports import current_interruption


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """What one document may cost; larger ones are refused. Rows of tables are left out and counted instead."""

    seconds: float = 60.0
    file_bytes: int = 200_000_000
    unpacked_bytes: int = 300_000_000
    members: int = 50_000
    characters: int = 2_000_000
    table_characters: int = 400_000
    pictures: int = 100


class Work:
    """The work on one document, which is stopped at its limits. `source` is the name of the file."""

    def __init__(self, source: str, limits: WorkLimits, timeout: float | None) -> None:
        self.source = source
        self.limits = limits
        self._seconds = limits.seconds if timeout is None else min(limits.seconds, timeout)
        self._end = time.monotonic() + self._seconds
        self._unpacked = 0

    def check(self) -> None:
        """Raises `MediaError` after the time limit, and `StreamInterruptedError` if the call has ended."""
        interruption = current_interruption()
        if interruption is not None:
            interruption.check()
        if time.monotonic() > self._end:
            raise self.too_large(f"reading it takes more than {self._seconds:g} seconds")

    def unpacked(self, size: int) -> None:
        """Counts decompressed bytes; raises `MediaError` above the limit."""
        self._unpacked += size
        if self._unpacked > self.limits.unpacked_bytes:
            raise self.too_large(f"it decompresses to more than {self.limits.unpacked_bytes:,} bytes")
        self.check()

    def too_large(self, why: str) -> MediaError:
        """Returns the error for a document above a limit."""
        return MediaError(
            f"{self.source} is too large: {why}.", source=self.source, hint="Send only the part of it that you need."
        )

    def corrupt(self, what: str, why: str = "") -> MediaError:
        """Returns the error for a file that is not a valid `what`, such as "Word document"."""
        return MediaError(
            f"{self.source} is a corrupt {what}{': ' + why if why else ''}.",
            source=self.source,
            hint="Open it in its application, and save it again.",
        )
