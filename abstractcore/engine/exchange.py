"""`Exchange`: makes one attempt: signs, sends, reads and decodes, and explains failures.

Detects whether the body of a successful response is a stream of frames or one document.

The first bytes decide, since content types are often wrong; the content type decides if they are ambiguous.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from ..concurrency.time_limits import out_of_time, overdue, remaining, time_given
from ..errors import (
    AbstractCoreError,
    AuthenticationError,
    ConnectionFailedError,
    ModelNotFoundError,
    NotFoundError,
    ProviderError,
    RequestTimeoutError,
    ServerError,
    StreamInterruptedError,
    UnexpectedResponseError,
)
from ..ports import (
    Address,
    Answer,
    Attempt,
    Auth,
    BilledResponse,
    Body,
    CallContext,
    Clock,
    Endpoint,
    Framer,
    KnownAddress,
    ModelProfile,
    OperationResult,
    OperationsEndpoint,
    ProviderSession,
    RenewableEndpoint,
    StreamDecoder,
    Transpiler,
    Transport,
    current_interruption,
    interruptible,
)
from ..schema import AttemptRecord, ModelReply, SchemaError, Usage, WireRequest, WireResponse
from ..schema.base_error import shown
from ..schema.replies import with_unique_ids
from ..schema.wire import unexpected_encoding
from ..scrubbing import Secrets, shown_url
from .endings import close_all, with_origin

if TYPE_CHECKING:
    from ..schema import Delta

MAX_BODY_BYTES = 256 * 1024 * 1024
"""The maximum size of a reply, so that a faulty server cannot fill the memory."""
_STREAM_TYPES = frozenset(
    {
        "application/jsonl",
        "application/vnd.amazon.eventstream",
        "application/x-ndjson",
        "text/event-stream",
    }
)
_OF_DOCUMENTS = (b"{", b"[", b"<")
"""The first bytes of JSON and web pages, which streams of other types never begin with."""
_MOST_BLANKS = 16
"""How much of a run of white space is passed to a framer again: all of it would take quadratic time."""


async def read_start(body: Body, framer: Framer, context: CallContext) -> tuple[bytes, bool]:
    """Returns the first bytes of `body`, as many as are needed to detect a stream, and whether it is one.

    Raises as `Body.read` does, and `RequestTimeoutError` past the deadline.
    """
    pieces: list[bytes] = []
    size = 0
    start = b""
    while (accepted := framer.accepts(start)) is None:
        piece = await body.read()
        remaining(context)
        if not piece:
            return b"".join(pieces), False
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise ServerError(f"the reply is longer than {MAX_BODY_BYTES:,} bytes")
        start = start[: len(start.rstrip()) + _MOST_BLANKS] + piece
    return b"".join(pieces), accepted or (_is_labelled(body) and not start.lstrip().startswith(_OF_DOCUMENTS))


def decode_whole(transpiler: Transpiler, response: WireResponse, request: WireRequest) -> ModelReply:
    """Returns the reply of a complete body, which may be a stream though none was requested.

    Raises as `Transpiler.decode` does; an `UnexpectedResponseError` names the request.
    """
    try:
        return transpiler.decode(response)
    except ServerError as error:
        framer = transpiler.framer()
        if framer.accepts(response.body):
            frames = [*framer.feed(response.body), *framer.finish()]
            if len(frames) > 1 or not response.body.lstrip().startswith(_OF_DOCUMENTS):
                return _added_up(transpiler.decoder(), frames)
        if isinstance(error, UnexpectedResponseError):
            name_request(error, request)
        raise


def name_request(error: UnexpectedResponseError, request: WireRequest) -> None:
    """Adds the request to the message of `error`, without secrets in its URL."""
    error.url = shown_url(request.url)
    error.message += f", in answer to {request.method} {error.url}"


def _added_up(decoder: StreamDecoder, frames: Sequence[Any]) -> ModelReply:
    from ..schema import accumulate, partial_reply

    deltas: list[Delta] = []
    try:
        for frame in frames:
            deltas += decoder.feed(frame)
            if decoder.complete:
                break
        deltas += decoder.finish()
    except AbstractCoreError as error:
        error.partial = partial_reply(deltas)
        raise
    return accumulate(deltas)


def _is_labelled(body: Body) -> bool:
    """Returns whether the content type is that of a stream."""
    return body.headers.get("content-type", "").partition(";")[0].strip().lower() in _STREAM_TYPES


T = TypeVar("T")
_WHOLE = (ModelReply, OperationResult)
_LONGEST_STEP_SECONDS = 600.0
_REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-amzn-requestid")
"""The headers of request ids: of OpenAI and most others, Anthropic, AWS."""
_SHOULD_RETRY = {"true": True, "false": False}
"""The values of `x-should-retry`, a header of OpenAI and Anthropic, which their clients obey in this spelling only."""
_NOT_FOUND, _METHOD_NOT_ALLOWED = 404, 405
_UNSIGNED = WireRequest("", {}, b"")


class Exchange(Generic[T]):
    """Makes attempts at one endpoint. `read` returns what a response answers; a body that its result still reads stays
    open, unless the result is one of `whole`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        transport: Transport,
        clock: Clock,
        read: Callable[[Body, Attempt, WireRequest, float], Awaitable[T]],
        whole: tuple[type, ...] = _WHOLE,
        profile: ModelProfile | None = None,
    ) -> None:
        self._profile = profile
        self._endpoint = endpoint
        self._check_operation = endpoint.check_operation if isinstance(endpoint, OperationsEndpoint) else None
        self._transport = transport
        self._clock = clock
        self._read = read
        self._whole = whole

    async def __call__(self, attempt: Attempt) -> T:
        """Returns the answer to one request; raises `AbstractCoreError` with its request and attempts."""
        context = attempt.context
        interruption = current_interruption()
        if interruption is not None:
            interruption.check()
        if context.before_request is not None:
            await context.before_request()
        start, started_at = context.runtime.now(), self._clock.time_of_day()
        body: Body | None = None
        failure: BaseException | None = None
        streaming = is_sent = False
        address: Address | None = None
        try:
            address = await self._endpoint.open(context.runtime)
            if self._check_operation is not None:
                self._check_operation(attempt.operation.name)
            request = attempt.request.with_url(address.url_of(attempt.request.url))
            request = sign(request, address.auth, started_at, context.secrets, context.headers)
            is_sent = True
            body = await open_at(address, self._transport, request, remaining(context) or _LONGEST_STEP_SECONDS)
            if attempt.listen is not None:
                body = attempt.listen(body)
            with interruptible(body.abort):
                answer = await self._read(body, attempt, request, started_at)
            streaming = not isinstance(answer, self._whole)
            return answer
        except TimeoutError:
            failure = out_of_time(time_given(context))
            raise locate(failure, context, body) from None
        except SchemaError as error:
            failure = ServerError(f"the reply does not match the schema: {error}")
            raise locate(failure, context, body) from error
        except AbstractCoreError as error:
            failure = self._explain(error, address, attempt) if isinstance(error, ProviderError) else error
            _obey(body, failure)
            self._renew_key(failure, address, context)
            raise locate(failure, context, body) from error.__cause__
        except BaseException as error:
            failure = out_of_time(time_given(context)) if overdue(context) else error
            raise
        finally:
            if streaming or failure is not None:
                context.secrets.add(held_by((address and address.transport) or self._transport))
            seconds = context.runtime.now() - start
            if failure is not None:
                self._note_lost(attempt, body, failure, started_at, seconds, is_sent=is_sent)
            context.attempts.append(_record(context, started_at, seconds, body, failure))
            if isinstance(failure, AbstractCoreError):
                failure.attempts = tuple(context.attempts)
            if failure is not None:
                context.secrets.error(failure)
            if body is not None and not streaming:
                await close_all([body])

    def _note_lost(
        self,
        attempt: Attempt,
        body: Body | None,
        failure: BaseException,
        started_at: float,
        seconds: float,
        *,
        is_sent: bool,
    ) -> None:
        """Notes a request that has failed: that it was not sent, or left, and may be charged without a response."""
        context = attempt.context
        if body is None and not (is_sent and _has_left(failure)):
            context.unsent += 1
        elif _is_lost(body, failure) and self._profile is not None:
            from .estimated_usage import usage_without_response

            usage = usage_without_response(attempt, self._profile, seconds)
            number = len(context.attempts) + 1
            pricing = context.pricing
            context.lost.append(
                BilledResponse(Usage(), "", started_at, context.terms, False, number, lambda: usage, pricing)
            )

    def _renew_key(self, error: AbstractCoreError, address: Address | None, context: CallContext) -> None:
        """Lets the attempt be made once more with another key, if the endpoint can ask for one."""
        if not isinstance(error, AuthenticationError) or error.status is None or context.key_is_renewed:
            return
        endpoint = self._endpoint
        if address is not None and isinstance(endpoint, RenewableEndpoint) and endpoint.renew(address):
            context.key_is_renewed = True
            error.retryable, error.retry_after = True, 0.0

    def _explain(self, error: ProviderError, address: Address | None, attempt: Attempt) -> AbstractCoreError:
        """Adds the request and the cause to `error`."""
        if address is not None:
            error = with_request(error, address.url, attempt.request)
        return self._endpoint.diagnose(error)


