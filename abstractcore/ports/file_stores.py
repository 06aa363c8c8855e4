"""`FileStore`: how a wire format stores files at its provider; `StoredFileIndex`: what was uploaded to such stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from ..schema import OperationInput, StoredFile
from ..schema.json_values import check_text
from .middleware import Operation


@dataclass(frozen=True, slots=True)
class FileToUpload:
    """A file to upload; `size` is in bytes, `sha256` in lower-case hex digits."""

    sha256: str
    media_type: str
    size: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderFile:
    """A file as its provider reports it. `sha256` is in lower-case hex digits; None if it is not reported.

    `lifetime` is in seconds from the upload on. A file that is "failed" cannot be used: `problem` says why.
    """

    id: str
    state: Literal["ready", "processing", "failed"] = "ready"
    size: int | None = None
    sha256: str | None = None
    lifetime: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FileUpload:
    """How far an upload is: the provider has `offset` bytes, and the next request carries the following `wants` bytes,
    up to `step` of them. `session` is the provider's name for the upload, `parts` are its names for what it has; `file`
    is set at the end.
    """

    offset: int = 0
    wants: int = 0
    step: int = 0
    session: str = ""
    parts: tuple[str, ...] = ()
    file: ProviderFile | None = None


@dataclass(frozen=True, slots=True)
class FileChunk(OperationInput):
    """A file to store: its next bytes, `data` from `upload.offset` on; none to ask how far the upload is."""

    file: FileToUpload
    upload: FileUpload
    data: bytes = field(default=b"", repr=False)

    def for_record(self) -> FileChunk:
        """Returns the input without the bytes, which the hash of the file and the offset identify."""
        return self.with_(data=b"")


@dataclass(frozen=True, slots=True)
class FileId(OperationInput):
    """A file in a provider's store, by its `id`."""

    id: str

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        check_text(self.id, "id")


class FileStore(Protocol):
    """The file store of a provider, as operations. The engine makes the requests and reads the content."""

    def begin(self, file: FileToUpload) -> FileUpload:
        """Returns the beginning of an upload."""
        ...

    def send(self, file: FileToUpload, upload: FileUpload) -> Operation[FileChunk, FileUpload]:
        """Returns the operation that sends the next `upload.wants` bytes from `upload.offset` on."""
        ...

    def resume(self, file: FileToUpload, upload: FileUpload) -> Operation[FileChunk, FileUpload] | None:
        """Returns the operation that asks what the provider has after a request failed; None if that one can only be
        repeated.
        """
        ...

    @property
    def read(self) -> Operation[FileId, ProviderFile]:
        """The operation that reads the state of a file."""
        ...

    @property
    def delete(self) -> Operation[FileId, None]:
        """The operation that deletes a file."""
        ...


@runtime_checkable
class HasFileStore(Protocol):
    """A wire format whose provider stores files, which requests name by id. Transpilers may implement it."""

    @property
    def file_store(self) -> FileStore:
        """The file store."""
        ...


class StoredFileIndex(Protocol):
    """Remembers which files were uploaded. Methods may block, and never fail."""

    def find(self, account: str, sha256: str, media_type: str) -> StoredFile | None:
        """Returns the newest file of an account with this content."""
        ...

    def put(self, file: StoredFile) -> None:
        """Remembers a file, in place of an entry with the same id."""
        ...

    def remove(self, file: StoredFile) -> None:
        """Forgets a file; does nothing if it is not known."""
        ...

    def list(self, account: str) -> Sequence[StoredFile]:
        """Returns the files of an account, the oldest first."""
        ...
