"""`Evidence`: where a value of a typed answer stands in the documents of the call, checked in code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .. import schema
from .file_places import FilePlaces
from .immutable import Immutable

EvidenceMatch = Literal["exact", "normalised"]
"""How a quote was found: character for character; or up to case, spaces, line breaks and hyphens at them, Unicode
compatibility forms (NFKC), and the forms of dashes and quotation marks."""
EvidenceSource = Literal["file", "message", "tool_result"]
"""What a quote was found in: a file, the text of a user message, or the result of a tool."""


@dataclass(frozen=True, slots=True)
class Evidence(FilePlaces, Immutable):
    """The quote that the model gave for the value at `path`, and where it stands in the texts of the call.

    `verified` says that the value stands there: the quote was found and has the value, or there is no quote and the
    value itself was found in a file or the result of a tool. The model has no part in that. `quote_found` says that the
    quote was found, whatever it states. `text` is what stands there, in our own text of the source: `start` and `end`
    are character offsets in the text of `page` (from 1), for sources without pages in the whole text. Of a quote that
    continues on the next page, `end` is the end of `page`. `occurrences` counts the places in that source, up to 100;
    `start` is the first.

    `document` is the index of the file in `media` of the response, None for other sources; `name` is that of the file
    or the tool, or "user". `value_in_quote` says whether `text` has the value, in any common format of numbers and
    dates; None if that cannot be judged, as for yes or no. `reason` says why a value is not verified, or what to know
    of one that is; it is None for evidence without a doubt. `anchors` are the places in the file, as those of `Source`.
    """

    path: str
    quote: str | None = None
    verified: bool = False
    match: EvidenceMatch | None = None
    source: EvidenceSource | None = None
    document: int | None = None
    name: str | None = None
    page: int | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    occurrences: int = 0
    value_in_quote: bool | None = None
    reason: str | None = None
    anchors: tuple[schema.MediaAnchor, ...] = ()

    @property
    def quote_found(self) -> bool:
        """Whether the quote stands in the texts, whatever it states."""
        return self.quote is not None and self.match is not None
