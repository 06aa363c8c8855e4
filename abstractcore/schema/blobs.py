"""`Blob`: binary content in memory, in a file, at a URL, at a provider or in an artifact store.

Hashes of files that were computed before: kept by device, inode, size and times of the last change. `Savable`: media
parts whose content can be written to a file.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Literal, TypeAlias, get_args

from .base_error import SchemaError, install_hint, one_line, shortened, shown, shown_address
from .json_values import check_choice, check_class, check_count, check_text
from .reprs import Immutable, RichDisplay

if TYPE_CHECKING:
    from PIL.Image import Image

_QUIET_SECONDS = 2.0
"""A file that changed less long ago may change again within one tick of its file system's clock (FAT has 2 seconds)."""
_MOST_FILES = 4096

Stamp: TypeAlias = tuple[int, int, int, int, int]


def stamp_of(descriptor: int) -> Stamp:
    """Returns the fields of `stat` that change with the content of an open file; the time of the change of its status
    cannot be set.
    """
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def known_hash(stamp: Stamp) -> str | None:
    """Returns the hash of the content of a file with this stamp, if it was kept."""
    return _known.get(stamp)


def keep_hash(stamp: Stamp, sha256: str, *, read_at: float) -> None:
    """Keeps the hash of a file that was read from `read_at` on, in `time.time()`, and has the same stamp after it.

    Does nothing for a file that had just changed.
    """
    if max(stamp[-2:]) / 1e9 > read_at - _QUIET_SECONDS:
        return
    if len(_known) >= _MOST_FILES:
        with suppress(KeyError, RuntimeError, StopIteration):  # another thread does the same
            del _known[next(iter(_known))]
    _known[stamp] = sha256


_known: dict[Stamp, str] = {}


BlobForm = Literal["bytes", "file", "url", "provider_file", "artifact"]
_FORMS = get_args(BlobForm)
_HASH_CHUNK = 1 << 20
_SHA256 = re.compile("[0-9a-f]{64}")
_ELSEWHERE = {
    "url": "Download it from the URL in blob.location; URLs of providers often expire within the hour.",
    "provider_file": "Download it with the provider's own client, by the id in blob.location.",
    "artifact": "Read it from the artifact store: services.artifacts.get(blob.sha256).",
}
"""Where content is that a blob only names."""
_REGISTERED = {
    "audio/mp3": "audio/mpeg",
    "audio/vnd.wave": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "image/jpg": "image/jpeg",
}
"""Aliases of media types, with the registered type of each."""


class ChangedFileError(SchemaError):
    """A file is not the one that was hashed."""


