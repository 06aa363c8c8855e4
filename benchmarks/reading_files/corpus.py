"""Files of the bench in families: made by a function, converted by LibreOffice, or taken from elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from .facts import Fact, FileWithFacts, flat

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / ".cache" / "reading"
FILTERS = {"csv": "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true"}
"""Filters of LibreOffice: cells of CSV as they are shown."""


class Family:
    """Files that one module describes."""

    def __init__(self, source: str) -> None:
        self.files: list[FileWithFacts] = []
        self._source = source

    def file(
        self, name: str, *facts: Fact | Iterable[Fact], source: str = ""
    ) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
        """Adds the file that a function writes."""

        def add(make: Callable[[Path], object]) -> Callable[[Path], object]:
            self.files.append(FileWithFacts(name, make, flat(facts), source or self._source))
            return make

        return add

    def converted(self, name: str, make: Callable[[Path], object], suffix: str, *facts: Fact | Iterable[Fact]) -> None:
        """Adds the file that LibreOffice makes of one with this suffix."""

        def convert(path: Path) -> None:
            with tempfile.TemporaryDirectory() as folder:
                original = Path(folder, f"{path.stem}.{suffix}")
                make(original)
                by_libreoffice(original, path)

        self.files.append(FileWithFacts(name, convert, flat(facts), f"{self._source}, saved by LibreOffice"))

    def taken(self, path: str, source: str, *facts: Fact | Iterable[Fact], name: str = "") -> None:
        """Adds a file of this repository."""
        original = REPOSITORY / path
        self.files.append(
            FileWithFacts(name or original.name, lambda copy: shutil.copyfile(original, copy), flat(facts), source)
        )


def by_libreoffice(original: Path, path: Path) -> None:
    """Saves a file in the format of another suffix; raises FileNotFoundError where LibreOffice is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        suffix = path.suffix[1:]
        command = [
            "soffice",
            f"-env:UserInstallation={Path(folder, 'profile').as_uri()}",
            "--headless",
            "--convert-to",
            FILTERS.get(suffix, suffix),
            "--outdir",
            folder,
            str(original),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        saved = Path(folder, f"{original.stem}.{suffix}")
        if not saved.exists():
            raise RuntimeError(f"LibreOffice did not save {path.name}: {done.stdout}{done.stderr}")
        shutil.move(saved, path)
