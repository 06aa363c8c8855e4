"""What is known of the files of a call when it is lowered, their size and length by content; and `FileFacts`, which
measures them by their handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TypeAlias, cast

from ..errors import AbstractCoreError, CorruptFileError, PluginError
from ..ports import MeasuresMedia, MediaContext, MediaHandler, ModelProfile, Runtime
from ..ports.profiles import MediaLimit
from ..schema import Blob, MediaControls, MediaFacts, MediaKind, MediaPart, ModelCall
from .parts import handler_for, media_parts, with_content

FileKey: TypeAlias = tuple[str | None, str]
"""The hash of a file, and its media type."""
FactsByFile: TypeAlias = Mapping[FileKey, MediaFacts]
_LENGTHS: Mapping[str, tuple[MediaLimit, ...]] = {
    "document": ("pdf_pages", "all_pdf_pages"),
    "audio": ("audio_seconds",),
    "video": ("video_seconds",),
}
"""The limits that need a measured file, by kind."""
_KEPT = 4096
_UNKNOWN = MediaFacts()


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


class FileFacts:
    """Measures files, once for each content. It has no locks: what two threads measure at once is kept once."""

    def __init__(
        self, handlers: Sequence[MediaHandler], artifact: Callable[[str], bytes], context: Callable[[], MediaContext]
    ) -> None:
        self._handlers = handlers
        self._artifact = artifact
        self._context = context
        self._known: dict[FileKey, MediaFacts] = {}

    async def for_call(self, call: ModelCall, profile: ModelProfile, runtime: Runtime) -> FactsByFile:
        """Returns the facts of the files of `call` whose size or length may decide how they are sent."""
        return await self._of(measurable_parts(call, profile), runtime)

    async def of_parts(self, parts: Sequence[MediaPart], profile: ModelProfile, runtime: Runtime) -> FactsByFile:
        """Returns the facts of files that conversions have made, or that were downloaded, where `profile` has limits on
        their kinds.
        """
        kinds = measured_kinds(profile)
        return await self._of((part for part in parts if part.type in kinds), runtime)

    async def _of(self, files: Iterable[MediaPart], runtime: Runtime) -> FactsByFile:
        kept, parts = self._known, {file_key(part.blob): part for part in files}
        found = {key: kept[key] for key in parts if key in kept}
        missing = [part for key, part in parts.items() if key not in kept and _is_at_hand(part)]
        measured = await runtime.gather(*(partial(runtime.call, self._measure, part, kind="files") for part in missing))
        found.update(zip((file_key(part.blob) for part in missing), measured, strict=True))
        return {key: facts for key, facts in found.items() if facts != _UNKNOWN}

    def of_all(self, call: ModelCall) -> FactsByFile:
        """Returns the facts of all files of `call` whose content is at hand; blocks."""
        parts = [part for _, part in media_parts(call) if _is_at_hand(part)]
        return {file_key(part.blob): facts for part in parts if (facts := self._measure(part)) != _UNKNOWN}

    def known_facts(self, call: ModelCall) -> FactsByFile:
        """Returns the facts that were measured before of the files of `call`."""
        keys = [file_key(part.blob) for _, part in media_parts(call)]
        return {key: self._known[key] for key in keys if self._known.get(key, _UNKNOWN) != _UNKNOWN}

    def _measure(self, part: MediaPart) -> MediaFacts:
        """Returns the facts of a file; blocks. Nothing is known of one that cannot be read; one that is corrupt is not
        tried again.

        Raises `PluginError` for a handler that fails in an unexpected way.
        """
        key = file_key(part.blob)
        known = self._known.get(key)
        if known is not None:
            return known
        try:
            facts = self._facts_of_file(part)
        except PluginError:
            raise
        except CorruptFileError:  # it may have crashed its decoder, or kept it busy
            facts = _UNKNOWN
        except (AbstractCoreError, OSError):  # an encrypted file, or a package that is missing
            return _UNKNOWN
        if len(self._known) >= _KEPT:
            self._known = dict(list(self._known.items())[_KEPT // 2 :])
        self._known[key] = facts
        return facts

    def _facts_of_file(self, part: MediaPart) -> MediaFacts:
        handler, _ = handler_for(part, self._handlers)
        if not isinstance(handler, MeasuresMedia):
            return _UNKNOWN
        return handler.measure(with_content(part, self._artifact), self._context())


def _is_at_hand(part: MediaPart) -> bool:
    return part.blob.form in ("bytes", "file", "artifact")
