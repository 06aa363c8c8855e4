"""`MediaFacts`: the size and length of a file, as its header says. `MediaProgress`: how far its conversion has come.

A module of its own, so that `import abstractcore` does without it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .json_values import check_count, check_real
from .reprs import Immutable, ShortRepr


@dataclass(frozen=True, slots=True)
class MediaFacts(Immutable):
    """What the header of a file says about its content; None where it does not, or where it was not read.

    `width` and `height` are the pixels of an image or a video as it is displayed, `frames` those of an animation or the
    pages of an image file. `pages` are those of a document, `seconds` the length of a recording or a video.
    """

    width: int | None = None
    height: int | None = None
    frames: int | None = None
    pages: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("width", "height", "frames", "pages"):
            value = getattr(self, name)
            if value is not None:
                check_count(value, name)
        if self.seconds is not None:
            check_real(self.seconds, "seconds")


@dataclass(frozen=True, slots=True)
class MediaProgress(ShortRepr):
    """Of a file, `done` of `total` have been converted, in units of `what`: "pages", "seconds", "frames". Of several
    files, `done` are ready, in units of "files", and this one was the last.

    `source` is its name as in `MediaDecision.source`. `total` is None if the file does not say it.
    """

    source: str
    done: float
    total: float | None
    what: str
