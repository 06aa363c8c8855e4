"""`CallHttp`: HTTP for backends, through the transport, the retries, the deadline and the records of the current
call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from ..engine import remaining
from ..engine.exchange import Exchange
from ..engine.response_reading import whole_content
from ..errors import AbstractCoreError, ConnectionFailedError, ProviderError
from ..middleware import Deadline, Retry
from ..ports import Address, Attempt, Body, CallContext, Operation, Runtime, interruptible
from ..schema import EMPTY, Encoded, WireRequest, WireResponse
from .http_errors import error_of, with_response
from .invocation import current_call

if TYPE_CHECKING:
    from ..ports.capabilities import ErrorReader

_NO_CREDENTIALS = cast("Mapping[str, str]", EMPTY)


class CallHttp:
    """Sends requests in calls of backends. `random` returns numbers from 0 to 1, for the pauses before retries."""

    def __init__(self, max_retries: int, random: Callable[[], float]) -> None:
        self._retry = Retry(max_retries, random)
        self._deadline = Deadline()

    async def send(
        self,
        request: WireRequest,
        *,
        credentials: Mapping[str, str] = _NO_CREDENTIALS,
        error: ErrorReader | None = None,
        may_repeat: bool = True,
    ) -> WireResponse:
        """Returns the complete response with a status of 2xx; raises `ProviderError` for others."""

        async def read(body: Body, attempt: Attempt, sent: WireRequest, started_at: float) -> WireResponse:
            left = remaining(attempt.context)
            alarm_off = None if left is None else attempt.context.runtime.alarm(left, body.abort)
            try:
                content = await whole_content(body, attempt.context)
            except ConnectionFailedError:
                remaining(attempt.context)
                raise
            finally:
                if alarm_off is not None:
                    alarm_off()
            return _check_status(WireResponse(body.status, body.headers, content), error)

        return await self._make_attempts(request, credentials, may_repeat, read, (WireResponse,))

    @asynccontextmanager
    async def stream(
        self,
        request: WireRequest,
        *,
        credentials: Mapping[str, str] = _NO_CREDENTIALS,
        error: ErrorReader | None = None,
        may_repeat: bool = True,
    ) -> AsyncGenerator[Body]:
        """Opens a response of 2xx whose content is read in chunks."""

        async def read(body: Body, attempt: Attempt, sent: WireRequest, started_at: float) -> WireResponse | OpenBody:
            if 200 <= body.status < 300:
                return OpenBody(body, attempt.context)
            content = await whole_content(body, attempt.context)
            return _check_status(WireResponse(body.status, body.headers, content), error)

        body = await self._make_attempts(request, credentials, may_repeat, read, (WireResponse,))
        try:
            yield body
        finally:
            await body.close()

    async def _make_attempts(
        self,
        request: WireRequest,
        credentials: Mapping[str, str],
        may_repeat: bool,
        read: Callable[..., Any],
        whole: tuple[type, ...],
    ) -> Any:
        """Makes attempts until one succeeds, and returns what `read` returns."""
        current = current_call("owner.http")
        # The user's headers are for the provider; the usage of a backend is what it reports.
        context = replace(current.context, headers={}, responses=[])
        operation = Operation("http", WireRequest, Encoded, lambda response, sent: response, may_repeat=may_repeat)
        pipeline = current.pipeline
        endpoint = AbsoluteUrls(credentials)
        exchange: Exchange[Any] = Exchange(endpoint, pipeline.transport, pipeline.clock, read, whole)

        async def in_time(attempt: Attempt) -> Any:
            return await self._deadline.around_attempt(attempt, exchange)

        return await self._retry.around_attempt(Attempt(context, request, operation), in_time)


def _check_status(response: WireResponse, error: ErrorReader | None) -> WireResponse:
    """Returns a successful response; raises the error of another one."""
    if 200 <= response.status < 300:
        return response
    raise with_response((error or error_of)(response), response)


@dataclass(frozen=True, slots=True)
class AbsoluteUrls:
    """An endpoint of requests with absolute URLs, which get `credentials`."""

    credentials: Mapping[str, str]

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address of all URLs."""
        return Address("", self)

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """Returns the request with the credentials."""
        return request.with_headers(self.credentials)

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error as it is."""
        return error


class OpenBody:
    """A response that is read in chunks until the time limit of the call, at which its connection is closed."""

    def __init__(self, body: Body, context: CallContext) -> None:
        self._body = body
        self._context = context
        left = remaining(context)
        self._alarm_off = None if left is None else context.runtime.alarm(left, body.abort)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._body.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with lower-case names."""
        return self._body.headers

    async def read(self) -> bytes:
        """Returns the next chunk; empty at the end. Raises `RequestTimeoutError` at the time limit."""
        try:
            with interruptible(self._body.abort):
                return await self._body.read()
        except ConnectionFailedError:
            remaining(self._context)
            raise

    async def close(self) -> None:
        """Releases the connection."""
        if self._alarm_off is not None:
            self._alarm_off()
        await self._body.close()

    def abort(self) -> None:
        """Closes the connection. May be called from any thread."""
        self._body.abort()
