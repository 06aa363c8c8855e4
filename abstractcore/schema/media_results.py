"""`MediaResult`, `TranscriptResult`: what a call of `llm.voice`, `llm.audio`, `llm.vision` or `llm.music` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Generic, TypeVar

from .base_error import SchemaError
from .call_warnings import CallWarning
from .frozen_json import EMPTY, freeze_object
from .immutable import Immutable
from .json_values import JSONObject, check_items
from .media_verifications import MediaVerification
from .parts import MEDIA_PARTS, MediaPart
from .reprs import ShortRepr
from .rich_display import RichDisplay
from .transcripts import Transcript
from .usage import Usage

P = TypeVar("P", bound=MediaPart, covariant=True)
_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendFacts(Immutable, ShortRepr):
    """What is known of a call of a backend: its id, its model, and what it took.

    `cost` is in US dollars, exact; it is None for the `cost_reason`. `warnings` name what was asked for and not done.
    `metadata` is JSON that the backend adds; `seconds` is the duration, `trace_id` the id of the call in records.
    """

    backend: str
    model: str | None = None
    usage: Usage = _NO_USAGE
    cost: Decimal | None = None
    cost_reason: str | None = None
    warnings: tuple[CallWarning, ...] = ()
    metadata: JSONObject = EMPTY
    trace_id: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))
        object.__setattr__(self, "metadata", freeze_object(self.metadata, "metadata"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MediaResult(BackendFacts, RichDisplay, Generic[P]):
    """Sound, images or a video that a backend made, with its facts; `verification` of a call with `verify=True`."""

    parts: tuple[P, ...]
    verification: MediaVerification | None = None

    def __post_init__(self) -> None:
        BackendFacts.__post_init__(self)
        object.__setattr__(self, "parts", check_items(self.parts, object, "parts"))
        for index, part in enumerate(self.parts):
            if not isinstance(part, MEDIA_PARTS):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise SchemaError(f"expected a media part, got {type(part).__name__}", f"parts[{index}]")
        if not self.parts:
            raise SchemaError("expected one part or several", "parts")

    @property
    def part(self) -> P:
        """The part, the first of several."""
        return self.parts[0]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes `part` to a file, or to a file of its own in a folder, and returns the path: see `AudioPart.save`."""
        return self.part.save(path)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TranscriptResult(BackendFacts):
    """What is said in a recording, with the facts of the backend that listened."""

    transcript: Transcript

    @property
    def text(self) -> str:
        """The text of all segments."""
        return self.transcript.text
