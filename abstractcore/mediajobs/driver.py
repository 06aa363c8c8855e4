"""`Jobs`: sends the requests of one vendor, waits for its jobs, and downloads what they made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeAlias, TypeVar
from urllib.parse import urljoin, urlsplit

from ..errors import ProviderError, RequestTimeoutError, ServerError
from ..ports import BackendOwner
from ..schema import MediaPart, WireResponse
from .bodies import get_request
from .steps import EventReader, FinishedJob, JobFormat, MadeFile, PendingJob, Step, TaskRequest

R = TypeVar("R")
P = TypeVar("P", bound=MediaPart)
PartReader: TypeAlias = Callable[[MadeFile, bytes], P]
"""Returns the part for a file and its content; raises `ServerError` for content that is none."""

MOST_BYTES = 1 << 30
"""Bytes of one file."""
LONGEST_PAUSE_SECONDS = 10.0
_RESERVE_SECONDS = 2.0
"""Time that is kept at the end of a call for cancelling its job."""
_MOST_REDIRECTS = 5


class Jobs(Generic[R, P]):
    """Makes the calls of one vendor; `base_url` is that of its API, which alone gets the credentials. `part_of` reads
    the files.
    """

    def __init__(
        self,
        owner: BackendOwner,
        format: JobFormat[R],
        base_url: str,
        credentials: Mapping[str, str],
        part_of: PartReader[P],
    ) -> None:
        self._owner = owner
        self._format = format
        self._base_url = base_url
        self._credentials = credentials
        self._part_of = part_of

    async def finished(self, request: R, encoded: TaskRequest) -> FinishedJob:
        """Sends a request, and waits until its job is finished.

        A job that is not finished in time, or whose call is cancelled, is cancelled at the vendor where that is
        possible. Raises `RequestTimeoutError`, and errors of the vendor.
        """
        events = self._format.events(request)
        if events is not None:
            return await self._stream(request, encoded, events)
        response = await self._owner.http.send(
            encoded.request,
            credentials=self._credentials,
            error=self._format.error,
            may_repeat=not encoded.starts_job,
        )
        step: Step = self._format.read(request, response, self._base_url)
        polls = 0
        while isinstance(step, PendingJob):
            step = await self._next(step, polls)
            polls += 1
        return step

    async def _next(self, job: PendingJob, polls: int) -> Step:
        """Waits, and asks for the state of a job; the pauses grow by half, up to 10 seconds."""
        try:
            self._report(job)
            pause = job.pause_seconds and min(job.pause_seconds * 1.5 ** min(polls, 10), LONGEST_PAUSE_SECONDS)
            left = self._owner.time_left
            if left is not None and left < pause + _RESERVE_SECONDS:
                raise RequestTimeoutError(f"the job {job.id} was not finished in time; its last state: {job.state}")
            if pause:
                await self._owner.runtime.sleep(pause)
            self._check_host(job.poll.url)
            response = await self._owner.http.send(job.poll, credentials=self._credentials, error=self._format.error)
            return job.read(response)
        except BaseException as error:
            if not isinstance(error, ProviderError) or isinstance(error, RequestTimeoutError):
                await self._cancel(job)
            raise

    async def _cancel(self, job: PendingJob) -> None:
        """Cancels a job, if the vendor can; what goes wrong changes nothing."""
        if job.cancel is None:
            return
        try:
            self._check_host(job.cancel.url)
            await self._owner.http.send(
                job.cancel, credentials=self._credentials, error=self._format.error, may_repeat=False
            )
        except Exception:
            return

    def _report(self, job: PendingJob) -> None:
        if job.done is None:
            self._owner.progress(0, None, job.state)
        else:
            self._owner.progress(job.done, 1.0, job.state)

    async def _stream(self, request: R, encoded: TaskRequest, events: EventReader) -> FinishedJob:
        seen = 0
        async with self._owner.http.stream(
            encoded.request, credentials=self._credentials, error=self._format.error
        ) as body:
            if not body.headers.get("content-type", "").startswith("text/event-stream"):  # the server does not stream
                content = b""
                while chunk := await body.read():
                    content += chunk
                step = self._format.read(request, WireResponse(body.status, body.headers, content), self._base_url)
                assert isinstance(step, FinishedJob)
                return step
            while chunk := await body.read():
                for file in events.feed(chunk):
                    seen += 1
                    self._owner.progress(seen, events.total, "files", self._part_of(file, file.content or b""))
        return events.finish()

    async def downloaded(self, file: MadeFile) -> P:
        """Returns a file as a part; raises `ServerError` for content that is none."""
        if file.content is not None:
            return self._part_of(file, file.content)
        assert file.url is not None
        url = urljoin(f"{self._base_url}/", file.url)
        for _ in range(_MOST_REDIRECTS):
            own = file.needs_key and _origin(url) == _origin(self._base_url)
            try:
                return await self._content(file, url, self._credentials if own else {})
            except _MovedError as moved:
                url = urljoin(url, moved.location)
        raise ServerError("the file is redirected too often")

    async def _content(self, file: MadeFile, url: str, credentials: Mapping[str, str]) -> P:
        if urlsplit(url).scheme not in ("https", urlsplit(self._base_url).scheme):
            raise ServerError(f"the file is at an address that is not HTTPS: {urlsplit(url).scheme}")
        content = bytearray()
        async with self._owner.http.stream(get_request(url), credentials=credentials, error=self._move) as body:
            length = body.headers.get("content-length", "")
            total = int(length) if length.isdecimal() else None
            while chunk := await body.read():
                content += chunk
                if len(content) > MOST_BYTES:
                    raise ServerError(f"the file is larger than {MOST_BYTES:,} bytes")
                self._owner.progress(len(content), total, "bytes")
            declared = body.headers.get("content-type", "").partition(";")[0].strip().lower()
        return self._part_of(MadeFile(media_type=file.media_type or declared or None), bytes(content))

    def _move(self, response: WireResponse) -> ProviderError:
        location = response.headers.get("location")
        if response.status in (301, 302, 303, 307, 308) and location:
            return _MovedError(location)
        return self._format.error(response)

    def _check_host(self, url: str) -> None:
        """Raises `ServerError` for an address that must not get the key: a vendor's own hosts share its domain."""
        parts, base = urlsplit(url), urlsplit(self._base_url)
        if (parts.scheme, parts.netloc) == (base.scheme, base.netloc):
            return
        own, domain = parts.hostname or "", ".".join((base.hostname or "").split(".")[-2:])
        if parts.scheme != "https" or not (own == domain or own.endswith(f".{domain}")):
            raise ServerError(f"the answer refers to a job at another host: {own}")


class _MovedError(ProviderError):
    """A redirect, which is followed without the credentials of another origin."""

    def __init__(self, location: str) -> None:
        super().__init__("the file has moved")
        self.location = location


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
