"""OLE files of one stream (MS-CFB, version 3)."""

from __future__ import annotations

import struct

_SECTOR = 512
_END, _FAT, _FREE = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


def ole_file(stream: str, data: bytes) -> bytes:
    """Returns an OLE file with a stream; one under 4,096 bytes is filled up, since smaller ones are kept elsewhere."""
    data = data.ljust(4096, b"\0")
    sectors = -(-len(data) // _SECTOR)
    tables = -(-(sectors + 2) // (_SECTOR // 4 - 1))
    chain = [*range(1, sectors), _END, _END, *[_FAT] * tables]
    fat = b"".join(struct.pack("<I", each) for each in chain).ljust(tables * _SECTOR, b"\xff")
    folder = _entry("Root Entry", 5, child=1, start=_END) + _entry(stream, 2, start=0, size=len(data))
    first = sectors + 1
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII", bytes.fromhex("d0cf11e0a1b11ae1"), 0x3E, 3, 0xFFFE, 9, 6,
        0, tables, sectors, 0, 4096, _END, 0, _END, 0,
    )  # fmt: skip
    header += b"".join(struct.pack("<I", first + each) for each in range(tables)).ljust(109 * 4, b"\xff")
    return header + data.ljust(sectors * _SECTOR, b"\0") + folder.ljust(_SECTOR, b"\0") + fat


def _entry(name: str, kind: int, *, child: int = _FREE, start: int, size: int = 0) -> bytes:
    text = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16x4x16xIII", text, len(text) + 2, kind, 1, _FREE, _FREE, child, start, size, 0
    )  # fmt: skip
