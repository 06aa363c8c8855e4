"""Builds the reference: `python -m tests.reference [FOLDER]`, by default in build/reference."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.documents import ROOT
from tests.reference.pages import INDEX, Links, index, rendered
from tests.reference.reading import Reader


def build(folder: Path) -> int:
    """Writes the pages and their index; returns the number of public names. Removes pages of names that are gone."""
    pages = [*Reader().pages()]
    links = Links(pages)
    written = {links.file(page): rendered(page, links) for page in pages} | {INDEX: index(pages, links)}
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(pages)


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "reference"
    sys.stdout.write(f"{build(place)} pages: {place / INDEX}\n")
