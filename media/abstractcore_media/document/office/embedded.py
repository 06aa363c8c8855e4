"""Files that Office files embed as objects: workbooks and documents, also those that an OLE file is packed around."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from pathlib import PurePosixPath
from typing import Any, cast

from ..blocks import AttachedFile, BlockPlace
from .decryption import OLE
from .package import Package, Relationship

_OWN = {"Workbook": ".xls", "Book": ".xls", "WordDocument": ".doc", "PowerPoint Document": ".ppt"}
"""Streams of OLE files that programs open as they are, with the endings of their names."""
_PACKED = ("Package", "EmbeddedOdf", "CONTENTS")
_NATIVE = "\x01Ole10Native"
_READABLE = (b"PK\x03\x04", b"%PDF-")


def embedded_file(package: Package, relation: Relationship | None, place: BlockPlace) -> AttachedFile | None:
    """Returns the file that an object embeds; None for what is no file, such as an equation of an old program."""
    if relation is None or relation.is_external:
        return None
    return file_of_object(package.read(relation.target), relation.target, place)


def file_of_object(data: bytes, name: str, place: BlockPlace) -> AttachedFile | None:
    """Returns the file that an object embeds; None if it embeds none."""
    if data.startswith(_READABLE):
        return AttachedFile(data, name, place)
    if not data.startswith(OLE):
        return None
    try:
        found = _unpacked(data, name)
    except (ImportError, OSError, IndexError, ValueError):  # olefile is an extra; damaged files raise any of the others
        return None
    return AttachedFile(found[0], found[1], place) if found is not None and found[0] else None


def _unpacked(data: bytes, name: str) -> tuple[bytes, str] | None:
    import olefile

    with cast(Any, olefile).OleFileIO(io.BytesIO(data)) as ole:
        for stream, ending in _OWN.items():
            if ole.exists(stream):
                return data, str(PurePosixPath(name).with_suffix(ending))
        streams = [path[0] for path in ole.listdir() if len(path) == 1]
        return packed_file(streams, lambda stream: ole.openstream(stream).read(), name)


def packed_file(streams: Collection[str], content: Callable[[str], bytes], name: str) -> tuple[bytes, str] | None:
    """Returns the file that the streams of an object are packed around, and its name; None if there is none."""
    for stream in _PACKED:
        if stream in streams and (inner := content(stream)).startswith(_READABLE):
            return inner, name
    return _native(content(_NATIVE), name) if _NATIVE in streams else None


def _native(data: bytes, name: str) -> tuple[bytes, str]:
    """Returns a file that the Packager put into an object, with its own name (MS-OLEDS 2.3.6, as programs write it)."""
    label, _, rest = data[6:].partition(b"\0")
    _, _, rest = rest.partition(b"\0")
    length = int.from_bytes(rest[4:8], "little")
    rest = rest[8 + length :]
    size = int.from_bytes(rest[:4], "little")
    own = label.decode("cp1252", "replace").replace("\\", "/").rpartition("/")[2]
    return rest[4 : 4 + size], own or name
