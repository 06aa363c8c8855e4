"""Excerpts: where the words of a search are in the texts that were found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, select

from .contents import stored_text
from .filters import terms_of, with_words
from .tables import contents, messages, records

_AROUND: Final = 40
"""About how many characters before the first word, and after it thrice as many."""
_CHUNK: Final = 500


def excerpts(connection: Connection, words: str, trace_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns an excerpt of each record in whose texts the words are."""
    found: dict[str, tuple[str, ...]] = {}
    matching = with_words(connection.dialect.name, words)
    terms = terms_of(words)
    for start in range(0, len(trace_ids), _CHUNK):
        statement = (
            select(records.c.trace_id, contents.c.packed, contents.c.body)
            .join(messages, messages.c.record == records.c.id)
            .join(contents, contents.c.id == messages.c.content)
            .where(records.c.trace_id.in_(trace_ids[start : start + _CHUNK]), contents.c.id.in_(matching))
            .order_by(messages.c.position.desc())  # a call has the questions before it: the last one is its own
        )
        for row in connection.execute(statement):
            if row.trace_id not in found:
                found[row.trace_id] = excerpt(stored_text(row.packed, row.body), terms)
    return found


def excerpt(text: str, terms: Sequence[str]) -> tuple[str, ...]:
    """Returns the part of a text around words, in one line: what is at odd indexes are the words."""
    text = " ".join(text.split())
    pattern = "|".join(r"\W+".join(re.escape(word) for word in _folded(term).split()) for term in terms)
    spans = [match.span() for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", _folded(text))]
    first = spans[0][0] if spans else 0
    begin, end = max(0, first - _AROUND), min(len(text), first + 3 * _AROUND)
    begin = text.rfind(" ", 0, begin) + 1 if begin and first - text.rfind(" ", 0, begin) < 2 * _AROUND else begin
    pieces: list[str] = []
    at = begin
    for start, stop in spans:
        if stop <= end:
            pieces += [text[at:start], text[start:stop]]
            at = stop
    pieces.append(text[at:end])
    pieces[0] = f"…{pieces[0]}" if begin else pieces[0]
    pieces[-1] += "…" if end < len(text) else ""
    return tuple(pieces)


def _folded(text: str) -> str:
    """Returns a text without case and accents, as indexes of words compare them, with as many characters."""
    return "".join(unicodedata.normalize("NFD", each)[0].lower()[0] for each in text)