@dataclass(frozen=True, slots=True, eq=False)
class Blob(Immutable, RichDisplay):
    """Binary content in one of five forms; make it with the `from_...` constructors.

    `media_type` is an IANA type such as `audio/wav`, in lower case; aliases are replaced. `name` is the file's own
    name, if it has one, for labels only. `size` is in bytes and `sha256` in lower-case hex; both are known for bytes,
    files and artifacts. Two blobs are equal when type and hash are; without a hash, when they have the same location.
    """

    form: BlobForm
    """Where the content is: in memory, in a file, at a URL, at a provider, or in the artifact store."""
    media_type: str
    data: bytes | None = None
    location: str | None = None
    """The file's path, the URL, or the provider's file id."""
    provider: str | None = None
    sha256: str | None = None
    size: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_choice(self.form, _FORMS, "form")
        for name in ("location", "provider", "sha256", "name"):
            value = getattr(self, name)
            if value is not None:
                check_class(value, str, name)
                if (self.form, name) != ("file", "location"):
                    check_text(value, name)
        if (self.data is None) == (self.form == "bytes"):
            raise SchemaError(
                f"a blob of form {self.form!r} {'needs' if self.form == 'bytes' else 'has no'} data", "data"
            )
        if self.form in ("file", "url", "provider_file") and not self.location:
            raise SchemaError(f"a blob of form {self.form!r} needs a location", "location")
        if self.form == "provider_file" and not self.provider:
            raise SchemaError("a provider's file needs the provider's name", "provider")
        if self.form in ("file", "artifact") and not self.sha256:
            raise SchemaError(f"a blob of form {self.form!r} needs its sha256", "sha256")
        if self.form == "url" and self.location and self.location[:5].lower() == "data:":
            raise SchemaError("a data: URL is not supported here: use Blob.from_bytes", "location")
        self._check_content()
        media_type = check_text(self.media_type, "media_type").strip().lower()
        object.__setattr__(self, "media_type", _REGISTERED.get(media_type, media_type))
        object.__setattr__(self, "name", self.name or None)

    def _check_content(self) -> None:
        """Sets hash and size of bytes, or compares them if given; checks their format for the other forms."""
        if self.size is not None:
            check_count(self.size, "size")
        if self.data is not None:
            if not isinstance(self.data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise SchemaError(f"expected bytes, got {type(self.data).__name__}", "data")
            data = bytes(self.data)
            found = hashlib.sha256(data).hexdigest()
            if self.sha256 not in (None, found):
                raise SchemaError("does not match the hash of the data", "sha256")
            if self.size not in (None, len(data)):
                raise SchemaError("does not match the length of the data", "size")
            for name, value in (("data", data), ("sha256", found), ("size", len(data))):
                object.__setattr__(self, name, value)
        elif self.sha256 is not None and not _SHA256.fullmatch(self.sha256):
            raise SchemaError("expected 64 lower-case hex digits", "sha256")

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str, *, name: str | None = None) -> Blob:
        """Returns a blob of content in memory."""
        return cls("bytes", media_type, data=data, name=name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], media_type: str) -> Blob:
        """Returns a blob of a file, which is read to compute its hash, unless that is known and it has not changed
        since. Raises `OSError` as `open` does. Raises `SchemaError` for what is not a path.
        """
        if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a path, got {type(path).__name__}", "path")
        with _open_file(path) as file:
            sha256, size = _hash_and_size(file)
        location = str(Path(path).absolute())
        name = os.path.basename(location).encode("utf-8", "replace").decode("utf-8")
        return cls("file", media_type, location=location, sha256=sha256, size=size, name=name)

    @classmethod
    def from_url(cls, url: str, media_type: str, *, name: str | None = None) -> Blob:
        """Returns a blob of content that the provider downloads.

        `url` is an http or https URL, which nothing is loaded from here.
        """
        return cls("url", media_type, location=url, name=name)

    @classmethod
    def from_provider_file(cls, provider: str, file_id: str, media_type: str, *, name: str | None = None) -> Blob:
        """Returns a blob of a file that was uploaded to `provider` and has the id `file_id`."""
        return cls("provider_file", media_type, location=file_id, provider=provider, name=name)

    @classmethod
    def from_artifact(cls, sha256: str, media_type: str, size: int, *, name: str | None = None) -> Blob:
        """Returns a blob of content that an `ArtifactStore` holds under its hash; `size` is in bytes."""
        return cls("artifact", media_type, sha256=sha256, size=size, name=name)

    def read(self) -> bytes:
        """Returns the content of a blob of form `bytes` or `file`.

        Raises `SchemaError` for the other forms, and if the file has changed since it was hashed.
        """
        if self.data is not None:
            return self.data
        if self.form != "file" or self.location is None:
            raise SchemaError(
                f"the content of a blob of form {self.form!r} cannot be read here", hint=_ELSEWHERE[self.form]
            )
        with open(self.location, "rb") as file:
            before = stamp_of(file.fileno())
            data = file.read()
            is_same = known_hash(before) == self.sha256 and stamp_of(file.fileno()) == before
        if not is_same and hashlib.sha256(data).hexdigest() != self.sha256:
            raise self._changed_error()
        return data

    def check_unchanged(self) -> None:
        """Raises `SchemaError` if a file has changed since it was hashed. It is read for that, in pieces, unless its
        hash is known and it has not changed since. Raises `OSError` as `open` does.
        """
        if self.form == "file" and self.location is not None:
            with _open_file(self.location) as file:
                found, _ = _hash_and_size(file)
            if found != self.sha256:
                raise self._changed_error()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blob) and self.identity() == other.identity()

    def __hash__(self) -> int:
        return hash(tuple(self.identity().values()))

    def __repr__(self) -> str:
        what = self.location or (self.sha256 or "")[:12]
        if self.form == "url":
            what = shown_address(what)
        size = "" if self.size is None else f", {self.size:,} bytes"
        return f"Blob({self.form}, {one_line(self.media_type)}, {one_line(what)}{size})"

    def __display__(self) -> tuple[object, ...]:
        from .displays import DisplayedFile

        return (DisplayedFile(self),)

    def identity(self) -> dict[str, str | None]:
        """Returns the fields that make two blobs equal, for hashes and digests."""
        if self.sha256 is not None:
            return {"media_type": self.media_type, "sha256": self.sha256}
        return {"form": self.form, "provider": self.provider, "location": self.location}

    def _changed_error(self) -> ChangedFileError:
        return ChangedFileError(f"{self.location} has changed since it was added to the call")


