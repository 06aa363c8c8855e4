"""The Markdown pages: blocks, links and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted(ROOT.glob("plugins/*/README.md")),
)
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```(?:text)?\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]+))?\)")


@dataclass(frozen=True)
class Block:
    """Python on a page, and the output that is shown under it."""

    page: Path
    line: int
    code: str
    output: str | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}-{self.line}"

    @property
    def is_test(self) -> bool:
        """Whether it is for pytest to run."""
        return re.search(r"^def test_|^class Test", self.code, re.MULTILINE) is not None


def blocks(page: Path) -> list[Block]:
    """All Python of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(page, text.count("\n", 0, found.start(1)) + 1, found[1], found[2]) for found in _BLOCK.finditer(text)]


def alike(printed: str, block: Block) -> bool:
    """Whether it is what the page shows; words of embedded models may differ a little from machine to machine."""
    shown = block.output or ""
    if "create_llm()" in block.code or '"local/' in block.code:
        return SequenceMatcher(None, printed, shown).ratio() > 0.9
    return printed == shown


def links(page: Path) -> list[tuple[Path, str | None]]:
    """Where the links to files of this project lead: the file, and the heading in it."""
    found = _LINK.findall(page.read_text(encoding="utf-8"))
    return [
        ((page.parent / target).resolve() if target else page, anchor or None)
        for target, anchor in found
        if "://" not in target
    ]


def anchors(page: Path) -> set[str]:
    """The names that a page's headings have in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
