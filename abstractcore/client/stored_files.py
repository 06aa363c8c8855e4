"""`StoredFiles`: the files that AbstractCore uploaded to the provider's file store, listed and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..concurrency import drive
from ..copying import NotCopied
from ..errors import InvalidInputError
from .pipelines import DEFAULT_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from ..engine import Pipeline
    from ..schema import StoredFile
    from .pipelines import Pipelines


class StoredFiles(NotCopied):
    """The uploads with the key of an LLM, as `llm.files`. Other files of the account are neither listed nor deleted."""

    _holds = "connections"
    _instead = "Copy the LLM, and use the property `files` of the copy."

    def __init__(self, provider: str, pipelines: Pipelines, headers: Mapping[str, str]) -> None:
        self._provider = provider
        self._pipelines = pipelines
        self._headers = headers

    def list(self) -> tuple[StoredFile, ...]:
        """Returns the uploads that have not expired, the oldest first; sends nothing."""
        return drive(_list_files(self._pipelines.sync, self._headers))

    async def alist(self) -> tuple[StoredFile, ...]:
        """The async version of `list`."""
        return await _list_files(self._pipelines.asynchronous, self._headers)

    def delete(self, *files: StoredFile) -> None:
        """Deletes uploads at the provider; those that are gone already are forgotten.

        Raises `InvalidInputError` for files of another account, and `ProviderError`.
        """
        drive(self._delete_files(self._pipelines.sync, files))

    async def adelete(self, *files: StoredFile) -> None:
        """The async version of `delete`."""
        await self._delete_files(self._pipelines.asynchronous, files)

    async def _delete_files(self, pipeline: Pipeline, files: tuple[StoredFile, ...]) -> None:
        uploads = pipeline.file_uploads()
        account = await uploads.account(self._headers)
        for index, file in enumerate(files):
            if (file.provider, file.account) != (self._provider, account.digest):
                hint = "Use an LLM with the provider, the base URL, the key and the headers that uploaded it."
                raise InvalidInputError("the file was uploaded to another account", path=f"files[{index}]", hint=hint)
        requests = uploads.requests(self._provider, self._headers, lambda: DEFAULT_TIMEOUT_SECONDS)
        for file in files:
            await uploads.delete(file, requests)


async def _list_files(pipeline: Pipeline, headers: Mapping[str, str]) -> tuple[StoredFile, ...]:
    return tuple(await pipeline.file_uploads().list(headers))
