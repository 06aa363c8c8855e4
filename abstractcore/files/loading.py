"""`File`, and the items of `media=[...]` loaded as parts: their type is detected and their hash computed; nothing is
converted.
"""

from __future__ import annotations

import errno
import mimetypes
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable
from urllib.parse import urlsplit

from ..errors import InvalidInputError, MediaError, MissingExtraError
from ..pillow_images import Content, PillowImage, checked, from_pillow, is_picture
from ..ports import Fetcher, HasExtensions, MediaHandler, Recognised
from ..registry.suggestions import missing_path_hint
from ..schema import (
    MEDIA_PART_BY_KIND,
    MEDIA_PARTS,
    Blob,
    FetchedBy,
    ImagePart,
    MediaControls,
    MediaPart,
    MediaResolution,
    SchemaError,
    media_kind_of,
)
from ..schema.base_error import shortened, shown, shown_address
from ..schema.json_values import check_text
from ..schema.parts import Detail
from ..schema.reprs import RichDisplay, short_repr
from .in_memory import OpenFile, PixelArray, of_data_url, of_open_file, of_pixels

_KINDS = {
    "pages": ("document", "image"),
    "start": ("audio", "video"),
    "end": ("audio", "video"),
    "fps": ("video",),
    "resolution": ("image", "video", "document"),
}
"""The kinds of files that have a control."""
MAX_FILE_BYTES = 256 * 1024 * 1024
"""Larger files are refused: no provider accepts one in a request, and a fallback would read it into memory."""
MAX_RECORDING_BYTES = 16 * 1024 * 1024 * 1024
"""The limit for recordings in files: their fallbacks read them in pieces."""
_HEAD_BYTES = 8192
_TOKEN = r"[!#$%&'*+.^_`|~0-9a-z-]++"
_MEDIA_TYPE = re.compile(
    rf'{_TOKEN}/{_TOKEN}(?:[ \t]*+;[ \t]*+(?:{_TOKEN}=(?:{_TOKEN}|"(?:[^"\\]|\\.)*+"))?)*+', re.IGNORECASE
)
"""A media type of RFC 9110, 8.3.1; "image/*" is a type of which only the kind is known."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_BASE64_HINT = "If it is base64, pass data:image/png;base64,..., or the bytes: base64.b64decode(text)."


@dataclass(frozen=True, slots=True)
class File(RichDisplay):
    """A file for `media=[...]`, with how it is to be read: `File("report.pdf", pages="1-3,7")`.

    `source` is any other item of `media`. `name` and `media_type` take the place of those that are detected. `pages`
    are numbers and ranges from 1: pages, slides, or frames of an image. `start` and `end` are seconds in a recording,
    `fps` is the number of frames a second of a video. `detail` is how closely a model should look at an image, and
    `resolution` how many tokens it spends on images, pages and frames; vendors have the one or the other. `fetch` says
    who downloads a URL, this program ("us") or the provider ("vendor"); by default the provider if it gets the file
    itself. What nothing follows on the way of a file is a warning. `password` opens an encrypted document; it stays in
    this program, and the LLM keeps it for further calls with the file.
    """

    source: MediaInput
    password: str | None = field(default=None, repr=False)
    pages: str | None = None
    start: float | None = None
    end: float | None = None
    fps: float | None = None
    detail: Detail | None = None
    resolution: MediaResolution | None = None
    fetch: FetchedBy | None = None
    name: str | None = None
    media_type: str | None = None

    def __display__(self) -> Iterator[object]:
        """Yields what is in memory already, and how it is to be read: no file is opened."""
        from ..schema.displays import DisplayTable

        if isinstance(self.source, RichDisplay):
            yield self.source
        yield DisplayTable([self._given() | {"password": None if self.password is None else "***"}])

    def __repr__(self) -> str:
        given = [f"{name}={short_repr(value)}" for name, value in self._given().items() if value is not None]
        return f"File({', '.join(given)})"

    def _given(self) -> dict[str, object]:
        """Returns its fields without secrets: neither the password nor what a URL may hold."""
        given: dict[str, object] = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}
        return given | {"source": shown_address(self.source) if isinstance(self.source, str) else self.source}

    def apply(self, part: MediaPart, path: str) -> MediaPart:
        """Returns the part of the source with the controls; raises `InvalidInputError` for a control that files of its
        kind do not have.
        """
        changes: dict[str, Any] = {}
        try:
            controls = MediaControls(self.pages, self.start, self.end, self.fps, self.resolution, self.fetch)
            for name in controls.names:
                if name in _KINDS and part.type not in _KINDS[name]:
                    what = " and ".join(_KINDS[name])
                    raise SchemaError(f"is a control of {what} files, and this one is {part.type}", name)
            if controls.names:
                changes["controls"] = controls
            if self.detail is not None:
                if not isinstance(part, ImagePart):
                    raise SchemaError(f"is a control of image files, and this one is {part.type}", "detail")
                changes["detail"] = self.detail
            if self.name is not None:
                changes["blob"] = replace(part.blob, name=self.name)
            return replace(part, **changes) if changes else part
        except SchemaError as error:
            raise InvalidInputError(error.message, path=f"{path}.{error.path}", hint=error.hint) from None


@runtime_checkable
class MediaSource(Protocol):
    """An object that is sent as a file, such as a hit of a search."""

    def media_part(self) -> MediaPart:
        """Returns it as a media part."""
        ...


MediaInput: TypeAlias = (
    str | os.PathLike[str] | bytes | OpenFile | PillowImage | PixelArray | Blob | MediaPart | MediaSource | File
)
"""A path, an http(s) URL, a data URL, bytes, an open file, a Pillow image, a NumPy array of
pixels, a blob, a media part, a hit of a search, or a `File` with one of these."""
_FILES = (str, os.PathLike, bytes, bytearray, memoryview, OpenFile, PixelArray, Blob, MediaSource, File, *MEDIA_PARTS)
"""The types of `MediaInput` but Pillow's, which is imported by those that have a picture."""


