"""Requests to the file store of a provider, each through both middleware rings, and the content of files in pieces: a
large file is never in memory as a whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from ..errors import MediaError, ProviderError
from ..ports import FileStore, FileToUpload, FileUpload, Operation, OperationResult, ProviderFile, Runtime
from ..schema import Blob, Message, ModelCall
from ..schema.file_hashes import Stamp, known_hash, stamp_of

T = TypeVar("T")
_MOST_FAILURES = 4
"""So often an upload is continued without progress in between."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 600.0
_STEP = 1 << 20


class Operate(Protocol):
    """Makes requests through both middleware rings: `Pipeline.operate_on`."""

    def __call__(
        self, operation: Operation[T], call: ModelCall, headers: Mapping[str, str], timeout: float | None
    ) -> Coroutine[Any, Any, OperationResult[T]]:
        """Makes a request with the user's headers, in `timeout` seconds."""
        ...


class FileStoreRequests:
    """Makes requests for `provider`, with the user's `headers` and the fields `given` of their calls.

    `time_left` returns the seconds to the deadline; it raises `RequestTimeoutError` past it.
    """

    def __init__(
        self,
        operate: Operate,
        runtime: Runtime,
        model: str,
        provider: str,
        time_left: Callable[[], float | None],
        headers: Mapping[str, str],
        given: Mapping[str, Any],
    ) -> None:
        self._operate = operate
        self._runtime = runtime
        self._model = model
        self._provider = provider
        self._time_left = time_left
        self._headers = headers
        self._given = given

    async def run(self, operation: Operation[T]) -> T:
        """Returns the result of an operation; raises the errors of requests."""
        message = Message.user(operation.name)
        call = ModelCall(model=self._model, messages=(message,), provider=self._provider, **self._given)
        return (await self._operate(operation, call, self._headers, self._time_left())).value

    async def upload(self, store: FileStore, file: FileToUpload, content: UploadContent) -> ProviderFile:
        """Uploads a file, in one request or several. One that failed on the way is continued where the server is.

        Raises `MediaError` for a file that cannot be read, and the errors of requests.
        """
        upload, failures = store.begin(file), 0
        while upload.file is None:
            data = b""
            if upload.wants:
                data = await self._runtime.call(content.read, upload.offset, upload.wants, kind="files")
            try:
                following = await self.run(store.send(file, upload, data))
            except ProviderError as error:
                failures += 1
                following = await self._resumed(store, file, upload, error, failures)
            if following.offset > upload.offset:
                failures = 0
            upload = following
        return upload.file

    async def _resumed(
        self, store: FileStore, file: FileToUpload, upload: FileUpload, error: ProviderError, failures: int
    ) -> FileUpload:
        """Returns where the server is after a request failed; raises `error` if it is final."""
        resume = store.resume(file, upload)
        pause = error.retry_after
        if pause is None:
            pause = _FIRST_PAUSE_SECONDS * 2.0 ** (failures - 1)
        if resume is None or not error.retryable or failures > _MOST_FAILURES or pause > _LONGEST_WAIT_SECONDS:
            raise error
        await self._runtime.sleep(pause)
        return await self.run(resume)


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
        """Returns what the file has there; None if its content is not the one that was added to the call."""
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
