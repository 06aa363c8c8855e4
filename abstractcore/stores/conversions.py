"""Stores of conversions of files: in memory, or in a folder that processes share."""

from __future__ import annotations

import json
import logging
import os
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Lock

from ..ports import Conversion
from ..schema import (
    CallWarning,
    ContentPart,
    DrawnText,
    MediaAnchor,
    MediaLoss,
    MediaText,
    SchemaError,
    TextPart,
    Usage,
)
from ..schema.codec import json_of
from ..schema.documents import from_data
from .artifacts import write_whole

_log = logging.getLogger("abstractcore")
_OVERHEAD_BYTES = 1000
"""About what an entry takes besides its content."""


class MemoryConversions:
    """Keeps conversions in memory, up to `max_bytes` of content; the least recently used are dropped first."""

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, tuple[Conversion, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        if hasattr(os, "register_at_fork"):  # a fork may happen while another thread holds the lock
            os.register_at_fork(after_in_child=self._unlock)

    def get(self, key: str) -> Conversion | None:
        """Returns the conversion that was put under `key`, if it is still kept."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: str, conversion: Conversion) -> None:
        """Keeps a conversion, unless it is larger than all that may be kept."""
        size = _size(conversion)
        if size > self._max_bytes:
            return
        with self._lock:
            self._bytes += size - self._entries.pop(key, (conversion, 0))[1]
            self._entries[key] = (conversion, size)
            while self._bytes > self._max_bytes:
                self._bytes -= self._entries.popitem(last=False)[1][1]

    def _unlock(self) -> None:
        self._lock = Lock()


class FileConversions:
    """Keeps conversions in a folder, up to `max_bytes`; the least recently used are deleted first. The constructor does
    no I/O.

    Its files hold the text of documents: they are readable by the user only. Any number of threads and processes may
    use one folder at once. What cannot be read or written is logged, and converted again.
    """

    def __init__(self, folder: str | os.PathLike[str], max_bytes: int = 1 << 30) -> None:
        self._folder = Path(folder)
        self._max_bytes = max_bytes
        self._written: int | None = None

    def get(self, key: str) -> Conversion | None:
        """Returns the conversion that was put under `key`, if it is still kept."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("a kept conversion cannot be read: %s", error)
            return None
        with suppress(OSError):  # a folder that can only be read is used too
            os.utime(path)
        try:
            return from_data(_ConversionDocument, json.loads(data)).conversion()
        except (SchemaError, ValueError, RecursionError):
            _log.warning("%s is not a conversion; it is deleted", path)
            with suppress(OSError):
                path.unlink()
            return None

    def put(self, key: str, conversion: Conversion) -> None:
        """Keeps a conversion whose media parts hold their bytes."""
        data = json_of(_ConversionDocument.of(conversion))
        if len(data) > self._max_bytes:
            return
        try:
            write_whole(self._path(key), data)
            self._written = self._delete_oldest() if self._written is None else self._written + len(data)
            if self._written > self._max_bytes:
                self._written = self._delete_oldest()
        except OSError as error:
            _log.warning("a conversion cannot be kept: %s", error)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _delete_oldest(self) -> int:
        """Deletes files above the limit, down to nine tenths of it; returns the bytes that are left."""
        found: list[tuple[float, int, Path]] = []
        for path in self._folder.glob("??/*"):
            with suppress(FileNotFoundError):  # another process deletes too
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        if total <= self._max_bytes:
            return total
        for _, size, path in sorted(found):
            if total <= self._max_bytes * 0.9:
                break
            with suppress(FileNotFoundError):
                path.unlink()
            total -= size
        return total


@dataclass(frozen=True, slots=True)
class _ConversionDocument:
    """A conversion as JSON."""

    content: tuple[ContentPart, ...]
    label: str
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()
    anchors: tuple[MediaAnchor, ...] = ()
    fallback: str | None = None
    model: str | None = None
    lost: tuple[MediaLoss, ...] = ()
    own_text: MediaText | None = None
    drawn: DrawnText | None = None

    @classmethod
    def of(cls, given: Conversion) -> _ConversionDocument:
        return cls(given.parts, **{each.name: getattr(given, each.name) for each in fields(cls)[1:]})

    def conversion(self) -> Conversion:
        only = self.content[0] if len(self.content) == 1 else None
        content = only.text if isinstance(only, TextPart) else self.content
        return Conversion(content, **{each.name: getattr(self, each.name) for each in fields(self)[1:]})


def _size(conversion: Conversion) -> int:
    sizes = (4 * len(part.text) if isinstance(part, TextPart) else part.blob.size or 0 for part in conversion.parts)
    anchors, own_text = conversion.anchors, conversion.own_text
    if own_text is not None:
        anchors = own_text.anchors
    return sum(sizes) + _OVERHEAD_BYTES + 200 * len(anchors) + (4 * len(own_text.text) if own_text is not None else 0)
