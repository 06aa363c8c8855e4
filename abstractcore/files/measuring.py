"""`FileFacts`: measures files by their handlers, and keeps what was measured by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from ..errors import AbstractCoreError, CorruptFileError, PluginError
from ..ports import MeasuresMedia, MediaContext, MediaHandler, ModelProfile, Runtime
from ..schema import Blob, MediaFacts, MediaPart, ModelCall
from .facts import FactsByFile, FileKey, file_key, measurable_parts, measured_kinds
from .parts import handler_for, media_parts

_KEPT = 4096
_UNKNOWN = MediaFacts()


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

    def known(self, call: ModelCall) -> FactsByFile:
        """Returns what was measured before of the files of `call`."""
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
            facts = self._measured(part)
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

    def _measured(self, part: MediaPart) -> MediaFacts:
        blob = part.blob
        handler, _ = handler_for(part, self._handlers)
        if not isinstance(handler, MeasuresMedia):
            return _UNKNOWN
        if blob.form == "artifact":
            content = self._artifact(blob.sha256 or "")
            part = replace(part, blob=Blob.from_bytes(content, blob.media_type, name=blob.name))
        return handler.measure(part, self._context())


def _is_at_hand(part: MediaPart) -> bool:
    return part.blob.form in ("bytes", "file", "artifact")
