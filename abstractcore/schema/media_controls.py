"""`MediaControls`: which part of a file a model should get, and how closely."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Literal, get_args

from .base_error import SchemaError, shown
from .json_values import check_choice, check_real
from .reprs import Immutable

MediaResolution = Literal["low", "medium", "high"]
"""How many tokens a model spends on images, pages and frames, where a vendor offers the choice."""
FetchedBy = Literal["us", "vendor"]
"""Who downloads a file that is given as a URL: this program, or the provider."""
_RESOLUTIONS = get_args(MediaResolution)
_FETCHED_BY = get_args(FetchedBy)
_PAGES = re.compile(r"\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*")


@dataclass(frozen=True, slots=True)
class MediaControls(Immutable):
    """Which part of a file a model should get, and how closely. None: all of it, and the model's own default.

    `pages` are numbers and ranges from 1, as in "1-3,7": pages, slides, or frames of an image. `start` and `end` are
    seconds in a recording, `fps` is the number of frames a second of a video. `fetch` says who downloads a file
    that is given as a URL; None: the provider if it gets the file itself, else this program.
    """

    pages: str | None = None
    start: float | None = None
    end: float | None = None
    fps: float | None = None
    resolution: MediaResolution | None = None
    """How detailed images are for the model."""
    fetch: FetchedBy | None = None

    def __post_init__(self) -> None:
        if self.pages is not None:
            object.__setattr__(self, "pages", _checked_pages(self.pages))
        for name in ("start", "end", "fps"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _check_number(value, name))
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise SchemaError(f"{self.end:g} is not after the start, {self.start:g}", "end")
        if self.fps == 0:
            raise SchemaError("must be above 0", "fps")
        if self.resolution is not None:
            check_choice(self.resolution, _RESOLUTIONS, "resolution")
        if self.fetch is not None:
            check_choice(self.fetch, _FETCHED_BY, "fetch")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the controls that are set."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def page_numbers(self, count: int) -> list[int]:
        """Returns the numbers of the pages, from 1, of a file with `count` pages, in rising order."""
        if self.pages is None:
            return list(range(1, count + 1))
        numbers: set[int] = set()
        for item in self.pages.split(","):
            first, _, last = item.partition("-")
            numbers.update(range(int(first), min(int(last or first), count) + 1))
        return sorted(number for number in numbers if number <= count)


def _checked_pages(value: object) -> str:
    pages = value.replace(" ", "") if isinstance(value, str) else ""
    if not _PAGES.fullmatch(pages):
        raise SchemaError(f"{shown(value)} is not a list of pages", "pages", hint="For example: pages='1-3,7'.")
    for item in pages.split(","):
        first, _, last = item.partition("-")
        if int(first) < 1 or int(last or first) < int(first):
            raise SchemaError(f"{shown(item)} is not a range of pages, which count from 1", "pages")
    return pages


def _check_number(value: object, path: str) -> float:
    number = check_real(value, path)
    if number < 0:
        raise SchemaError(f"{number} is below 0", path)
    return number
