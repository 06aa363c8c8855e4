"""Reads the members of a ZIP file within limits on their count and on what they decompress to."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from abstractcore.errors import EncryptedFileError

from .vocabularies import LossCounter
from .work_limits import Work

_CHUNK = 1 << 16
_END = struct.Struct("<4s12xI2x")
"""The end of a directory: its signature, and where the directory begins (APPNOTE.TXT 4.3.16)."""


class ZipMembers:
    """The members of a ZIP file, by path. `what` names its format in errors, such as "Word document".

    With `losses`, members that are never read are counted there, unless the vocabulary declares them.
    """

    def __init__(self, data: bytes, work: Work, what: str, losses: LossCounter | None = None) -> None:
        self._work = work
        self._what = what
        with self._explained():
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            if _has_directory_of_a_member(data, self._zip.start_dir):
                raise zipfile.BadZipFile("its directory is that of an archive in it")
        if len(self._zip.infolist()) > work.limits.members:
            raise work.too_large(f"it has more than {work.limits.members:,} members")
        self._infos = {info.filename.lower().lstrip("/"): info for info in self._zip.infolist()}
        self._losses = losses
        if losses is not None:
            losses.has_members(info.filename for info in self._infos.values())

    def __contains__(self, path: str) -> bool:
        return path.lower().lstrip("/") in self._infos

    @property
    def infos(self) -> list[zipfile.ZipInfo]:
        """All members, in the order of the directory."""
        return self._zip.infolist()

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yields the content of a member; nothing if there is no such member. Raises `MediaError`."""
        info = self._infos.get(path.lower().lstrip("/"))
        if info is not None:
            yield from self.chunks_of(info)

    def chunks_of(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yields the content of a member of `infos`: several of an archive may have one name. Raises `MediaError`."""
        if self._losses is not None:
            self._losses.opens(info.filename)
        if info.flag_bits & 1:
            raise EncryptedFileError(
                f"{self._work.source} is encrypted: {info.filename} in it needs a password.",
                source=self._work.source,
                hint="Unpack it, and pass the files in it.",
            )
        with self._explained(), self._zip.open(info) as member:
            while chunk := member.read(_CHUNK):
                self._work.unpacked(len(chunk))
                yield chunk

    def read(self, path: str) -> bytes:
        """Returns the content of a member, b"" if there is no such member; raises `MediaError`."""
        return b"".join(self.chunks(path))

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError) as error:
            raise self._work.corrupt(self._what, "its ZIP archive is damaged or truncated") from error


def _has_directory_of_a_member(data: bytes, begin: int) -> bool:
    """Returns whether the directory that was found is that of an archive which is stored in this one: where a file is
    cut, its own is missing.
    """
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or not data.startswith(b"PK\x03\x04") or len(data) < at + _END.size:
        return False
    _, stated = _END.unpack_from(data, at)
    return stated not in (begin, 0xFFFFFFFF)
