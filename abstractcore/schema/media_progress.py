"""`MediaProgress`: how far the conversion of a file has come."""

from __future__ import annotations

from dataclasses import dataclass

from .reprs import ShortRepr


@dataclass(frozen=True, slots=True)
class MediaProgress(ShortRepr):
    """Of a file, `done` of `total` have been converted, in units of `what`: "pages", "seconds", "frames".

    `source` is its name as in `MediaDecision.source`. `total` is None if the file does not say it.
    """

    source: str
    done: float
    total: float | None
    what: str