def _has_left(failure: BaseException) -> bool:
    """Returns whether a request may have reached the provider that got no response: it is not known of one that was
    cancelled.
    """
    if isinstance(failure, ConnectionFailedError | RequestTimeoutError):
        return failure.connected
    return isinstance(failure, StreamInterruptedError) or not isinstance(failure, Exception)


def _is_lost(body: Body | None, failure: BaseException) -> bool:
    """Returns whether a request that left got no response that could be read. One that reports an error is a response,
    whatever its status.
    """
    if body is None:
        return True
    is_reported = isinstance(failure, ProviderError) and not isinstance(failure, _UNREAD)
    return 200 <= body.status < 300 and (not is_reported or type(failure) is ServerError)


_UNREAD = (ConnectionFailedError, RequestTimeoutError, StreamInterruptedError, UnexpectedResponseError)


class ResponseReader:
    """Reads the responses of one provider: replies, streams of them, and results of other operations."""

    def __init__(self, session: ProviderSession) -> None:
        self._session = session

    async def __call__(self, body: Body, attempt: Attempt, request: WireRequest, started_at: float) -> Answer:
        """Returns the reply in `body`, or a stream of it with its first deltas read.

        An alarm closes the connection at the deadline, since sync code cannot be interrupted while it reads. A stream
        has its own alarm from then on.
        """
        context = attempt.context
        left = remaining(context)
        alarm_off = None if left is None else context.runtime.alarm(left, body.abort)
        try:
            start = b""
            if attempt.operation.is_chat and context.call.stream and 200 <= body.status < 300:
                framer = self._session.transpiler.framer()
                start, is_stream = await read_start(body, framer, context)
                if is_stream:
                    from .decoding import DecodedStream

                    stream = DecodedStream(body, self._session, attempt, framer, start, started_at)
                    await stream.begin()
                    context.streams.append(stream)
                    return stream
            response = WireResponse(body.status, body.headers, await whole_content(body, context, start))
            answer = self._decode(attempt, response, request)
            context.responses.append(self._billed(answer, attempt, started_at))
            if not isinstance(answer, ModelReply):
                return answer
            return with_unique_ids(with_origin(answer, context.call), context.call)
        except ConnectionFailedError:
            remaining(context)
            raise
        finally:
            if alarm_off is not None:
                alarm_off()

    def _billed(self, answer: ModelReply | OperationResult[Any], attempt: Attempt, started_at: float) -> BilledResponse:
        estimate: Callable[[], Usage] | None = None
        # What is made in the background is charged when the finished reply is read.
        if answer.usage.input is None and isinstance(answer, ModelReply) and answer.finish_reason != "paused":
            estimate = partial(_usage_of_reply, attempt, self._session.profile, answer)
        number = len(attempt.context.attempts) + 1
        terms, pricing = attempt.context.terms, attempt.context.pricing
        return BilledResponse(answer.usage, answer.model or "", started_at, terms, True, number, estimate, pricing)

    def _decode(
        self, attempt: Attempt, response: WireResponse, request: WireRequest
    ) -> ModelReply | OperationResult[Any]:
        """Returns the reply or result of a complete response; raises the error that it reports."""
        transpiler = self._session.transpiler
        if not 200 <= response.status < 300:
            raise _with_encoding(transpiler.error(response), response)
        if attempt.operation.is_chat:
            return decode_whole(transpiler, response, request)
        try:
            return attempt.read(response)
        except UnexpectedResponseError as error:
            name_request(error, request)
            raise


