"""From what a user passes in `media=[...]` to a part of a message: looked at and hashed, not converted."""

from __future__ import annotations

import errno
import mimetypes
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, cast
from urllib.parse import urlsplit

from ..errors import InvalidInputError, MediaError
from ..ports import ListsEndings, MediaHandler
from ..schema import MEDIA_PARTS, AudioPart, Blob, DocumentPart, ImagePart, MediaKind, MediaPart, VideoPart
from ..schema.json_values import check_text
from ..schema.quoting import shortened, shown, shown_address
from .media_objects import Content, OpenFile, Picture, checked, is_picture, of_data_url, of_open_file, of_picture

MediaInput: TypeAlias = str | os.PathLike[str] | bytes | OpenFile | Picture | Blob | MediaPart
"""A path, an http(s) URL for the provider to fetch, a data URL, the bytes themselves, an open file, a picture of
Pillow, a blob, or a part made by hand."""

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A bigger file is refused: no provider takes one in a request, and a fallback would read it whole."""

_HEAD_BYTES = 8192
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_ARRAY_HINT = "Arrays have no file format: make a picture of one with PIL.Image.fromarray(array), or save it to a file."
_BASE64_HINT = "Is it base64? Write it as data:image/png;base64,..., or give the bytes: base64.b64decode(text)."
_PARTS: dict[MediaKind, type[MediaPart]] = {
    "text": DocumentPart,
    "document": DocumentPart,
    "image": ImagePart,
    "audio": AudioPart,
    "video": VideoPart,
}


def media_items(media: object) -> Sequence[MediaInput]:
    """What `media` holds, None being nothing; raises `InvalidInputError` for what is no list."""
    if media is None:
        return ()
    if isinstance(media, list | tuple):
        return cast("Sequence[MediaInput]", media)
    hint = None
    if isinstance(media, (str, os.PathLike, bytes, Blob, *MEDIA_PARTS)):
        hint = f"As in media=[{shown(media)}]."  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(media, OpenFile) or is_picture(media):
        hint = "Put it into a list: media=[...]."
    raise InvalidInputError(f"expected a list, got {type(media).__name__}", path="media", hint=hint)  # pyright: ignore[reportUnknownArgumentType]


def load_media(items: Sequence[MediaInput], handlers: Sequence[MediaHandler]) -> list[MediaPart]:
    """The parts for `items`. Reads files; raises `MediaError` for one that cannot be used, `InvalidInputError` for
    what is no file at all.
    """
    return [_load(item, f"media[{index}]", handlers) for index, item in enumerate(items)]


def _load(item: object, path: str, handlers: Sequence[MediaHandler]) -> MediaPart:
    if isinstance(item, MEDIA_PARTS):
        return item
    if isinstance(item, Blob):
        return _part(item, handlers)
    content = _content(item, path)
    if content is not None:
        name = content.name or ""
        media_type = content.media_type or _recognise(content.data[:_HEAD_BYTES], name, path, handlers)
        return _part(Blob.from_bytes(content.data, media_type, name=content.name), handlers)
    if isinstance(item, str) and item.lower().startswith(("http://", "https://")):
        return _part(_from_url(item), handlers)
    if isinstance(item, str) and _ADDRESS.match(item):
        scheme = item.partition(":")[0]
        raise MediaError(
            f"{shown(shown_address(item))}: nothing here fetches {scheme}: addresses.",
            source=path,
            hint="Providers fetch http:// and https://. For anything else pass the path of a file, or the bytes.",
        )
    if isinstance(item, str | os.PathLike):
        return _part(_from_file(os.fsdecode(cast(str, item)), handlers), handlers)
    raise InvalidInputError(
        f"expected a path, bytes, an open file, a picture, a Blob or a media part, got {type(item).__name__}",
        path=path,
        hint=_ARRAY_HINT if hasattr(item, "__array__") else None,
    )


def _content(item: object, path: str) -> Content | None:
    """The content of what holds it; None for what only says where it is."""
    if isinstance(item, bytes | bytearray | memoryview):
        try:
            return Content(checked(bytes(cast(bytes, item)), path, MAX_FILE_BYTES))
        except ValueError as error:  # of a memoryview
            raise MediaError(f"{path} cannot be read: {error}.", source=path) from None
    if isinstance(item, str) and item[:5].lower() == "data:":
        return of_data_url(item, path, MAX_FILE_BYTES)
    if isinstance(item, type):
        return None
    if is_picture(item):
        return of_picture(item, path, MAX_FILE_BYTES)
    return of_open_file(item, path, MAX_FILE_BYTES) if isinstance(item, OpenFile) else None


def _from_url(url: str) -> Blob:
    try:
        check_text(url)
        media_type = mimetypes.guess_type(urlsplit(url).path)[0]
    except ValueError:
        raise MediaError(f"{shown(shown_address(url))} is not an address.", source=shown_address(url)) from None
    if media_type is None:
        raise MediaError(
            f"{shown_address(url)} does not say what it is: its path has no known ending.",
            source=shown_address(url),
            hint="Download it, or pass a part with its type: ImagePart(Blob.from_url(url, 'image/png')).",
        )
    return Blob.from_url(url, media_type)


def _from_file(path: str, handlers: Sequence[MediaHandler]) -> Blob:
    name = os.path.basename(path) or path
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise MediaError(f"{path} is a directory.", source=name, hint="Pass the files in it one by one.")
        if not stat.S_ISREG(status.st_mode):
            raise MediaError(f"{path} is not a regular file.", source=name, hint="Copy its content to a file first.")
        if status.st_size == 0:
            raise MediaError(f"{path} is empty: there is nothing to send.", source=name)
        if status.st_size > MAX_FILE_BYTES:
            raise MediaError(
                f"{path} has {status.st_size:,} bytes; the limit is {MAX_FILE_BYTES:,}.",
                source=name,
                hint="Cut it into smaller files, or extract the part you need.",
            )
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
        return Blob.from_file(path, _recognise(head, name, path, handlers))
    except ValueError:
        raise MediaError(f"{path!r} is not a path.", source=name) from None
    except FileNotFoundError:
        looked = None if os.path.isabs(path) else f"Looked in {Path.cwd()}."
        raise MediaError(f"{path} does not exist.", source=name, hint=looked) from None
    except PermissionError:
        raise MediaError(f"{path} cannot be read: permission denied.", source=name, hint="Check its mode.") from None
    except OSError as error:
        hint = _BASE64_HINT if error.errno == errno.ENAMETOOLONG else None
        problem = f"{shortened(path, 200)} cannot be read: {error.strerror or error}."
        raise MediaError(problem, source=name, hint=hint) from None


def _recognise(head: bytes, name: str, path: str, handlers: Sequence[MediaHandler]) -> str:
    for handler in handlers:
        media_type = handler.recognise(head, name)
        if media_type is not None:
            return media_type
    files = "; ".join(map(_files_of, handlers)) or "none: is a media plugin installed?"
    raise MediaError(
        f"{path} is of a kind that nothing installed here reads.",
        source=name or path,
        hint=f"Files that are read: {files}. Convert it to one of them; if it is text, save it as UTF-8.",
    )


def _files_of(handler: MediaHandler) -> str:
    """A handler's files, for people."""
    endings = handler.endings if isinstance(handler, ListsEndings) else ()
    return f"{handler.name} ({', '.join(endings)})" if endings else handler.name


def _part(blob: Blob, handlers: Sequence[MediaHandler]) -> MediaPart:
    for part_type in dict.fromkeys(_PARTS.values()):
        part = part_type(blob)
        handler = next((handler for handler in handlers if handler.handles(part)), None)
        if handler is not None and _PARTS[handler.kind] is part_type:
            return part
    top = blob.media_type.partition("/")[0]
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return _PARTS[kinds.get(top, "document")](blob)
