"""What media handlers get and return: a context, the type of a file, the content that replaces it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..schema import (
    EMPTY,
    CallWarning,
    ContentPart,
    MediaAnchor,
    MediaDecision,
    MediaKind,
    MediaLoss,
    MediaPart,
    TextPart,
    Usage,
    canonical_content,
)
from .stores import ModelStore


@dataclass(frozen=True, slots=True)
class MediaContext:
    """What a media handler may use: model weights, the options of `create_llm` for media, and the media types that the
    model accepts.
    """

    models: ModelStore
    options: Mapping[str, Any] = EMPTY
    spare_cores: int = 1
    """Processor cores that a conversion may use."""
    fallbacks: Sequence[str] = ()
    """The names of the handler's fallbacks that may be used, the preferred one first."""
    accepted_outputs: Set[str] = frozenset({"text"})
    """What the model accepts of the outputs of these fallbacks: a conversion holds nothing else."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The type of a file. `kind` is the kind of its part; "text" for a text file."""

    kind: MediaKind
    media_type: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of converting a file: the content that replaces it, a label, and its usage.

    `content` is a text, or texts and media parts in order; media parts hold their bytes, or name a local file. A text
    before an image is its label: `["[page 1]", ImagePart(...), "[page 2]", ImagePart(...)]`. `label` is a word or two
    for the model, such as "transcript" or "3 page images". `warnings` must not quote the file: records hold them also
    without capture of content. `anchors` say where pieces of `text` stand in the file; evidence needs those of its
    whole pages. `fallback` is the one of `context.fallbacks` that was used; None stands for the first. `model` is the
    one that did the conversion, if one did. `lost` says what of the file is not in the content.
    """

    content: str | Sequence[str | ContentPart]
    label: str
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()
    anchors: tuple[MediaAnchor, ...] = ()
    fallback: str | None = None
    model: str | None = None
    lost: tuple[MediaLoss, ...] = ()

    @property
    def parts(self) -> tuple[ContentPart, ...]:
        """The content as parts, without empty texts; raises `SchemaError` for values other than text and media."""
        content = (self.content,) if isinstance(self.content, str) else self.content
        if isinstance(content, list | tuple):  # other types are refused below
            content = [TextPart(item) if isinstance(item, str) else item for item in content]
        return canonical_content(content, "content")

    @property
    def text(self) -> str:
        """The joined texts."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """An executed decision: the content that replaces the file (None: the file itself), and warnings without paths.

    `trace_id` is that of the call that executed it, which is charged for it.
    """

    trace_id: str
    decision: MediaDecision
    parts: tuple[ContentPart, ...] | None = None
    warnings: tuple[CallWarning, ...] = ()


ConvertedFiles: TypeAlias = dict[tuple[MediaPart, str, MediaDecision], ConvertedFile]
"""Converted files by what decides the conversion: the part without its cache point, the form of its blob, and the
decision without its path."""
