"""Requests to the file store of a provider, each through both middleware rings, and the content of files in pieces: a
large file is never in memory as a whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from ..errors import MediaError, ProviderError
from ..ports import (
    AnyInput,
    FileChunk,
    FileId,
    FileStore,
    FileToUpload,
    FileUpload,
    Operation,
    OperationResult,
    ProviderFile,
    Runtime,
)
from ..schema import Blob
from ..schema.blobs import Stamp, known_hash, stamp_of

Input = TypeVar("Input", FileChunk, FileId)
Output = TypeVar("Output")
_MOST_FAILURES = 4
"""So often an upload is continued without progress in between."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 600.0
_STEP = 1 << 20


class Operate(Protocol):
    """Makes requests through both middleware rings: `Pipeline.operate_on`."""

    def __call__(
        self, operation: Operation[Any, Output], given: AnyInput, headers: Mapping[str, str], timeout: float | None
    ) -> Coroutine[Any, Any, OperationResult[Output]]:
        """Makes a request with the user's headers, in `timeout` seconds."""
        ...


class FileStoreRequests:
    """Makes requests to `store` for `provider`, with the user's `headers` and the fields `given` of their inputs.

    `time_left` returns the seconds to the deadline; it raises `RequestTimeoutError` past it.
    """

    def __init__(
        self,
        store: FileStore,
        operate: Operate,
        runtime: Runtime,
        model: str,
        provider: str,
        time_left: Callable[[], float | None],
        headers: Mapping[str, str],
        given: Mapping[str, Any],
    ) -> None:
        self._store = store
        self._operate = operate
        self._runtime = runtime
        self._time_left = time_left
        self._headers = headers
        self._fields: dict[str, Any] = {"model": model, "provider": provider, **given}

    async def read(self, id: str) -> ProviderFile:
        """Returns a file as the store reports it; raises the errors of requests."""
        return await self._run(self._store.read, FileId(id, **self._fields))

    async def delete(self, id: str) -> None:
        """Deletes a file; raises the errors of requests."""
        await self._run(self._store.delete, FileId(id, **self._fields))

    async def upload(self, file: FileToUpload, content: UploadContent) -> ProviderFile:
        """Uploads a file, in one request or several. One that failed on the way is continued where the server is.

        Raises `MediaError` for a file that cannot be read, and the errors of requests.
        """
        upload, failures = self._store.begin(file), 0
        while upload.file is None:
            data = b""
            if upload.wants:
                data = await self._runtime.call(content.read, upload.offset, upload.wants, kind="files")
            try:
                following = await self._run(self._store.send(file, upload), self._chunk(file, upload, data))
            except ProviderError as error:
                failures += 1
                following = await self._resume(file, upload, error, failures)
            if following.offset > upload.offset:
                failures = 0
            upload = following
        return upload.file

    async def _resume(self, file: FileToUpload, upload: FileUpload, error: ProviderError, failures: int) -> FileUpload:
        """Returns where the server is after a request failed; raises `error` if it is final."""
        resume = self._store.resume(file, upload)
        pause = error.retry_after
        if pause is None:
            pause = _FIRST_PAUSE_SECONDS * 2.0 ** (failures - 1)
        if resume is None or not error.retryable or failures > _MOST_FAILURES or pause > _LONGEST_WAIT_SECONDS:
            raise error
        await self._runtime.sleep(pause)
        return await self._run(resume, self._chunk(file, upload))

    def _chunk(self, file: FileToUpload, upload: FileUpload, data: bytes = b"") -> FileChunk:
        return FileChunk(file, upload, data, **self._fields)

    async def _run(self, operation: Operation[Input, Output], given: Input) -> Output:
        return (await self._operate(operation, given, self._headers, self._time_left())).value


class UploadContent:
    """The content of a blob of form "bytes" or "file". `source` is its name in errors."""

    def __init__(self, blob: Blob, source: str) -> None:
        self._blob = blob
        self._source = source
        self._stamp: Stamp | None = None

    def read(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes from `offset` on; blocks.

        Raises `MediaError` for a file that cannot be read, or has changed since it was added to the call.
        """
        if self._blob.data is not None:
            return self._blob.data[offset : offset + length]
        try:
            data = self._read(offset, length)
        except OSError as error:
            raise MediaError(f"{self._source} cannot be read: {error.strerror}", source=self._source) from None
        if data is None or len(data) != length:
            raise MediaError(f"{self._source} has changed since it was added to the call", source=self._source)
        return data

    def _read(self, offset: int, length: int) -> bytes | None:
        """Returns the bytes of the file there; None if its content is not the one that was added to the call."""
        with open(self._blob.location or "", "rb") as file:
            stamp = stamp_of(file.fileno())
            if stamp != self._stamp and not self._is_same(file.fileno(), stamp):
                return None
            self._stamp = stamp
            file.seek(offset)
            data = file.read(length)
            return data if stamp_of(file.fileno()) == stamp else None

    def _is_same(self, descriptor: int, stamp: Stamp) -> bool:
        known = known_hash(stamp)
        if known is not None:
            return known == self._blob.sha256
        hasher = hashlib.sha256()
        with open(os.dup(descriptor), "rb") as file:
            file.seek(0)
            while piece := file.read(_STEP):
                hasher.update(piece)
        return hasher.hexdigest() == self._blob.sha256