def _hash_and_size(file: BinaryIO) -> tuple[str, int]:
    before, read_at = stamp_of(file.fileno()), time.time()
    known = known_hash(before)
    if known is not None:
        return known, before[2]
    hasher, size = hashlib.sha256(), 0
    while chunk := file.read(_HASH_CHUNK):
        hasher.update(chunk)
        size += len(chunk)
    if stamp_of(file.fileno()) == before and size == before[2]:  # not a pipe, nor a file that grows
        keep_hash(before, hasher.hexdigest(), read_at=read_at)
    return hasher.hexdigest(), size


def _open_file(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, shortened(str(path), 200)) from None
    except ValueError:
        raise SchemaError(f"{shown(path)} is not a path", "path") from None


_ENDINGS = {
    "application/vnd.recordare.musicxml+xml": "musicxml",
    "audio/midi": "mid",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "text/markdown": "md",
    "text/plain": "txt",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/x-msvideo": "avi",
}
"""Of media types whose subtype is not how their files end."""


class Savable(RichDisplay):
    """Base class of media parts, which have a `blob` and a `type`."""

    __slots__ = ()
    if TYPE_CHECKING:
        type: ClassVar[str]
        blob: Blob

    def __display__(self) -> tuple[object, ...]:
        return (self.blob,)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the content to a file, and returns its path. A file that exists is overwritten.

        In a folder, the file gets a name of its own: that of the content or its kind, with the beginning of its hash,
        as in `image-0f1e2d3c.png`. Raises `SchemaError` for content that is elsewhere, and `OSError` as
        `open` does: a file that was there is unchanged then.
        """
        content = self.blob.read()
        target = Path(path)
        if target.is_dir():
            target /= _file_name(self.blob, self.type)
        write_whole(target, content)
        return target


def write_whole(target: Path, content: bytes) -> None:
    """Writes a file that is either complete or not there, also on a full disk."""
    target = target.resolve()  # of a link, the file that it leads to
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_bytes(content)
        return
    unfinished = target.with_name(f".{target.name[:100]}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def pillow_image(blob: Blob) -> Image:
    """Returns the image of a blob, decoded by Pillow; see `ImagePart.to_pil`."""
    content = blob.read()
    try:
        from PIL import Image  # an optional library: only this function needs it
    except ImportError as error:
        hint = install_hint("pillow", extra="images")
        raise SchemaError("an image as a Pillow image needs the package pillow", hint=hint) from error
    try:
        image = Image.open(io.BytesIO(content))
        image.load()
    except Exception as error:  # decoders of damaged files may raise any exception
        hint = "The bytes are in part.blob.read()."
        why = str(error).rstrip(".") or type(error).__name__
        raise SchemaError(f"Pillow cannot decode this {blob.media_type}: {why}", "blob", hint=hint) from error
    return image


def _file_name(blob: Blob, kind: str) -> str:
    """Returns a name without folders, whatever the name of the blob is, and another one for each content."""
    stem, suffix = os.path.splitext((blob.name or "").replace("\\", "/").rpartition("/")[2])
    kept = "".join(each for each in stem if each.isalnum() or each in " ._-").strip(" .")[:100]
    ending = suffix[1:] if suffix[1:].isalnum() else ending_of(blob.media_type)
    return f"{kept or kind}-{(blob.sha256 or '')[:8]}.{ending}"


def ending_of(media_type: str) -> str:
    """Returns how the names of files of a type end, without the dot; "bin" if that is not known."""
    plain = media_type.partition(";")[0].strip()
    subtype = plain.rpartition("/")[2].removeprefix("x-")
    return _ENDINGS.get(plain) or (subtype if subtype.isalnum() else "bin")
