"""`MediaAnchor`: where in a file a piece of the text that replaces it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from .base_error import SchemaError
from .immutable import Immutable
from .json_values import check_count, check_items, check_real, check_text


@dataclass(frozen=True, slots=True)
class MediaAnchor(Immutable):
    """The place in a file of the characters `start` to `end` of the text that replaces it.

    `page` counts from 1, also for slides and the frames of an image. `box` is the part of the page or image: left, top,
    right and bottom, each from 0 to 1. `sheet` and `cell` ("B7", "A2:F9") are of a spreadsheet, `paragraph` (from 1) is
    of a document without pages. `seconds` are the begin and the end in a recording; of a video frame, both are its
    time. `member` is the path of a file in an archive, or the name of an attachment or of an embedded picture.
    """

    start: int
    end: int
    page: int | None = None
    box: tuple[float, ...] | None = None
    sheet: str | None = None
    cell: str | None = None
    paragraph: int | None = None
    seconds: tuple[float, ...] | None = None
    member: str | None = None

    def __post_init__(self) -> None:
        if check_count(self.start, "start") > check_count(self.end, "end"):
            raise SchemaError("ends before its start", "end")
        for name in ("page", "paragraph"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        for name in ("sheet", "cell", "member"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)
        for name, length in (("box", 4), ("seconds", 2)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _numbers(getattr(self, name), length, name))


def _numbers(value: object, length: int, path: str) -> tuple[float, ...]:
    items = check_items(value, object, path)
    if len(items) != length:
        raise SchemaError(f"expected {length} numbers, got {len(items)}", path)
    return tuple(check_real(item, path) for item in items)
