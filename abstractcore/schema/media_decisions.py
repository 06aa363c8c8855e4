"""`MediaDecision`: how one file of a call is sent, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .immutable import Immutable
from .parts import MediaKind
from .usage import Usage

MediaRoute = Literal["native", "inline", "fallback"]


@dataclass(frozen=True, slots=True)
class MediaSent(Immutable):
    """The content sent in place of a file: its media type, its size in bytes, and its text, if it is text.

    The model gets the text with a label and delimiters around it. If a file became several parts, such as images of its
    pages, `media_type` is "multipart/mixed", `size` is the total, and `parts` has one entry for each, in order. `pages`
    has the start and the end of each page in `text`, if the file has pages.
    """

    media_type: str
    size: int | None
    text: str | None = None
    parts: tuple[MediaSent, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MediaDecision(Immutable):
    """How one file is sent, and why.

    `route` is "native" (the file itself), "inline" (a text file as text) or "fallback" (the output of `handler`).
    `outputs` is what the handler may produce for this model: "text", or media types such as "image/png"; empty for a
    file that is sent natively. `sent` and `usage` are None in a plan, which sends nothing; `usage` is also None if the
    handler called no model.
    """

    part_path: str
    source: str
    type: str
    kind: MediaKind
    route: MediaRoute
    reason: str
    handler: str | None = None
    sent: MediaSent | None = None
    usage: Usage | None = None
    outputs: tuple[str, ...] = ()
