"""ZIP and TAR archives: a list of the members; those of small archives are read too."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass

from .blocks import AttachedFile, Block, BlockPlace, GuessedEncoding, LostContent, table
from .format_handler import DocumentFile
from .vocabularies import FormatVocabulary
from .zip_members import ZipMembers

_MAX_READ_MEMBERS = 50
_MAX_READ_BYTES = 2_000_000
"""Archives with more than this, unpacked, are listed only."""
_MAX_LISTED = 2_000
_CHUNK = 1 << 16
_UTF8_NAME = 0x800
_SYSTEMS: tuple[tuple[str, Set[int], int], ...] = (
    ("cp949", frozenset(range(0xB0, 0xC9)), 4),
    ("gb18030", frozenset(range(0xB0, 0xD8)), 1),
    ("big5", frozenset(range(0xA4, 0xC7)), 1),
    ("cp932", frozenset(range(0x88, 0x98)), 1),
    ("cp866", frozenset({*range(0x80, 0xB0), *range(0xE0, 0xF2)}), 3),
    ("cp1251", frozenset({0xA8, 0xB8, *range(0xC0, 0x100)}), 3),
)
"""Encodings of systems, with the first bytes of their usual characters, and how many of these a guess needs."""
_MIXED_WORD = re.compile("[A-Za-z](?:[\u0400-\u04ff]|[^\\x00-\x7f][A-Za-z])|[\u0400-\u04ff][A-Za-z]")
VOCABULARY = FormatVocabulary(
    source="the types of members of TAR",
    read={"a list of all files": "", "the files of a small archive, each by the reader of its format": ""},
    lost={"files inside": "", "names of members": "", "links and devices": ""},
    left_out={"folders": ""},
)
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
        if file.data.startswith(b"PK"):
            packed = ZipMembers(file.data, file.work, "ZIP archive")
            encoding = _encoding_of_names(packed.infos)
            if encoding in {codec for codec, _, _ in _SYSTEMS}:
                yield GuessedEncoding(encoding)
            members = list(_zip_members(packed, encoding))
        else:
            members = list(_tar_members(file))
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


def _zip_members(members: ZipMembers, encoding: str) -> Iterator[_Member]:
    for info in members.infos:
        if not info.is_dir():
            name = info.filename if info.flag_bits & _UTF8_NAME else _raw(info).decode(encoding, "replace")
            yield _Member(name, info.file_size, lambda info=info: b"".join(members.chunks_of(info)))


def _raw(info: zipfile.ZipInfo) -> bytes:
    """Returns a name as it stands in the file; without a mark of UTF-8, Python reads it as cp437."""
    return info.filename.encode("cp437", "replace")


def _encoding_of_names(infos: Sequence[zipfile.ZipInfo]) -> str:
    """Returns the encoding of names that are not marked as UTF-8: programs write that of their system."""
    names = b"\n".join(_raw(info) for info in infos if not info.flag_bits & _UTF8_NAME)
    with suppress(UnicodeDecodeError):
        names.decode("utf-8")
        return "utf-8"
    return next((codec for codec, usual, least in _SYSTEMS if _is_likely(names, codec, usual, least)), "cp437")


def _is_likely(names: bytes, codec: str, usual: Set[int], least: int) -> bool:
    """Returns whether names have `least` characters beyond ASCII in an encoding, nearly all of them `usual` ones."""
    try:
        text = names.decode(codec)
    except UnicodeDecodeError:
        return False
    characters = [each for each in text if each > "\x7f"]
    likely = sum("\u3041" <= each <= "\u30fe" or each.encode(codec)[0] in usual for each in characters)
    return len(characters) >= least and likely > 0.9 * len(characters) and not _MIXED_WORD.search(text)


def _tar_members(file: DocumentFile) -> Iterator[_Member]:
    content = io.BytesIO(_unpacked(file))
    with tarfile.open(fileobj=content, mode="r:") as archive:
        for count, info in enumerate(_tar_infos(archive, content, file)):
            file.work.check()
            if count >= file.work.limits.members:
                raise file.work.too_large(f"it has more than {file.work.limits.members:,} members")
            if not info.isfile() and not info.isdir():
                file.losses.count("links and devices", info.name)
            if info.isfile():
                place = info.offset_data
                yield _Member(info.name, info.size, lambda place=place, size=info.size: _slice(content, place, size))


def _tar_infos(archive: tarfile.TarFile, content: io.BytesIO, file: DocumentFile) -> Iterator[tarfile.TarInfo]:
    """Yields the members up to the end, or up to where the file is cut."""
    try:
        yield from archive
    except tarfile.ReadError:
        if not archive.offset:
            raise
        file.losses.cut()
        return
    if _slice(content, archive.offset, tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        file.losses.cut()


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
