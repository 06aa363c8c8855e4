"""`Excerpt`: a part of a file that is sent natively, and the pages that controls name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import MediaError
from ..schema import MediaControls, MediaPart


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a file. `part` is a file of the same type, without the controls that were followed.

    `pages` are the numbers that its pages have in the whole file, in order; empty for a file without pages.
    """

    part: MediaPart
    pages: Sequence[int] = ()


def chosen_pages(controls: MediaControls | None, count: int, source: str) -> Sequence[int]:
    """Returns the numbers of the pages that `controls` name of a file with `count` pages, in order; all without any.

    Raises `MediaError` for a page that the file does not have. Ranges may end after its last page.
    """
    if controls is None or controls.pages is None:
        return range(1, count + 1)
    for item in controls.pages.split(","):
        if int(item.partition("-")[0]) > count:
            what = "pages" if "-" in item else "page"
            raise MediaError(
                f"{source} has no {what} {item}: it has {count} page{'' if count == 1 else 's'}.",
                source=source,
                hint=f"For example: File(..., pages='1-{count}').",
            )
    return controls.page_numbers(count)
