"""`MediaHandler`: recognises, checks and converts a kind of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from .. import ports, schema


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

    def excerpt(self, part: schema.MediaPart, context: ports.MediaContext) -> ports.Excerpt:
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

    def recognise(self, head: bytes, name: str, declared: str | None) -> ports.Recognised | None:
        """Returns the type of a file that begins with `head` (up to 8 KiB) and is called `name` ("" if it has none);
        None if the handler does not handle it.

        With `declared`, the declared media type, the result depends on that type, and `head` is empty: the file may be
        elsewhere. Called for every file of a call, also in event loops.
        """
        ...

    def check(self, part: schema.MediaPart) -> None:
        """Checks that a file that is sent natively can be read."""
        ...

    def convert(self, part: schema.MediaPart, context: ports.MediaContext) -> ports.Conversion:
        """Returns the content that replaces the file: text, or content of a type in `context.accepted_outputs`.

        It uses the first of `context.fallbacks` that makes something of the file.
        """
        ...