def media_items(media: object) -> Sequence[MediaInput]:
    """Returns the items of `media`, a list of files or a single one; raises `InvalidInputError` for anything else."""
    if isinstance(media, list | tuple):
        return cast("Sequence[MediaInput]", media)
    if isinstance(media, _FILES) or is_picture(media):
        return (cast("MediaInput", media),)
    if isinstance(media, Sequence):
        return tuple(cast("Sequence[MediaInput]", media))
    what = type(media).__name__
    hint = "For example: media='report.pdf', or media=['report.pdf', picture]."
    raise InvalidInputError(f"expected a file or a list of files, got {what}", path="media", hint=hint)


@dataclass(frozen=True, slots=True)
class MediaLoader:
    """Loads the items of `media`: reads files, and downloads what has no type otherwise; blocks.

    `keep_password` is called with the hash of a file and its password.
    """

    handlers: Sequence[MediaHandler]
    fetcher: Fetcher
    keep_password: Callable[[str, str], None]

    def load(self, items: Sequence[MediaInput]) -> list[MediaPart]:
        """Returns the parts for `items`; raises `MediaError` for an unusable file, `InvalidInputError` for a value that
        is not a file.
        """
        return [self.load_one(item, f"media[{index}]") for index, item in enumerate(items)]

    def load_one(self, item: object, path: str) -> MediaPart:
        """Returns the part of the item that errors call `path`."""
        if not isinstance(item, File):
            return self._load(item, path)
        source: object = item.source
        if isinstance(source, File):
            hint = "Pass one File with all its options."
            raise InvalidInputError("a File in a File", path=f"{path}.source", hint=hint)
        if item.media_type is not None:
            loaded = self._of_type(source, item.media_type, path)
        else:
            named = item.name if isinstance(item.name, str) and os.path.splitext(item.name)[1] else None
            loaded = self._load(source, f"{path}.source", may_fetch=item.fetch != "vendor", named=named)
        part = item.apply(loaded, path)
        if item.password is not None:
            if part.blob.sha256 is None:
                hint = "Download it, and pass the path of the file."
                raise InvalidInputError("is for a file that is at hand", path=f"{path}.password", hint=hint)
            self.keep_password(part.blob.sha256, item.password)
        return part

    def _load(self, item: object, path: str, *, may_fetch: bool = True, named: str | None = None) -> MediaPart:
        """Returns the part for an item; `named` is a name that says more about its type than its own."""
        if isinstance(item, MEDIA_PARTS):
            return item
        if isinstance(item, MediaSource):
            return item.media_part()
        if isinstance(item, Blob):
            return _of_declared_type(item, self.handlers)
        content = _content(item, path)
        if content is not None:
            return _from_content(content, path, self.handlers, named)
        if isinstance(item, str) and item.lower().startswith(("http://", "https://")):
            return self._of_url(item, may_fetch, named)
        if isinstance(item, str | os.PathLike):
            return _from_file(_checked_path(cast(str, item), path), self.handlers, named=named)
        raise InvalidInputError(
            f"expected a path, bytes, an open file, an image, a Blob, a part or a File, got {type(item).__name__}",
            path=path,
        )

    def _of_type(self, source: object, media_type: object, path: str) -> MediaPart:
        """Returns the part for a source of the type that the user gave."""
        if not isinstance(media_type, str) or not _MEDIA_TYPE.fullmatch(media_type.strip()):
            hint = "For example: image/png, or text/plain;charset=utf-8."
            raise InvalidInputError(f"{shown(media_type)} is not a media type", path=f"{path}.media_type", hint=hint)
        try:
            content = _content(source, f"{path}.source")
            if content is not None:
                blob = Blob.from_bytes(content.data, media_type, name=content.name)
            elif isinstance(source, str) and source.lower().startswith(("http://", "https://")):
                blob = Blob.from_url(source, media_type)
            elif isinstance(source, str | os.PathLike):
                declared = Blob.from_bytes(b"", media_type).media_type
                return _from_file(_checked_path(cast(str, source), f"{path}.source"), self.handlers, declared)
            else:
                raise InvalidInputError("is for a path, a URL or content in memory", path=f"{path}.media_type")
        except SchemaError as error:
            raise InvalidInputError(error.message, path=f"{path}.{error.path}", hint=error.hint) from None
        return _of_declared_type(blob, self.handlers)

    def _of_url(self, url: str, may_fetch: bool, named: str | None) -> MediaPart:
        """Returns the part of a URL; one whose path does not tell the type is downloaded."""
        media_type = _type_of_url(url) or mimetypes.guess_type(named or "")[0]
        if media_type is not None:
            return _of_declared_type(Blob.from_url(url, media_type), self.handlers)
        if not may_fetch:
            raise MediaError(
                f"{shown_address(url)} has an unknown media type: its path has no known file extension.",
                source=shown_address(url),
                hint="Pass its type: File(url, media_type='image/png', fetch='vendor').",
            )
        file = self.fetcher.fetch(url)
        found = _first_recognised(file.data[:_HEAD_BYTES], file.name or "", None, self.handlers)
        if found is None and file.media_type is not None and "/" in file.media_type:
            return _of_declared_type(Blob.from_bytes(file.data, file.media_type, name=file.name), self.handlers)
        return _from_content(Content(file.data, None, file.name), shown_address(url), self.handlers)


