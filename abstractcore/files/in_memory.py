"""Content in memory: open files and data URLs."""

from __future__ import annotations

import base64
import inspect
import re
from typing import Any, Protocol, cast, runtime_checkable
from urllib.parse import unquote_to_bytes

from ..errors import AbstractCoreError, InvalidInputError, MediaError, MissingExtraError
from ..pillow_images import Content, checked, file_name, too_long
from ..schema.base_error import install_hint

_CHUNK_BYTES = 1 << 20
_CHARSET = re.compile(r"(?:^|;)\s*charset=\"?([^\s;\"]+)", re.IGNORECASE)


@runtime_checkable
class OpenFile(Protocol):
    """A file opened for reading, `io.BytesIO`, or anything else with `read(size)`."""

    def read(self, size: int = ..., /) -> bytes | str:
        """Returns up to `size` bytes; empty at the end."""
        ...


@runtime_checkable
class PixelArray(Protocol):
    """A NumPy array, or any other object with its interface:
    https://numpy.org/doc/stable/reference/arrays.interface.html.
    """

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Shape, type and memory of the array."""
        ...


def of_pixels(array: PixelArray, path: str) -> object:
    """Returns a Pillow image of an array of bytes: grey (height, width), or (height, width, 3 or 4) in RGB or RGBA.

    Raises `InvalidInputError` for an array of another form, `MissingExtraError` without Pillow.
    """
    try:
        from PIL import Image
    except ImportError as error:
        message = "Sending arrays as images needs Pillow."
        raise MissingExtraError(message, hint=install_hint("pillow", extra="images")) from error
    interface = array.__array_interface__
    shape, kind = tuple(interface["shape"]), str(interface["typestr"])
    is_image = len(shape) in (2, 3) and shape[2:] in ((), (3,), (4,)) and 0 not in shape
    is_mask = kind == "|b1" and len(shape) == 2
    if not is_image or not (kind == "|u1" or is_mask):
        raise InvalidInputError(
            f"an array of type {kind} with the shape {shape} is not an image",
            path=path,
            hint="Images are uint8 arrays of the shape (height, width), (height, width, 3) or (height, width, 4); "
            "scale others: (array * 255).astype('uint8'). Save other data to a file.",
        )
    return Image.fromarray(cast(Any, array))


def of_open_file(file: OpenFile, path: str, limit: int) -> Content:
    """Returns the rest of a file, whose position is restored if possible. Text is encoded as UTF-8.

    Raises `MediaError` for a file that cannot be read, has nothing left, or more than `limit` bytes.
    """
    name = getattr(file, "name", None)
    name = file_name(name) if isinstance(name, str) else None
    try:
        position = _position(file)
        data = _read(file, path, limit)
        if position is not None:
            cast(Any, file).seek(position)
    except UnicodeDecodeError:
        hint = "Open it in binary mode: open(path, 'rb')."
        raise MediaError(f"{path} is not text, but was opened in text mode.", source=name or path, hint=hint) from None
    except AbstractCoreError:
        raise
    except Exception as error:  # files of other libraries may raise any exception
        hint = "Make the call while the file is open." if getattr(file, "closed", False) else None
        reason = str(error).rstrip(".") or type(error).__name__
        raise MediaError(f"{path} cannot be read: {reason}.", source=name or path, hint=hint) from None
    if not data:
        hint = "It has been read already: rewind it with file.seek(0)." if position else None
        raise MediaError(f"{path} is empty: there is nothing to send.", source=name or path, hint=hint)
    return Content(data, None, name)


def _position(file: object) -> int | None:
    """Returns the position of a file; None if it is not seekable."""
    given = cast(Any, file)
    try:
        return given.tell() if given.seekable() else None
    except Exception:  # a file that is not seekable is still read
        return None


def _read(file: OpenFile, path: str, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        piece: object = file.read(_CHUNK_BYTES)
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "replace")
        if not isinstance(piece, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _not_bytes_error(piece, path)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise too_long(size, path, limit)


def _not_bytes_error(piece: object, path: str) -> InvalidInputError:
    if inspect.iscoroutine(piece):
        piece.close()
        return InvalidInputError("async files are not supported", path=path, hint="Pass its bytes: await file.read().")
    return InvalidInputError(f"read() of the file returned {type(piece).__name__}, expected bytes", path=path)


def of_data_url(url: str, path: str, limit: int) -> Content:
    """Returns the content of a data URL (RFC 2397), in base64 or percent-encoded; raises `MediaError` if invalid."""
    header, comma, text = url[len("data:") :].partition(",")
    media_type, _, encoding = header.rpartition(";")
    try:
        if not comma:
            raise ValueError("it has no comma")
        if encoding.strip().lower() == "base64":
            data = base64.b64decode(unquote_to_bytes(text), validate=True)
        else:
            media_type, data = header, unquote_to_bytes(text)
    except ValueError as error:
        hint = "For example: data:image/png;base64,iVBORw0..."
        raise MediaError(f"{path} is not a valid data URL: {error}.", source=path, hint=hint) from None
    media_type, _, parameters = media_type.partition(";")
    media_type = media_type.strip()
    if media_type.lower().startswith("text/"):
        data = _as_utf8(data, parameters, path)
    return Content(checked(data, path, limit), media_type if "/" in media_type else None)


def _as_utf8(data: bytes, parameters: str, path: str) -> bytes:
    """Returns text in the charset of `parameters` as UTF-8; raises `MediaError` if it cannot be decoded."""
    charset = _CHARSET.search(parameters)
    if charset is None:
        return data
    try:
        return data.decode(charset[1]).encode()
    except (LookupError, UnicodeError):
        hint = "Give its actual charset, or encode it as UTF-8: data:text/plain;charset=utf-8,..."
        raise MediaError(f"{path} is not text in the charset {charset[1]!r}.", source=path, hint=hint) from None
