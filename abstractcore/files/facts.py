"""What is known of the files of a call when it is lowered: their size and length, by content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TypeAlias, cast

from ..ports import ModelProfile
from ..ports.profiles import MediaLimit
from ..schema import Blob, MediaControls, MediaFacts, MediaKind, MediaPart, ModelCall

FileKey: TypeAlias = tuple[str | None, str]
"""The hash of a file, and its media type."""
FactsByFile: TypeAlias = Mapping[FileKey, MediaFacts]
_LENGTHS: Mapping[str, tuple[MediaLimit, ...]] = {
    "document": ("pdf_pages", "all_pdf_pages"),
    "audio": ("audio_seconds",),
    "video": ("video_seconds",),
}
"""The limits that need a measured file, by kind."""


def file_key(blob: Blob) -> FileKey:
    """Returns the key of a file in `FactsByFile`."""
    return blob.sha256, blob.media_type


def measured_kinds(profile: ModelProfile) -> Set[str]:
    """Returns the kinds of files whose size or length may decide how they are sent."""
    kinds = {kind for kind, limits in _LENGTHS.items() if any(name in profile.media_limits for name in limits)}
    return kinds | {"document" if kind == "pdf" else kind for kind in profile.media_tokens}


def measurable_parts(call: ModelCall, profile: ModelProfile) -> Iterator[MediaPart]:
    """Yields the files of `call` whose size or length may decide how they are sent. Pure."""
    wanted = measured_kinds(profile)
    if not wanted:
        return
    from .parts import media_parts

    for _, part in media_parts(call):
        kind, media_type = cast(MediaKind, part.type), part.blob.media_type
        if kind not in wanted or call.media_policy.get(kind, "auto") not in ("auto", "native"):
            continue
        known = profile.supports(kind, media_type)
        if known or profile.may_support(kind, media_type, only_natively=True):
            yield part


def sent_pages(facts: MediaFacts, controls: MediaControls | None, followed: Set[str]) -> int | None:
    """Returns how many pages of a document are sent, if its controls are `followed`; None if that is not known."""
    if facts.pages is None or controls is None or "pages" not in followed:
        return facts.pages
    return len(controls.page_numbers(facts.pages))


def sent_seconds(facts: MediaFacts, controls: MediaControls | None, followed: Set[str]) -> float | None:
    """Returns how many seconds of a recording are sent, if its controls are `followed`; None if that is not known."""
    if facts.seconds is None or controls is None:
        return facts.seconds
    start = controls.start if controls.start is not None and "start" in followed else 0.0
    end = controls.end if controls.end is not None and "end" in followed else facts.seconds
    return max(0.0, min(end, facts.seconds) - start)