def _checked_path(item: str | os.PathLike[str], path: str) -> str:
    """Returns a path as text; raises `MediaError` for a URL with a scheme that is not downloaded here."""
    if isinstance(item, str) and _ADDRESS.match(item):
        scheme = item.partition(":")[0]
        raise MediaError(
            f"{shown(shown_address(item))}: URLs with the scheme {scheme}: are not supported.",
            source=path,
            hint="http:// and https:// URLs are. For others, pass the path of a file, or its bytes.",
        )
    return os.fsdecode(item)


def _content(item: object, path: str) -> Content | None:
    """Returns the content of an item, or None for a path or URL."""
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
        return from_pillow(item, path, MAX_FILE_BYTES)
    if isinstance(item, PixelArray):
        return from_pillow(of_pixels(item, path), path, MAX_FILE_BYTES)
    return of_open_file(item, path, MAX_FILE_BYTES) if isinstance(item, OpenFile) else None


def _from_content(content: Content, path: str, handlers: Sequence[MediaHandler], named: str | None = None) -> MediaPart:
    if content.media_type is not None:
        return _of_declared_type(Blob.from_bytes(content.data, content.media_type, name=content.name), handlers)
    found = _recognise(content.data[:_HEAD_BYTES], named or content.name or "", content.name or path, handlers)
    return MEDIA_PART_BY_KIND[found.kind](Blob.from_bytes(content.data, found.media_type, name=content.name))


def _type_of_url(url: str) -> str | None:
    try:
        check_text(url)
        return mimetypes.guess_type(urlsplit(url).path)[0]
    except ValueError:
        raise MediaError(f"{shown(shown_address(url))} is not a valid URL.", source=shown_address(url)) from None


