"""`FileUploads`: uploads files to the provider's store, each once by account, and names them by id in the request."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from ..concurrency.time_limits import remaining
from ..errors import (
    AccessDeniedError,
    ConfigurationError,
    MediaError,
    ModelNotFoundError,
    NotFoundError,
    ProviderError,
    StorageFullError,
)
from ..ports import (
    Address,
    CallContext,
    Clock,
    Endpoint,
    FileStore,
    FileToUpload,
    HasFileStore,
    ProviderFile,
    ProviderSession,
    Runtime,
    StoredFileIndex,
)
from ..schema import Blob, StoredFile, WireRequest
from ..scrubbing import shown_url
from .upload_requests import FileStoreRequests, Operate, UploadContent

_log = logging.getLogger("abstractcore")
_MARGIN_SECONDS = 3600.0
"""A file that expires sooner is uploaded again: a call may take a while."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 10.0
_GONE = (NotFoundError, AccessDeniedError)
"""Errors for a file that the provider does not have any more: Google answers with 403."""
_Flight: TypeAlias = tuple[int, type[Runtime], str, str, str]
_in_flight: dict[_Flight, Future[None]] = {}
"""Uploads in this process, by process: a forked child cannot wait for threads of its parent. Sync and async calls do
not wait for each other: a sync call may block the event loop of an async one."""
_UNSIGNED = WireRequest("", {}, b"")
_OFFLINE = "offline"


class StoredBlob(NamedTuple):
    """A file of a call in the provider's store."""

    blob: Blob
    how: Literal["uploaded", "reused"]


StoredBlobs: TypeAlias = Mapping[Blob, StoredBlob]


