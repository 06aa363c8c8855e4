"""`MediaHandler`: recognises, checks and converts a kind of files.

What media handlers may implement besides `MediaHandler`, for files that are sent natively: `MeasuresMedia` and
`FitsMedia`. `Excerpt`: a part of a file that is sent natively, and the pages that controls name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from .. import schema
from ..errors import MediaError
from ..lazy_modules import LazyModule
from ..schema import MediaControls, MediaPart
from .profiles import MediaLimit

if TYPE_CHECKING:
    from . import conversions
else:
    conversions = LazyModule("abstractcore.ports.conversions")


@dataclass(frozen=True, slots=True)
class Fallback:
    """One way of converting a file for a model that does not accept it.

    `name` is what media policies call it, such as "transcript". `outputs` is what its conversions may contain: "text",
    media types such as "image/png". `needs` is the name of an option without which it cannot be used, such as
    "vision_model". `controls` are the names of the `MediaControls` that it follows. `preferred_with` is the name of an
    option with which it comes before all others; without that option, only a policy of its name uses it. The others are
    then its alternatives, where a file cannot be converted in this way. `packages` are optional packages that it needs,
    each with the module that is imported: {"pillow": "PIL"}. Plans name those that are missing.
    """

    name: str
    outputs: Set[str]
    needs: str | None = None
    controls: Set[str] = frozenset()
    preferred_with: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict[str, str])


@runtime_checkable
class HasExtensions(Protocol):
    """A media handler that lists its file name extensions. Handlers may implement it."""

    @property
    def extensions(self) -> Sequence[str]:
        """File name extensions without the dot: "pdf"."""
        ...


@runtime_checkable
class HasExcerpts(Protocol):
    """A media handler that can cut a file, so that a part of it is sent natively. Handlers may implement it."""

    @property
    def excerpt_controls(self) -> Set[str]:
        """The names of the `MediaControls` that it follows."""
        ...

    def excerpt(self, part: schema.MediaPart, context: conversions.MediaContext) -> Excerpt:
        """Returns a file with what these controls name; may block. Raises `MediaError` if that is nothing, or the file
        cannot be cut, and `MissingExtraError` where an optional package is needed.
        """
        ...


class MediaHandler(Protocol):
    """Recognises, checks and converts one kind of files. `check` and `convert` may block.

    They raise `MediaError` for a file that is broken, locked or without content, and `MissingExtraError` where an
    optional package is needed.
    """

    @property
    def name(self) -> str:
        """The name in `MediaDecision.handler`."""
        ...

    @property
    def fallbacks(self) -> Sequence[Fallback]:
        """The ways it converts files, the preferred one first. Empty if it converts nothing."""
        ...

    def recognise(self, head: bytes, name: str, declared: str | None) -> conversions.Recognised | None:
        """Returns the type of a file that begins with `head` (up to 8 KiB) and is called `name` ("" if it has none);
        None if the handler does not handle it.

        With `declared`, the declared media type, the result depends on that type, and `head` is empty: the file may be
        elsewhere. Called for every file of a call, also in event loops.
        """
        ...

    def check(self, part: schema.MediaPart) -> None:
        """Checks that a file that is sent natively can be read."""
        ...

    def convert(self, part: schema.MediaPart, context: conversions.MediaContext) -> conversions.Conversion:
        """Returns the content that replaces the file: text, or content of a type in `context.accepted_outputs`.

        It uses the first of `context.fallbacks` that makes something of the file.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent instead of a file: the file itself if it needed no change, else new parts with their bytes.

    There are several parts for a file of several frames or pages, in order. `lost` says what they do not show.
    """

    parts: tuple[schema.MediaPart, ...]
    lost: tuple[schema.MediaLoss, ...] = ()


@runtime_checkable
class MeasuresMedia(Protocol):
    """A media handler that reads the size and length of files. Handlers may implement it."""

    def measure(self, part: schema.MediaPart, context: conversions.MediaContext | None = None) -> schema.MediaFacts:
        """Returns the facts in the header of a file, without decoding its content; blocks. A library that a file may
        crash is run by `context.isolated`.

        Raises `MediaError` if it cannot be read, and `MissingExtraError` where an optional package is needed: the size
        is then unknown.
        """
        ...


@runtime_checkable
class FitsMedia(Protocol):
    """A media handler that makes files fit the limits of a model. Handlers may implement it."""

    def fit(self, part: schema.MediaPart, limits: Mapping[MediaLimit, int], accepted: Set[str] = frozenset()) -> Fitted:
        """Returns content within `limits`, of the media types `accepted`; without any, of types that every model for
        this kind of files reads. Blocks.

        Limits that are not named are unlimited; `images` is the number of parts that may be returned. Raises
        `MediaError` if it cannot be done, `UnsupportedContentError` if it needs a change and no accepted type can be
        written, and `MissingExtraError` where an optional package is needed.
        """
        ...


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
