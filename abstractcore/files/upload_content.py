"""The content of a file that is uploaded, read in pieces: a large file is never in memory as a whole."""

from __future__ import annotations

import hashlib
import os

from ..errors import MediaError
from ..schema import Blob
from ..schema.file_hashes import Stamp, known_hash, stamp_of

_STEP = 1 << 20


class UploadContent:
    """The content of a blob of form "bytes" or "file". `source` is its name in errors."""

    def __init__(self, blob: Blob, source: str) -> None:
        self._blob = blob
        self._source = source
        self._stamp: Stamp | None = None

    def read(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes from `offset` on; blocks.

        Raises `MediaError` for a file that cannot be read, or has changed since it was added to the call.
        """
        if self._blob.data is not None:
            return self._blob.data[offset : offset + length]
        try:
            data = self._read(offset, length)
        except OSError as error:
            raise MediaError(f"{self._source} cannot be read: {error.strerror}", source=self._source) from None
        if data is None or len(data) != length:
            raise MediaError(f"{self._source} has changed since it was added to the call", source=self._source)
        return data

    def _read(self, offset: int, length: int) -> bytes | None:
        """Returns what the file has there; None if its content is not the one that was added to the call."""
        with open(self._blob.location or "", "rb") as file:
            stamp = stamp_of(file.fileno())
            if stamp != self._stamp and not self._is_same(file.fileno(), stamp):
                return None
            self._stamp = stamp
            file.seek(offset)
            data = file.read(length)
            return data if stamp_of(file.fileno()) == stamp else None

    def _is_same(self, descriptor: int, stamp: Stamp) -> bool:
        known = known_hash(stamp)
        if known is not None:
            return known == self._blob.sha256
        hasher = hashlib.sha256()
        with open(os.dup(descriptor), "rb") as file:
            file.seek(0)
            while piece := file.read(_STEP):
                hasher.update(piece)
        return hasher.hexdigest() == self._blob.sha256
