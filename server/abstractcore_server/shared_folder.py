"""`SharedFolder`: what processes that answer together know of each other: their counts, and which of them have died."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from abstractcore.private_files import private

Counts = Mapping[str, Mapping[str, float]]
"""The values of metrics, by the name of the metric and by its labels."""
_LIVE, _DEAD = ".live.json", ".dead.json"


class SharedFolder:
    """A folder with a file for each process, which only its owner may read. `process` is the name of this one."""

    def __init__(self, folder: Path, process: str) -> None:
        self.folder = folder
        self.process = process

    def save(self, counts: Counts) -> None:
        """Replaces the counts of this process. Raises `OSError`."""
        part = self.folder / f"{self.process}.part"
        _write(part, json.dumps(counts))
        part.replace(self.folder / f"{self.process}{_LIVE}")

    def bury(self, process: str) -> None:
        """Records that another process has died; what it has saved counts on. Raises `OSError`."""
        live, dead = (self.folder / f"{process}{end}" for end in (_LIVE, _DEAD))
        try:
            os.replace(live, dead)
        except FileNotFoundError:
            _write(dead, "{}")

    def others(self) -> list[Counts]:
        """Returns what the other processes that run have saved. Raises `OSError`."""
        return self._read(_LIVE)

    def dead(self) -> list[Counts]:
        """Returns what processes that have died had saved. Raises `OSError`."""
        return self._read(_DEAD)

    def buried(self) -> list[str]:
        """Returns the names of the processes that have died."""
        return [file.name.removesuffix(_DEAD) for file in self.folder.glob(f"*{_DEAD}")]

    def _read(self, end: str) -> list[Counts]:
        found: list[Counts] = []
        for file in self.folder.glob(f"*{end}"):
            if file.name.removesuffix(end) != self.process:
                try:
                    found.append(json.loads(file.read_text()))
                except FileNotFoundError:  # its process has died meanwhile
                    continue
        return found


def _write(path: Path, text: str) -> None:
    with open(path, "w", opener=private) as file:
        file.write(text)
