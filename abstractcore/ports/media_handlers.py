"""Kinds of files: recognising them, checking them, and converting them to content that a model takes."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..schema import (
    EMPTY,
    CallWarning,
    ContentPart,
    JSONObject,
    MediaKind,
    MediaPart,
    TextPart,
    Usage,
    canonical_content,
)
from .stores import ModelStore


@dataclass(frozen=True, slots=True)
class MediaContext:
    """What a media handler may use from above: model weights, options, and what the model takes."""

    models: ModelStore
    options: JSONObject = EMPTY
    spare_cores: int = 1
    """Processor cores that a conversion may use."""
    takes: Set[str] = frozenset({"text"})
    """What of the handler's `gives` the model takes: a conversion holds nothing else."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is. `kind` is the kind of part it becomes; "text" for a file that is text by itself."""

    kind: MediaKind
    media_type: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a handler made of a file: the content that takes its place, what that content is, and what it cost.

    `content` is a text, or texts and media parts in order; media parts hold their bytes, or name a local file. A text
    before an image is its label: `["[page 1]", ImagePart(...), "[page 2]", ImagePart(...)]`. `label` is a word or two
    for the model, such as "transcript" or "3 page images". Records hold `warnings` also where they hold no content:
    a warning does not quote the file.
    """

    content: str | Sequence[str | ContentPart]
    label: str
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()

    @property
    def parts(self) -> tuple[ContentPart, ...]:
        """The content as parts, without empty texts; raises `SchemaError` for what is neither text nor media."""
        content = (self.content,) if isinstance(self.content, str) else self.content
        if isinstance(content, list | tuple):  # anything else is refused below, with its type
            content = [TextPart(item) if isinstance(item, str) else item for item in content]
        return canonical_content(content, "content")

    @property
    def text(self) -> str:
        """All texts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@runtime_checkable
class ListsEndings(Protocol):
    """A media handler that lists its files for people: a handler may be one too."""

    @property
    def endings(self) -> Sequence[str]:
        """How the names of its files end, without the dot: "pdf"."""
        ...


class MediaHandler(Protocol):
    """Everything about one kind of file: recognising, checking and converting it. `check` and `convert` may block.

    They raise `MediaError` for a file that is broken, locked or without content, and `MissingExtraError` where an
    optional package is needed.
    """

    @property
    def name(self) -> str:
        """As in `MediaDecision.handler`."""
        ...

    @property
    def gives(self) -> Set[str]:
        """What its conversions may hold: "text", and media types such as "image/png". Empty if it converts nothing."""
        ...

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """What a file is that begins with `head` (8 KiB at most) and is called `name` ("" if it has no name); None if
        it is not this handler's.

        With `declared`, the media type that the file is said to have, the answer depends on that type and `head` is
        empty: the file may be elsewhere. This is asked for every file of a call, also in event loops.
        """
        ...

    def check(self, part: MediaPart) -> None:
        """Look whether a file that is sent as it is can be read at all."""
        ...

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """The content to take the file's place: text always, and other content of `context.takes` only."""
        ...