def _usage_of_reply(attempt: Attempt, profile: ModelProfile, reply: ModelReply) -> Usage:
    from .estimated_usage import usage_of_reply

    return usage_of_reply(attempt, profile, reply)


def _obey(body: Body | None, error: AbstractCoreError) -> None:
    """Sets `retryable` to what an error response asks for with `x-should-retry`, whatever its status."""
    if body is not None and not 200 <= body.status < 300:
        error.retryable = _SHOULD_RETRY.get(body.headers.get("x-should-retry", ""), error.retryable)


def locate(error: AbstractCoreError, context: CallContext, body: Body | None = None) -> AbstractCoreError:
    """Returns `error` with the provider, the model, the attempts and the last request id, if not set yet."""
    error.provider = error.provider or context.input.provider or None
    error.model = error.model or context.input.model or None
    error.attempts = error.attempts or tuple(context.attempts)
    if error.request_id is None and body is not None:
        error.request_id = _request_id(body)
    elif error.request_id is None and context.attempts:
        error.request_id = context.attempts[-1].request_id
    return error


def _with_encoding(error: ProviderError, response: WireResponse) -> ProviderError:
    """Adds the reason to `error` if the transport did not read the body."""
    encoding = unexpected_encoding(response.headers)
    if encoding is not None and not response.body:
        error.message += f"; its body was not read: unexpected Content-Encoding {shown(encoding)}"
    return error