def _from_file(
    path: str, handlers: Sequence[MediaHandler], declared: str | None = None, *, named: str | None = None
) -> MediaPart:
    """Returns the part of a file, of the type that is `declared`, else of the one that is recognised by content and
    name, which may be another one than that of the file.
    """
    name = os.path.basename(path) or path
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise MediaError(f"{path} is a directory.", source=name, hint="Pass its files one by one.")
        if not stat.S_ISREG(status.st_mode):
            raise MediaError(f"{path} is not a regular file.", source=name, hint="Copy its content to a file first.")
        if status.st_size == 0:
            raise MediaError(f"{path} is empty: there is nothing to send.", source=name)
        if declared is None:
            with open(path, "rb") as file:
                head = file.read(_HEAD_BYTES)
            found = _recognise(head, named or name, path, handlers)
        else:
            found = _declared_type(name, declared, handlers)
        limit = MAX_RECORDING_BYTES if found.kind in ("audio", "video") else MAX_FILE_BYTES
        if status.st_size > limit:
            raise MediaError(
                f"{path} has {status.st_size:,} bytes; the limit is {limit:,}.",
                source=name,
                hint="Split it into smaller files, or extract the part you need.",
            )
        return MEDIA_PART_BY_KIND[found.kind](Blob.from_file(path, found.media_type))
    except ValueError:
        raise MediaError(f"{path!r} is not a valid path.", source=name) from None
    except FileNotFoundError:
        raise MediaError(f"{path} does not exist.", source=name, hint=missing_path_hint(path)) from None
    except PermissionError:
        raise MediaError(
            f"{path} cannot be read: permission denied.", source=name, hint="Check its permissions."
        ) from None
    except OSError as error:
        hint = _BASE64_HINT if error.errno == errno.ENAMETOOLONG else None
        problem = f"{shortened(path, 200)} cannot be read: {error.strerror or error}."
        raise MediaError(problem, source=name, hint=hint) from None


_OTHER_ARCHIVES = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "RAR"}


def _recognise(head: bytes, name: str, path: str, handlers: Sequence[MediaHandler]) -> Recognised:
    """Returns the type of a file by content and name, from the first handler that recognises it."""
    found = _first_recognised(head, name, None, handlers)
    if found is not None:
        return found
    packing = next((kind for magic, kind in _OTHER_ARCHIVES.items() if head.startswith(magic)), None)
    if packing is not None:
        raise MediaError(
            f"{path} is a {packing} archive, which is not read here.",
            source=name or path,
            hint="Unpack it, and pass the files in it, or pack them as ZIP.",
        )
    files = "; ".join(map(_files_of, handlers)) or "none: is a media plugin installed?"
    raise MediaError(
        f"{path} has an unsupported file type.",
        source=name or path,
        hint=f"Supported file types: {files}. Convert it to one of them; if it is text, save it as UTF-8.",
    )


def _files_of(handler: MediaHandler) -> str:
    """Returns the file types of a handler, for messages."""
    extensions = handler.extensions if isinstance(handler, HasExtensions) else ()
    return f"{handler.name} ({', '.join(extensions)})" if extensions else handler.name


def _of_declared_type(blob: Blob, handlers: Sequence[MediaHandler]) -> MediaPart:
    """Returns the part for content with a declared media type, which is not read."""
    return MEDIA_PART_BY_KIND[_declared_type(blob.name or "", blob.media_type, handlers).kind](blob)


def _declared_type(name: str, media_type: str, handlers: Sequence[MediaHandler]) -> Recognised:
    """Returns a declared media type with its kind; it is the one that is sent."""
    found = _first_recognised(b"", name, media_type, handlers)
    return Recognised(found.kind if found is not None else media_kind_of(media_type), media_type)


def _first_recognised(
    head: bytes, name: str, declared: str | None, handlers: Sequence[MediaHandler]
) -> Recognised | None:
    """Returns the result of the first handler that recognises a file.

    If none does, and one lacks a package to decide it, its `MissingExtraError` is raised.
    """
    missing: MissingExtraError | None = None
    for handler in handlers:
        try:
            found = handler.recognise(head, name, declared)
        except MissingExtraError as error:
            missing = missing or error
            continue
        if found is not None:
            return found
    if missing is not None:
        raise missing
    return None
