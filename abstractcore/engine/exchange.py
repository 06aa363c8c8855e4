"""`Exchange`: makes one attempt: signs and sends the request, has the response read, and explains failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar
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
    Attempt,
    Auth,
    BilledResponse,
    Body,
    CallContext,
    Clock,
    Endpoint,
    KnownAddress,
    OperationResult,
    OperationsEndpoint,
    Pricing,
    ProviderSession,
    RenewableEndpoint,
    Transport,
    current_interruption,
    interruptible,
)
from ..registry import did_you_mean
from ..schema import AttemptRecord, ModelReply, SchemaError, Usage, WireRequest
from ..scrubbing import Secrets, shown_url
from .endings import close_all

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
        session: ProviderSession | None = None,
        pricing: Pricing | None = None,
    ) -> None:
        self._session = session
        self._pricing = pricing
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
            headers = {**context.span, **context.headers}
            request = sign(request, address.auth, started_at, context.secrets, headers)
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
        elif _is_lost(body, failure) and self._session is not None:
            from .estimated_usage import usage_without_response

            usage = usage_without_response(attempt, self._session.profile, seconds)
            number = len(context.attempts) + 1
            pricing = context.pricing or self._pricing
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
        if isinstance(error, ModelNotFoundError) and self._session is not None:
            similar = self._session.profile.similar
            error.hint = did_you_mean([*similar]) if similar else self._session.models_hint or error.hint
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
