"""Damaged copies of files, and what is wrong with what is made of them: files that are cut, and with changed bytes.

An error must be typed and say what to do, and what a cut file lacks must be named.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from abstractcore.errors import AbstractCoreError, MediaError
from abstractcore.ports import Conversion, MediaContext, MediaHandler
from abstractcore.schema import MEDIA_PART_BY_KIND, Blob, MediaPart, media_kind_of
from abstractcore_media import media_type_of, register_media_handlers
from abstractcore_media.common.media_types import is_text_type
from abstractcore_media.document.work_limits import WorkLimits

CUTS, CHANGES = 10, 2
CHANGED_SHARE = 0.05
MAX_SECONDS, MAX_TIMES, MAX_MEGABYTES = 10.0, 4.0, 400.0
"""Of processor time and memory for one copy; it may also take so many times the time of the whole file."""
_WITHOUT_END = frozenset({"application/yaml"})
_OUTPUTS = {"image": {"image/png"}, "audio": {"audio/wav"}, "video": {"text", "image/jpeg"}}
_FALLBACKS = {"image": ("convert",), "audio": ("convert",), "video": ("frames",)}


def damaged(content: bytes, seed: str) -> Iterator[tuple[str, bytes]]:
    """Yields copies with their names: cut at ten places, and two with 5 % of their bytes changed."""
    for number in range(1, CUTS + 1):
        yield f"cut {number}/{CUTS + 1}", content[: len(content) * number // (CUTS + 1)]
    chance = random.Random(seed)
    for number in range(CHANGES):
        changed = bytearray(content)
        for _ in range(max(1, int(len(changed) * CHANGED_SHARE))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        yield f"change {number + 1}", bytes(changed)


def has_end(content: bytes, media_type: str) -> bool:
    """Returns whether a reader can see that a file of this type is cut: plain text may end anywhere."""
    if media_type == "text/html":
        return b"</html>" in content
    if media_type == "message/rfc822":
        return b"boundary=" in content
    is_plain = media_type.startswith("text/") and media_type != "text/rtf"
    return not is_plain and media_type not in _WITHOUT_END


@dataclass
class DamageReport:
    """What is wrong with damaged copies, a line each, and how many were read or refused."""

    faults: list[str] = field(default_factory=list[str])
    read: int = 0
    refused: int = 0

    def __add__(self, other: DamageReport) -> DamageReport:
        return DamageReport(self.faults + other.faults, self.read + other.read, self.refused + other.refused)


class DamagedFiles:
    """Gives damaged copies to the handlers of their types. `context` has what they may use, such as other processes."""

    def __init__(self, context: MediaContext) -> None:
        self._context = replace(context, timeout=60.0, to_text=self._inner)
        self._handlers: list[MediaHandler] = register_media_handlers()
        for handler in self._handlers:
            if hasattr(handler, "limits"):
                handler.limits = WorkLimits(seconds=30)

    def report(self, content: bytes, name: str) -> DamageReport:
        """Returns the report on the copies of a file."""
        part = self._part(content, name)
        if part is None:
            return DamageReport()
        report = DamageReport()
        started = time.process_time()
        try:
            whole = self._conversion(part)
        except MediaError:
            whole = None
        limit = max(MAX_SECONDS, MAX_TIMES * (time.process_time() - started))
        ends = has_end(content, part.blob.media_type)
        for label, copy in damaged(content, name):
            copied = self._part(copy, name)
            if copied is None:
                continue
            before, started = _megabytes(), time.process_time()
            report.faults += [f"{name}, {label}: {fault}" for fault in self._faults(copied, label, whole, ends, report)]
            seconds = time.process_time() - started
            if seconds > limit:
                report.faults.append(f"{name}, {label}: it takes {seconds:.1f} s")
            if _megabytes() - before > MAX_MEGABYTES:
                report.faults.append(f"{name}, {label}: it takes {_megabytes() - before:.0f} MB")
        return report

    def _faults(
        self, part: MediaPart, label: str, whole: Conversion | None, ends: bool, report: DamageReport
    ) -> Iterator[str]:
        try:
            found = self._conversion(part)
        except AbstractCoreError as error:
            report.refused += 1
            if not isinstance(error, MediaError):
                yield f"{type(error).__name__}: {error}"
            elif not error.hint:
                yield f"no hint: {error}"
            return
        except Exception as error:
            yield f"{type(error).__name__}: {error}"
            return
        report.read += 1
        if label.startswith("cut") and ends and whole is not None and not found.lost and not found.warnings:
            has_images = any(each.type == "image" for each in whole.parts)
            if found.text.strip() != whole.text.strip() or (has_images and len(found.parts) != len(whole.parts)):
                yield "its end is missing, which neither lost nor a warning says"

    def _conversion(self, part: MediaPart) -> Conversion:
        kind = part.blob.media_type.partition("/")[0]
        handler = self._handler(part)
        if handler is None:
            raise MediaError(f"{part.blob.name} is not read.", hint="Use another format.")
        context = self._context
        if kind in _FALLBACKS:
            context = replace(context, fallbacks=_FALLBACKS[kind], accepted_outputs=frozenset(_OUTPUTS[kind]))
        return handler.convert(part, context)

    def _inner(self, part: MediaPart) -> Conversion:
        if part.type in ("image", "audio", "video"):
            return Conversion("[not read here]", "text")
        return self._conversion(part)

    def _handler(self, part: MediaPart) -> MediaHandler | None:
        return next((each for each in self._handlers if each.recognise(b"", "", part.blob.media_type)), None)

    @staticmethod
    def _part(content: bytes, name: str) -> MediaPart | None:
        media_type = media_type_of(content[:8192], name)
        if media_type is None or not content:
            return None
        kind = "text" if is_text_type(media_type) else media_kind_of(media_type)
        return MEDIA_PART_BY_KIND[kind](Blob.from_bytes(content, media_type, name=name))


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
