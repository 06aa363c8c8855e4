"""One request and its answer: sign, send, read, decode, and say what went wrong."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import AbstractCoreError, ProviderError, RequestTimeoutError, ServerError
from ..ports import Answer, Attempt, Body, CallContext, ProviderSession, Transport
from ..schema import AttemptRecord, SchemaError, WireResponse
from .decoding import MAX_BODY_BYTES, DecodedStream

_LONGEST_STEP_SECONDS = 600.0


class Exchange:
    """Makes attempts at one provider. `time_of_day` gives seconds since the epoch."""

    def __init__(self, session: ProviderSession, transport: Transport, time_of_day: Callable[[], float]) -> None:
        self._session = session
        self._transport = transport
        self._time_of_day = time_of_day

    async def __call__(self, attempt: Attempt) -> Answer:
        """The answer to one request; raises our errors only, located and with all attempts so far."""
        context = attempt.context
        began, started_at = context.runtime.now(), self._time_of_day()
        body: Body | None = None
        failure: AbstractCoreError | None = None
        streaming = False
        try:
            async with context.runtime.timeout(remaining(context)):
                address = await self._session.endpoint.open(context.runtime)
                request = address.auth.sign(attempt.request.with_url(address.url + attempt.request.url), started_at)
                body = await self._transport.open(request, remaining(context) or _LONGEST_STEP_SECONDS)
                if context.call.stream and 200 <= body.status < 300:
                    stream = DecodedStream(body, self._session, context)
                    await stream.begin()
                    streaming = True
                    return stream
                pieces: list[bytes] = []
                size = 0
                while piece := await body.read():
                    pieces.append(piece)
                    size += len(piece)
                    check_progress(context, size)
                response = WireResponse(body.status, body.headers, b"".join(pieces))
                if not 200 <= body.status < 300:
                    raise self._session.transpiler.error(response)
                return self._session.transpiler.decode(response)
        except TimeoutError:
            failure = out_of_time(context)
            raise located(failure, context, body) from None
        except SchemaError as error:
            failure = ServerError(f"the reply does not fit the schema: {error}")
            raise located(failure, context, body) from error
        except AbstractCoreError as error:
            failure = self._session.endpoint.diagnose(error) if isinstance(error, ProviderError) else error
            raise located(failure, context, body) from error.__cause__
        finally:
            seconds = context.runtime.now() - began
            context.attempts.append(_record(attempt.number, started_at, seconds, body, failure))
            if failure is not None:
                failure.attempts = tuple(context.attempts)
            if body is not None and not streaming:
                await body.close()


def located(error: AbstractCoreError, context: CallContext, body: Body | None = None) -> AbstractCoreError:
    """`error` with the provider, the model, the attempts and the last request's id, where it does not have them yet."""
    error.provider = error.provider or context.call.provider or None
    error.model = error.model or context.call.model or None
    error.attempts = error.attempts or tuple(context.attempts)
    if error.request_id is None and body is not None:
        error.request_id = _request_id(body)
    elif error.request_id is None and context.attempts:
        error.request_id = context.attempts[-1].request_id
    return error


def remaining(context: CallContext) -> float | None:
    """Seconds to the deadline; raises `RequestTimeoutError` if none are left. None without a deadline."""
    if context.deadline is None:
        return None
    left = context.deadline - context.runtime.now()
    if left <= 0:
        raise out_of_time(context)
    return left


def check_progress(context: CallContext, size: int) -> None:
    """Raise `RequestTimeoutError` past the deadline and `ServerError` past `MAX_BODY_BYTES`."""
    if context.deadline is not None and context.runtime.now() >= context.deadline:
        raise out_of_time(context)
    if size > MAX_BODY_BYTES:
        raise ServerError(f"the reply is longer than {MAX_BODY_BYTES:,} bytes")


def out_of_time(context: CallContext) -> RequestTimeoutError:
    """The error for a call that did not finish by its deadline."""
    return RequestTimeoutError("the call did not finish in the time given", hint="Give it more with timeout=SECONDS.")


def _record(
    number: int, started_at: float, seconds: float, body: Body | None, failure: AbstractCoreError | None
) -> AttemptRecord:
    return AttemptRecord(
        number=number,
        started_at=started_at,
        seconds=seconds,
        status=body.status if body is not None else None,
        request_id=_request_id(body) if body is not None else None,
        error=type(failure).__name__ if failure is not None else None,
    )


def _request_id(body: Body) -> str | None:
    return body.headers.get("x-request-id") or body.headers.get("request-id")
