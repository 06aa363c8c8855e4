"""`Invocation`: one call of a method of a backend: the attempt of its call, in place of a request to the provider."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ..concurrency.functions import is_async
from ..engine import overdue
from ..errors import AbstractCoreError, AuthenticationError, BackendError
from ..ports import Answer, Attempt, BilledResponse, CallContext
from ..ports.capabilities import MediaBytes
from ..registry import failure_text
from ..schema import MEDIA_PARTS, AttemptRecord, JSONValue, SchemaError, WireRequest, freeze
from .current import CurrentCall
from .results import ResultReader

if TYPE_CHECKING:
    from ..engine import Pipeline
    from ..schema import CallProgress


@dataclass(slots=True)
class Invocation:
    """A call of `method`, a method of the backend `backend_id`. The arguments are set when its files have been read.

    `without_key` returns the error to raise where the backend has no key.
    """

    backend_id: str
    name: str
    method: Callable[..., object]
    reader: ResultReader
    without_key: Callable[[AuthenticationError], AbstractCoreError]
    arguments: tuple[object, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict[str, Any])
    on_progress: Callable[[CallProgress], object] | None = None

    def request(self) -> WireRequest:
        """Returns the call as a request, for records and cassettes, with the hash of each file."""
        shown = {"arguments": [*map(_shown, self.arguments)], **{name: _shown(v) for name, v in self.keywords.items()}}
        body = json.dumps({"backend": self.backend_id, **shown}, ensure_ascii=False, sort_keys=True).encode()
        return WireRequest(f"/{self.name}", {"content-type": "application/json"}, body)

    async def answer(self, pipeline: Pipeline, now: Callable[[], float], attempt: Attempt) -> Answer:
        """Calls the method and returns its result as a reply, or as a stream of parts.

        Raises `BackendError` for exceptions that are none of this package, and `PluginError` for an invalid result.
        `now` returns seconds since the epoch.
        """
        context = attempt.context
        began, started_at, before = context.runtime.now(), now(), len(context.attempts)
        current = CurrentCall(context, pipeline, self.on_progress)
        failure: BaseException | None = None
        try:
            with current.running():
                value = await self._called(context)
                if context.call.stream:
                    from .streams import PieceStream

                    stream = PieceStream(value, self, current, started_at)
                    await stream.begin()
                    context.streams.append(stream)
                    return stream
            reply = self.reader.reply(value)
            context.responses.append(BilledResponse(reply.usage, reply.model or "", started_at))
            return reply
        except BaseException as error:
            failure = self.explained(error, context)
            if failure is error:
                raise
            raise failure from error
        finally:
            if len(context.attempts) == before:
                seconds = context.runtime.now() - began
                name = None if failure is None else type(failure).__name__
                context.attempts.append(AttemptRecord(before + 1, started_at, seconds, error=name))

    async def _called(self, context: CallContext) -> object:
        call = partial(self.method, *self.arguments, **self.keywords)
        if context.call.stream:
            value = call()  # a generator has not begun yet
            return await cast("Awaitable[object]", value) if isinstance(value, Awaitable) else value
        if is_async(self.method):
            return await cast("Awaitable[object]", call())
        value = await context.runtime.invoke(call)
        return [*cast("Iterator[object]", value)] if isinstance(value, Iterator) else value

    def explained(self, error: BaseException, context: CallContext) -> BaseException:
        """Returns `error`, or as a `BackendError` if it is an exception that is none of this package; for one of a key
        that no request has been sent with, what `without_key` returns.
        """
        if not isinstance(error, Exception) or (isinstance(error, TimeoutError) and overdue(context)):
            return error
        if isinstance(error, AuthenticationError) and error.status is None:
            return self.without_key(error)
        if isinstance(error, AbstractCoreError) and not isinstance(error, SchemaError):
            return error
        return BackendError(f"{self.name} failed: {failure_text(error)}", provider=self.backend_id)


def _shown(value: object) -> JSONValue:
    """Returns an argument as JSON."""
    if isinstance(value, MediaBytes):
        return {"media_type": value.media_type, "sha256": value.part.blob.sha256}
    if isinstance(value, MEDIA_PARTS):
        return {"media_type": value.blob.media_type, "sha256": value.blob.sha256}
    if isinstance(value, Mapping | list | tuple | str | int | float | bool | None):
        try:
            return cast("JSONValue", json.loads(json.dumps(freeze(cast(object, value)))))
        except (SchemaError, TypeError, ValueError):
            pass
    return {"type": type(cast(object, value)).__name__}
