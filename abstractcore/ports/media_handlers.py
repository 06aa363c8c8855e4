"""Kinds of files: knowing them, checking them, making text of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..schema import EMPTY, CallWarning, JSONObject, MediaKind, MediaPart, Usage
from .stores import ModelStore


@dataclass(frozen=True, slots=True)
class MediaContext:
    """What a media handler may use from above: model weights, and the bytes of blobs kept elsewhere."""

    models: ModelStore
    options: JSONObject = EMPTY
    spare_cores: int = 1
    """Processor cores that a conversion may use."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a handler made of a file: text that stands in its place, what kind of text it is, what it took.

    `label` is a word or two for the model and the report, such as "transcript" or "text of 3 pages".
    """

    text: str
    label: str
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()


@runtime_checkable
class ListsEndings(Protocol):
    """A media handler that lists its files for people: a handler may be one too."""

    @property
    def endings(self) -> Sequence[str]:
        """How the names of its files end, without the dot: "pdf"."""
        ...


class MediaHandler(Protocol):
    """Everything about one kind of file: knowing it, checking it, and making text of it. All of it may block.

    `check` and `convert` raise `MediaError` for a file that is broken, locked or without content, and
    `MissingExtraError` where an optional package is needed.
    """

    @property
    def name(self) -> str:
        """As in `MediaDecision.handler`."""
        ...

    @property
    def kind(self) -> MediaKind:
        """The kind of part its files become; "text" for files that are text by themselves."""
        ...

    @property
    def converts(self) -> bool:
        """Whether `convert` can make text of its files."""
        ...

    def recognise(self, head: bytes, name: str) -> str | None:
        """The media type of a file that begins with `head` (8 KiB at most) and is called `name`; None if not ours."""
        ...

    def handles(self, part: MediaPart) -> bool:
        """Whether `part` is one of its files. Pure."""
        ...

    def check(self, part: MediaPart) -> None:
        """Look whether a file that is sent as it is can be read at all."""
        ...

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Text to stand in the file's place."""
        ...
