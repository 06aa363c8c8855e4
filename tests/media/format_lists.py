"""Writes what readers do with the elements of each format in docs/document-formats.md. `python -m` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from abstractcore_media.document.formats import FORMATS
from abstractcore_media.document.pdf.vocabulary import PDF
from abstractcore_media.document.vocabularies import FormatVocabulary

PAGE = Path(__file__).parents[2] / "docs" / "document-formats.md"
_LISTS = re.compile(r"(<!-- what is read of each format, by `make docs` -->\n).*?(?=<!-- end -->)", re.DOTALL)


def vocabularies() -> dict[str, FormatVocabulary]:
    """The vocabulary of each format."""
    modules = {format.name: import_module(f"abstractcore_media.document.{format.module}") for format in FORMATS}
    return {**{name: module.VOCABULARY for name, module in modules.items()}, "pdf": PDF}


def page() -> str:
    """The page with its lists as they are to be."""
    groups: dict[str, list[str]] = {}
    for name, vocabulary in vocabularies().items():
        groups.setdefault("\n".join(_lines(vocabulary)), []).append(name.upper())
    lists = "\n".join(f"**{', '.join(names)}**{lines}\n" for lines, names in groups.items())
    return _LISTS.sub(lambda found: f"{found[1]}\n{lists}\n", PAGE.read_text(encoding="utf-8"))


def _lines(vocabulary: FormatVocabulary) -> Iterator[str]:
    yield f" ({vocabulary.source}):\n"
    groups = {
        "in the text": vocabulary.read,
        "converted": vocabulary.converted,
        "counted in `lost`": {**vocabulary.lost, **vocabulary.lost_members},
        "left out": {**vocabulary.left_out, **vocabulary.left_out_members},
    }
    for title, kinds in groups.items():
        if kinds:
            yield f"* {title}: {'; '.join(kinds)}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
