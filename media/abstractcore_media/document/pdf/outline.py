"""The headings that a PDF lists, with the pages they lead to."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..blocks import clean
from .pdfium import functions, string_of

_MAX_HEADINGS, _MAX_DEPTH, _MAX_ENTRIES = 1_000, 15, 100_000
_MAX_SECONDS = 5.0
"""The time for finding the pages: a heading may name its place, which PDFium looks for among all names."""


@dataclass(slots=True)
class Outline:
    """Headings, each with its level from 0, its text, and the number of its page; and how many more there are."""

    headings: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    lost: int = 0


def outline_of(document: int) -> Outline:
    """Returns the outline of a document of PDFium, of its first 100,000 entries, each of which counts once."""
    call = functions()
    end = time.process_time() + _MAX_SECONDS
    found = Outline()
    seen: set[int] = set()
    waiting: list[tuple[int | None, int]] = [(call.FPDFBookmark_GetFirstChild(document, None), 0)]
    while waiting and len(seen) < _MAX_ENTRIES:
        entry, level = waiting.pop()
        if not entry or entry in seen:
            continue
        seen.add(entry)
        waiting.append((call.FPDFBookmark_GetNextSibling(document, entry), level))
        waiting.append((call.FPDFBookmark_GetFirstChild(document, entry), level + 1))
        is_over = len(found.headings) >= _MAX_HEADINGS or level >= _MAX_DEPTH or time.process_time() > end
        if is_over:
            found.lost += 1
            continue
        title = " ".join(clean(string_of(call.FPDFBookmark_GetTitle, entry)).split())
        target = call.FPDFBookmark_GetDest(document, entry) if title else None
        page = call.FPDFDest_GetDestPageIndex(document, target) if target else -1
        if page >= 0:
            found.headings.append((level, title, page + 1))
    return found
