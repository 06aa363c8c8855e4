"""Bodies of type multipart/form-data (RFC 7578), written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from abstractcore.ports import FileToUpload
from abstractcore.schema import WireRequest

_LINE = b"\r\n"


def multipart(
    path: str,
    fields: Iterable[tuple[str, str]],
    field: str,
    file: FileToUpload,
    data: bytes,
    headers: Mapping[str, str] | None = None,
) -> WireRequest:
    """Returns the request that posts `fields`, whose names may occur several times, then `data` of `file` as the field
    `field`. The boundary is the hash of the file, so that the same upload is the same request.
    """
    boundary = f"abstractcore-{file.sha256}".encode()
    pieces: list[bytes] = []
    for name, value in fields:
        pieces += [b"--", boundary, _LINE, _disposition(name), _LINE, _LINE, value.encode(), _LINE]
    named = b'; filename="' + _escaped(file.name or "file") + b'"'
    kind = b"Content-Type: " + file.media_type.encode("ascii", "replace")
    pieces += [b"--", boundary, _LINE, _disposition(field), named, _LINE, kind, _LINE, _LINE, data, _LINE]
    pieces += [b"--", boundary, b"--", _LINE]
    content_type = {"content-type": f"multipart/form-data; boundary={boundary.decode()}"}
    return WireRequest(path, {**(headers or {}), **content_type}, b"".join(pieces))


def _disposition(name: str) -> bytes:
    return b'Content-Disposition: form-data; name="' + _escaped(name) + b'"'


def _escaped(name: str) -> bytes:
    """Returns a name as browsers write it (https://html.spec.whatwg.org/#multipart-form-data)."""
    for character in '\n\r"':
        name = name.replace(character, f"%{ord(character):02X}")
    return name.encode("utf-8", "replace")