async def whole_content(body: Body, context: CallContext, start: bytes = b"") -> bytes:
    """Returns all of `body`, of which `start` has been read.

    Raises `RequestTimeoutError` past the deadline and `ServerError` past `MAX_BODY_BYTES`.
    """
    pieces = [start]
    size = len(start)
    while piece := await body.read():
        pieces.append(piece)
        size += len(piece)
        remaining(context)
        if size > MAX_BODY_BYTES:
            raise ServerError(f"the reply is longer than {MAX_BODY_BYTES:,} bytes")
    return b"".join(pieces)


def _record(
    context: CallContext, started_at: float, seconds: float, body: Body | None, failure: BaseException | None
) -> AttemptRecord:
    return AttemptRecord(
        number=len(context.attempts) + 1,
        started_at=started_at,
        seconds=seconds,
        status=body.status if body is not None else None,
        request_id=context.secrets.value(_request_id(body)) if body is not None else None,
        error=type(failure).__name__ if failure is not None else None,
        seconds_waited=_waited(context) if context.seconds_waited else 0.0,
        provider=context.input.provider if context.is_taken_over else None,
        model=context.input.model if context.is_taken_over else None,
    )


def _waited(context: CallContext) -> float:
    """Returns how long the attempt that ends now has waited for limits."""
    return context.seconds_waited - sum(attempt.seconds_waited for attempt in context.attempts)


def _request_id(body: Body) -> str | None:
    return next((body.headers[name] for name in _REQUEST_ID_HEADERS if name in body.headers), None)


def open_at(address: Address, transport: Transport, request: WireRequest, timeout: float) -> Awaitable[Body]:
    """Sends `request` to `address`, which is released when the response is closed."""
    transport = address.transport or transport
    if address.release is None:
        return transport.open(request, timeout)
    return _open_releasing(transport, request, timeout, address.release)


async def _open_releasing(
    transport: Transport, request: WireRequest, timeout: float, release: Callable[[], object]
) -> Body:
    try:
        return _ReleasingBody(await transport.open(request, timeout), release)
    except BaseException:
        release()
        raise


class _ReleasingBody:
    """A body that calls `release` when it is closed, possibly more than once."""

    def __init__(self, body: Body, release: Callable[[], object]) -> None:
        self._body = body
        self._release = release
        self.status: int = body.status
        self.headers: Mapping[str, str] = body.headers
        self.read = body.read

    async def close(self) -> None:
        try:
            await self._body.close()
        finally:
            self._release()

    def abort(self) -> None:
        self._body.abort()
        self._release()


def with_request(error: ProviderError, base: str, request: WireRequest) -> ProviderError:
    """Adds method and URL to an `error` that means that the path does not exist. `base` is the endpoint's URL."""
    missing = isinstance(error, NotFoundError) and not isinstance(error, ModelNotFoundError)
    if not (missing and error.status in (None, _NOT_FOUND)) and error.status != _METHOD_NOT_ALLOWED:
        return error
    error.message = f"{error.message.rstrip('.')}, in answer to {request.method} {shown_url(base + request.url)}"
    path = urlsplit(request.url).path
    if path and base.endswith(path):
        error.hint = f"Leave {path} out of base_url: it is appended for each call."
    return error


def sign(
    request: WireRequest, auth: Auth, now: float, secrets: Secrets, headers: Mapping[str, str] | None = None
) -> WireRequest:
    """Returns `request` with its credentials, which are added to `secrets`, and with `headers` over its own."""
    signed_request, unsigned = auth.sign(request, now), request.headers
    if headers:
        signed_request, unsigned = signed_request.with_headers(headers), {**unsigned, **headers}
    secrets.add_request(signed_request.url, signed_request.headers, unsigned)
    secrets.add(held_by(auth))
    return signed_request


def held_by(holder: object) -> Sequence[str]:
    """Returns the credentials of a `SecretHolder`; none for other objects."""
    return getattr(holder, "secrets", ())


def credentials_of_endpoint(endpoint: Endpoint, secrets: Secrets) -> None:
    """Adds the credentials of `endpoint` to `secrets`, if they are known before the first request."""
    secrets.add(held_by(endpoint))
    if isinstance(endpoint, KnownAddress):
        address = endpoint.address
        sign(_UNSIGNED.with_url(address.url), address.auth, 0.0, secrets)
