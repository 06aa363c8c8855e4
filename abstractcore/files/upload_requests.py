"""`FileStoreRequests`: requests to the file store of a provider, each through both middleware rings."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from ..errors import ProviderError
from ..ports import FileStore, FileToUpload, FileUpload, Operation, OperationResult, ProviderFile, Runtime
from ..schema import Message, ModelCall
from .upload_content import UploadContent

T = TypeVar("T")
_MOST_FAILURES = 4
"""So often an upload is continued without progress in between."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 600.0


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
