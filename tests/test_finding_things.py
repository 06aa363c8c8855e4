"""The table of docs/finding-things.md names folders and classes that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import ROOT

PAGE = (ROOT / "docs" / "finding-things.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("|---|---|---|\n")[2].partition("\n\n")[0]


def rows() -> Iterator[tuple[str, list[Path], list[str]]]:
    """Yields what is looked for, the rooms, and the nouns in one of them."""
    folder = ROOT / "abstractcore"
    for row in TABLE.splitlines():
        subject, rooms, nouns = (cell.strip() for cell in row.strip("|").split("|"))
        if subject.startswith("*"):
            folder = ROOT / subject.strip("*")
        else:
            names = re.findall(r"`(\w+)`", nouns)
            yield subject, [folder / room for room in _folders(rooms)], names


def _folders(rooms: str) -> list[str]:
    return ["."] if rooms == "the top folder" else re.findall(r"`([\w/]+/)`", rooms)


@pytest.mark.parametrize(("subject", "rooms", "nouns"), list(rows()))
def test_room_has_the_nouns(subject: str, rooms: list[Path], nouns: list[str]):
    assert rooms, subject
    assert nouns, subject
    assert [room for room in rooms if not room.is_dir()] == []
    sources = (path for room in rooms for path in room.rglob("*.[pj][ys]"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    defined = set(re.findall(r"^(?:export )?(?:class|def|async def) (\w+)", text, re.MULTILINE))
    assert [noun for noun in nouns if noun not in defined] == []


def test_table_names_every_room_of_the_kernel():
    kernel = ROOT / "abstractcore"
    named = {room.relative_to(kernel).parts[0] for _, rooms, _ in rows() for room in rooms if kernel in room.parents}
    assert {path.parent.name for path in kernel.glob("*/__init__.py")} - named == set()