class FileUploads:
    """Uploads the files of one LLM's calls, either sync or async."""

    def __init__(
        self, session: ProviderSession, runtime: Runtime, clock: Clock, index: StoredFileIndex, operate: Operate
    ) -> None:
        self._session = session
        self._runtime = runtime
        self._clock = clock
        self._index = index
        self._operate = operate

    async def store(self, blobs: Sequence[Blob], context: CallContext) -> StoredBlobs:
        """Returns each file as the provider stores it: those that were uploaded before are not uploaded again.

        Raises `StorageFullError` if there is no room although all older uploads were deleted, `MediaError` for a file
        that cannot be read, or not be processed by the provider, and the errors of requests.
        """
        account = await self.account(context.headers)
        found = list(dict.fromkeys(blobs))
        for blob in found:  # before one of them makes room
            if (known := await self._find_upload(blob, account)) is not None:
                context.stored[known.id] = known
        stored = await self._runtime.gather(*(partial(self._store_blob, blob, account, context) for blob in found))
        return dict(zip(found, stored, strict=True))

    async def forget_missing(self, error: ProviderError, context: CallContext) -> bool:
        """Returns whether a request failed since the provider no longer has a file that was uploaded for it; such files
        are forgotten.
        """
        used = list(context.stored.values())
        names_one = any(file.id.rpartition("/")[2] in error.message for file in used)
        may_be_gone = isinstance(error, _GONE) and not isinstance(error, ModelNotFoundError)
        if not (may_be_gone or names_one):
            return False
        missing = [file for file in used if not await self._exists(file, context)]
        for file in missing:
            await self._runtime.call(self._index.remove, file, kind="files")
            del context.stored[file.id]
        return bool(missing)

    async def account(self, headers: Mapping[str, str]) -> Account:
        """Returns the account of requests with these headers of the user."""
        return await account_of(self._session.endpoint, headers, self._runtime, self._clock.time_of_day())

    async def list(self, headers: Mapping[str, str]) -> Sequence[StoredFile]:
        """Returns the uploads of the account that have not expired, the oldest first."""
        account, now = await self.account(headers), self._clock.time_of_day()
        files = await self._runtime.call(self._index.list, account.digest, kind="files")
        return [file for file in files if file.expires_at is None or file.expires_at > now]

    async def delete(self, file: StoredFile, requests: FileStoreRequests) -> None:
        """Deletes an upload at the provider, and forgets it; one that is gone already is forgotten."""
        try:
            await requests.delete(file.id)
        except _GONE:
            _log.info("the uploaded file %s is gone already", file.id)
        await self._runtime.call(self._index.remove, file, kind="files")

    def requests(
        self, provider: str, headers: Mapping[str, str], time_left: Callable[[], float | None], **given: Any
    ) -> FileStoreRequests:
        """Returns the client of the store, with these headers of the user."""
        return FileStoreRequests(
            self._store, self._operate, self._runtime, self._session.model, provider, time_left, headers, given
        )

    @property
    def _store(self) -> FileStore:
        transpiler = self._session.transpiler
        if not isinstance(transpiler, HasFileStore):
            hint = "Leave file_store='always' out, and stored_bytes out of facts=..."
            raise ConfigurationError("the wire format of this model has no file store.", hint=hint)
        return transpiler.file_store

    def _requests(self, context: CallContext) -> FileStoreRequests:
        """Returns the client for requests on behalf of a call."""
        call, left = context.call, partial(remaining, context)
        given = {"tags": call.tags, "parent_id": context.trace_id, "trace_context": call.trace_context}
        return self.requests(call.provider, context.headers, left, **given)

    async def _store_blob(self, blob: Blob, account: Account, context: CallContext) -> StoredBlob:
        """Returns a file in the store, uploaded unless it is there already, or another call uploads it now."""
        flight = (os.getpid(), type(self._runtime), account.digest, blob.sha256 or "", blob.media_type)
        while True:
            found = await self._find_upload(blob, account)
            if found is not None:
                return await self._use(found, blob, "reused", context)
            own: Future[None] = Future()
            ahead = _in_flight.setdefault(flight, own)
            if ahead is own:
                break
            await self._runtime.wait(ahead)
        try:
            found = await self._find_upload(blob, account)  # by one that has just ended
            if found is not None:
                return await self._use(found, blob, "reused", context)
            return await self._use(await self._upload(blob, account, context), blob, "uploaded", context)
        finally:
            del _in_flight[flight]
            own.set_result(None)

    async def _find_upload(self, blob: Blob, account: Account) -> StoredFile | None:
        """Returns an upload of the same content that does not expire soon."""
        found = await self._runtime.call(
            self._index.find, account.digest, blob.sha256 or "", blob.media_type, kind="files"
        )
        soon = self._clock.time_of_day() + _MARGIN_SECONDS
        return found if found is not None and (found.expires_at is None or found.expires_at > soon) else None

    async def _use(
        self, file: StoredFile, blob: Blob, how: Literal["uploaded", "reused"], context: CallContext
    ) -> StoredBlob:
        context.stored[file.id] = file
        if not file.ready:
            await self._until_ready(file, blob, context)
        stored = Blob.from_provider_file(context.call.provider, file.id, blob.media_type, name=blob.name)
        return StoredBlob(stored, how)

    async def _upload(self, blob: Blob, account: Account, context: CallContext) -> StoredFile:
        """Uploads a file, after older uploads were deleted if the store is full."""
        file = FileToUpload(blob.sha256 or "", blob.media_type, blob.size or 0, blob.name)
        content, requests = UploadContent(blob, blob.name or blob.media_type), self._requests(context)
        while True:
            try:
                at_provider = await requests.upload(file, content)
                break
            except StorageFullError:
                if not await self._make_room(file.size, account, context, requests):
                    raise
        await self._check(at_provider, file, requests)
        now = self._clock.time_of_day()
        expires_at = None if at_provider.lifetime is None else now + at_provider.lifetime
        stored = StoredFile(
            at_provider.id,
            context.call.provider,
            account.endpoint,
            account.digest,
            file.sha256,
            file.media_type,
            file.size,
            now,
            expires_at,
            file.name,
            at_provider.state == "ready",
        )
        await self._runtime.call(self._index.put, stored, kind="files")
        return stored

    async def _make_room(self, size: int, account: Account, context: CallContext, requests: FileStoreRequests) -> bool:
        """Deletes the oldest uploads, as many as `size` bytes need, but none that this call uses. Returns whether there
        was one.
        """
        freed, deleted = 0, False
        for file in await self._runtime.call(self._index.list, account.digest, kind="files"):
            if freed >= size and deleted:
                break
            if file.id not in context.stored:
                await self.delete(file, requests)
                freed, deleted = freed + file.size, True
        return deleted

    async def _check(self, found: ProviderFile, file: FileToUpload, requests: FileStoreRequests) -> None:
        """Raises `MediaError` unless the provider has the very content; the file is then deleted."""
        name = file.name or file.media_type
        if found.size not in (None, file.size):
            problem = f"{found.size:,} of {file.size:,} bytes arrived"
        elif found.sha256 not in (None, file.sha256):
            problem = "what arrived has another hash"
        elif found.state == "failed":
            problem = f"the provider cannot process it: {found.problem or 'it gives no reason'}"
        else:
            return
        await self._discard(found.id, requests)
        hint = "Convert it here, as in media_policy={'video': 'frames+transcript'}, or try again."
        raise MediaError(f"{name} could not be uploaded: {problem}", source=name, hint=hint)

    async def _until_ready(self, file: StoredFile, blob: Blob, context: CallContext) -> None:
        """Waits until the provider has processed a file; raises `MediaError` if it cannot."""
        requests, pause = self._requests(context), _FIRST_PAUSE_SECONDS
        found = await requests.read(file.id)
        while found.state == "processing":
            await self._runtime.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            found = await requests.read(file.id)
        if found.state == "failed":
            await self._runtime.call(self._index.remove, file, kind="files")
            del context.stored[file.id]
        await self._check(found, FileToUpload(file.sha256, file.media_type, file.size, blob.name), requests)
        await self._runtime.call(self._index.put, replace(file, ready=True), kind="files")

    async def _exists(self, file: StoredFile, context: CallContext) -> bool:
        try:
            return (await self._requests(context).read(file.id)).state != "failed"
        except _GONE:
            return False

    async def _discard(self, id: str, requests: FileStoreRequests) -> None:
        """Deletes a file that cannot be used; a failure is ignored, since the file expires at the provider."""
        try:
            await requests.delete(id)
        except ProviderError as error:
            _log.warning("an uploaded file cannot be deleted: %s", error)


class Account(NamedTuple):
    """An account at an endpoint: the base URL without secrets, and a digest of the URL and the credentials."""

    endpoint: str
    digest: str


async def account_of(endpoint: Endpoint, headers: Mapping[str, str], runtime: Runtime, now: float) -> Account:
    """Returns the account that requests to `endpoint` with the user's `headers` use; `now` is in seconds since the
    epoch.

    The digest is a SHA-256, so that credentials cannot be read from it. Raises what the endpoint raises.
    """
    if getattr(endpoint, "offline", False) is True:  # of an LLM whose middleware answers all requests
        return Account(_OFFLINE, _digest(_OFFLINE, "", headers))
    address = await endpoint.open(runtime)
    try:
        return _account_at(address, headers, now)
    finally:
        if address.release is not None:
            address.release()


def _account_at(address: Address, headers: Mapping[str, str], now: float) -> Account:
    signed = address.auth.sign(_UNSIGNED.with_url(address.url), now)
    return Account(shown_url(address.url), _digest(address.url, address.query, {**signed.headers, **headers}))


def _digest(url: str, query: str, headers: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps([url, query, sorted(headers.items())]).encode()).hexdigest()[:32]
