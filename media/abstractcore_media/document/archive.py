"""ZIP and TAR archives: a list of the members; those of small archives are read too."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .blocks import AttachedFile, Block, BlockPlace, LostContent, table
from .format_handler import DocumentFile
from .zip_members import ZipMembers

_MAX_READ_MEMBERS = 50
_MAX_READ_BYTES = 2_000_000
"""Archives with more than this, unpacked, are listed only."""
_MAX_LISTED = 2_000
_CHUNK = 1 << 16
_PACKINGS: dict[bytes, Callable[[io.BytesIO], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]] = {
    b"\x1f\x8b": lambda source: gzip.GzipFile(fileobj=source),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}


@dataclass(frozen=True, slots=True)
class _Member:
    path: str
    size: int
    read: Callable[[], bytes]


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the list of the members, then the members of a small archive."""
    try:
        members = list(_zip_members(file) if file.data.startswith(b"PK") else _tar_members(file))
    except tarfile.ReadError:
        if file.media_type == "application/x-tar":
            raise
        name = file.name.rpartition(".")[0] or "content"  # one compressed file
        yield AttachedFile(_unpacked(file), name, BlockPlace(member=name))
        return
    rows = [["file", "bytes"], *([each.path, f"{each.size}"] for each in members[:_MAX_LISTED])]
    yield from table(
        ((row, BlockPlace(member=row[0]) if index else BlockPlace()) for index, row in enumerate(rows)), "members"
    )
    if len(members) > _MAX_LISTED:
        yield LostContent(
            "names of members", len(members) - _MAX_LISTED, len(members), f"after {members[_MAX_LISTED - 1].path}"
        )
    if len(members) > _MAX_READ_MEMBERS or sum(each.size for each in members) > _MAX_READ_BYTES:
        yield LostContent("files inside", len(members), len(members), "all are listed, none is read")
        return
    for each in members:
        yield AttachedFile(each.read(), each.path, BlockPlace(member=each.path))


def _zip_members(file: DocumentFile) -> Iterator[_Member]:
    members = ZipMembers(file.data, file.work, "ZIP archive")
    for info in members.infos:
        if not info.is_dir():
            yield _Member(info.filename, info.file_size, lambda path=info.filename: members.read(path))


def _tar_members(file: DocumentFile) -> Iterator[_Member]:
    content = io.BytesIO(_unpacked(file))
    with tarfile.open(fileobj=content, mode="r:") as archive:
        for count, info in enumerate(archive):
            file.work.check()
            if count >= file.work.limits.members:
                raise file.work.too_large(f"it has more than {file.work.limits.members:,} members")
            if info.isfile():
                place = info.offset_data
                yield _Member(info.name, info.size, lambda place=place, size=info.size: _slice(content, place, size))


def _slice(content: io.BytesIO, place: int, size: int) -> bytes:
    content.seek(place)
    return content.read(size)


def _unpacked(file: DocumentFile) -> bytes:
    """Returns the TAR inside of a compressed file, within the limit; other files as they are."""
    source = io.BytesIO(file.data)
    opened = next((each for magic, each in _PACKINGS.items() if file.data.startswith(magic)), None)
    if opened is None:
        return file.data
    pieces: list[bytes] = []
    with opened(source) as stream:
        while piece := stream.read(_CHUNK):
            file.work.unpacked(len(piece))
            pieces.append(piece)
    return b"".join(pieces)
