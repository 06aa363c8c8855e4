"""`FileAccess`: the files that clients name in arguments. Only folders that the operator allows are read."""

from __future__ import annotations

import base64
import binascii
import io
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypeAlias
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from pydantic import Field

# pydantic reads it, and refuses that of `typing` before Python 3.12
from typing_extensions import TypedDict

from ...errors import InvalidInputError, MediaError
from ...files.loading import File
from ...schema import Blob
from ...schema.base_error import shortened, shown

_FOLLOWS_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_CAN_OPEN_RELATIVE = os.open in os.supports_dir_fd
_HINT = "Send the content: a data: URL, or an object with mimeType and blob (base64) or text."


class FileContent(TypedDict):
    """The content of a file, as in an MCP resource: `blob` is base64, or `text` is given."""

    mimeType: str
    blob: NotRequired[str]
    text: NotRequired[str]
    uri: NotRequired[str]
    name: NotRequired[str]


FileArgument: TypeAlias = Annotated[
    str | FileContent,
    Field(
        description="A file: a data: URL, an http(s) URL that the model's provider fetches, a file: URI in a folder "
        "that the server may read, or an object with mimeType and blob (base64) or text."
    ),
]
"""A file in the arguments of a tool."""


class NamedBytes(io.BytesIO):
    """Content in memory, with the name of its file."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


class FileAccess:
    """Reads the files of arguments. `folders` may be read, with the folders in them; none by default.

    `limit` is in bytes. Raises `InvalidInputError` for a folder that does not exist.
    """

    def __init__(self, folders: Iterable[str | os.PathLike[str]] = (), limit: int = 64 * 1024 * 1024) -> None:
        self._folders = [_folder(each) for each in folders]
        self._limit = limit

    def load(self, given: str | FileContent) -> Any:
        """Returns a file for `media` of an LLM: its content, or a URL for the provider. Blocks.

        Raises `MediaError` for a file that may not or cannot be read.
        """
        if not isinstance(given, str):
            return self._of_content(given)
        scheme = given[:8].lower()
        if scheme.startswith(("http://", "https://", "data:")):
            self._check_size(len(given))
            return given if scheme.startswith("data:") else File(given, fetch="vendor")
        return self._read(_path_of(given))

    def _of_content(self, given: FileContent) -> Blob:
        name = given.get("name") or given.get("uri", "").rpartition("/")[2] or None
        blob, text = given.get("blob"), given.get("text")
        if (blob is None) == (text is None):
            raise MediaError("the file needs either blob or text.", source=name or "file")
        try:
            data = base64.b64decode(blob, validate=True) if blob is not None else (text or "").encode()
        except (binascii.Error, ValueError):
            raise MediaError("blob is not base64.", source=name or "file") from None
        self._check_size(len(data))
        return Blob.from_bytes(data, given["mimeType"], name=name)

    def _read(self, path: str) -> NamedBytes:
        """Returns the content of a file below one of the folders. It is opened without following links, once they have
        been resolved: a link that is changed meanwhile leads nowhere.
        """
        try:
            real = os.path.realpath(path)
            folder = next((each for each in self._folders if Path(real).is_relative_to(each)), None)
        except (OSError, ValueError):
            folder, real = None, path
        if folder is None:
            raise _not_allowed(path)
        try:
            # With an opener, which closes what it opened if that is a folder: `os.fdopen` does not.
            with open(real, "rb", opener=lambda path, flags: _open_below(folder, real)) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise MediaError(f"{shown(path)} is not a regular file.", source=os.path.basename(real))
                self._check_size(status.st_size)
                data = file.read(self._limit + 1)
        except OSError as error:
            raise MediaError(
                f"{shown(path)} cannot be read: {error.strerror}.", source=os.path.basename(real)
            ) from None
        self._check_size(len(data))
        return NamedBytes(data, os.path.basename(real))

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            raise MediaError(f"the file has {size:,} bytes; the limit is {self._limit:,}.")


def _folder(given: str | os.PathLike[str]) -> str:
    real = os.path.realpath(given)
    if not os.path.isdir(real):
        raise InvalidInputError(f"{os.fspath(given)!r} is not a folder", path="files")
    return real


def _path_of(given: str) -> str:
    """Returns the path of a `file:` URI (RFC 8089) or the path itself, which must be absolute."""
    if "://" in given[:32] or given[:5].lower() == "file:":
        try:
            parts = urlsplit(given)
        except ValueError:
            raise _not_allowed(given) from None
        if parts.scheme != "file" or parts.netloc.lower() not in ("", "localhost"):
            raise _not_allowed(given)
        path = url2pathname(parts.path) if os.name == "nt" else os.fsdecode(unquote_to_bytes(parts.path))
    else:
        path = given
    if not os.path.isabs(path) or "\0" in path:
        raise _not_allowed(given)
    return path


def _open_below(folder: str, real: str) -> int:
    """Opens a file below `folder`, folder by folder, where the system can, so that no part of the path is a link."""
    if not _CAN_OPEN_RELATIVE:
        return os.open(real, os.O_RDONLY | _FOLLOWS_NO_LINK | _BINARY)
    *folders, name = Path(real).relative_to(folder).parts or (".",)
    current = os.open(folder, os.O_RDONLY | _FOLLOWS_NO_LINK | os.O_DIRECTORY)
    try:
        for each in folders:
            inner = os.open(each, os.O_RDONLY | _FOLLOWS_NO_LINK | os.O_DIRECTORY, dir_fd=current)
            os.close(current)
            current = inner
        return os.open(name, os.O_RDONLY | _FOLLOWS_NO_LINK, dir_fd=current)
    finally:
        os.close(current)


def _not_allowed(given: str) -> MediaError:
    return MediaError(
        f"{shown(shortened(given, 200))} is not a file that this server may read.", source="file", hint=_HINT
    )
