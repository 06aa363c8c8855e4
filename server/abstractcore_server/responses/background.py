"""Responses in the background: made without their client, and followed from the store."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import (
    AbstractCoreError,
    BadRequestError,
    ContentFilterError,
    InvalidInputError,
    QuotaError,
    RateLimitError,
    ServerError,
)
from abstractcore.schema import ModelCall

from ..access.admission import CallLease
from ..calls import answers
from ..calls.passthrough import digest_of
from ..calls.streaming import EventStream, StreamedAnswer
from ..context import Reply, RequestContext
from ..dialects.openai_responses import keepalive
from ..failures import RequestRefused, refusal, shown_error
from ..records import AuditEntry, AuditLog, Receipt, save_receipt
from ..requests import Sink
from .items import ResponseFields, compact, event_bytes, events_of
from .running import RunningResponse
from .turns import ResponseTurn

if TYPE_CHECKING:
    from ..calls.jobs import AnswerJob
    from ..store.background import ResponseKey
    from ..stored_state import StoredTables

_OPTIONS = "background_options"
_NOT_SENT = ("background", _OPTIONS, "store")
"""Fields that no provider gets: it makes the response as any other one, and keeps nothing."""
_RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0)
_BEGINS = ("response.created", "response.queued", "response.in_progress")
_log = logging.getLogger("abstractcore.server")


async def make_in_background(turn: ResponseTurn) -> Reply:
    """Answers with a response that has been begun, or with its events as they come.

    Raises `RateLimitError` if as many as may be are being made, and for a key that may not call a model now.
    """
    job = await turn.job.with_file_contents()
    context = job.context
    response = BackgroundResponse(turn, job)
    await response.begin()
    if job.client_request.stream:
        return FollowedResponse(context, response.key)
    return context.answer(response.body)


@dataclass(slots=True)
class _OwnContext(RequestContext):
    """The context of a response in the background, which outlives that of its request."""

    response: BackgroundResponse

    async def begin(self, call: ModelCall) -> CallLease:
        """Lets a call in; the first one begins the response."""
        await self.response.call_begins()
        lease = await RequestContext.begin(self, call)
        self.response.call_begun()
        return lease


class BackgroundResponse:
    """Makes one response, and stores its events as they come. `body` is the response at its beginning.

    It is the sink of the model's stream: the events get the id and the numbers of this response.
    """

    def __init__(self, turn: ResponseTurn, job: AnswerJob) -> None:
        context = job.context
        entry = AuditEntry(context.entry.trace_id, context.entry.method, context.entry.route, context.entry.key)
        entry.receipt = Receipt(context.entry.receipt.request)
        grant = replace(context.grant, call_seconds=context.state.settings.limits.background_seconds)
        parts = (context.request, context.connection, context.state, context.dialect, grant, context.time, entry)
        self._turn = turn
        self._job = replace(job, context=_OwnContext(*parts, self), client_request=_client_request(job))
        self._state = context.state
        self._entry = entry
        self._stored = context.state.stored
        id = context.dialect.new_id(job.stamp)
        self.key: ResponseKey = (context.grant.owner, id)
        queued: Mapping[str, Any] = {
            "id": id,
            "object": "response",
            "status": "queued",
            "model": job.client_request.model,
            "output": [],
            "error": None,
            "incomplete_details": None,
        }
        self.body = ResponseFields({**job.client_request.data, **job.client_request.own}, int(context.time)).complete(
            queued
        )
        self.stream_head: Mapping[str, str] = {}
        self._final: Mapping[str, Any] | None = None
        self._is_in_progress = False

    async def begin(self) -> None:
        """Stores the response, and begins to make it; returns when its call was let in.

        Raises what is wrong with the request, and `RateLimitError` for a key that may not call a model now.
        """
        from ..store.responses import StoredResponse

        stored = StoredResponse(self.body, self._turn.items, self._turn.previous)
        owner, backgrounds = self.key[0], self._state.backgrounds
        self._begun = asyncio.get_running_loop().create_future()
        with backgrounds.place(self._state.settings.limits.backgrounds):
            begun = (owner, stored, backgrounds.process, _BEGINS[:2])
            await self._stored.run(lambda tables: tables.background.begin(*begun))
            backgrounds.add(self.key, self._run)
        await self._begun

    async def call_begins(self) -> None:
        """Stores that the response is in progress, before its first call is let in."""
        if not self._is_in_progress:
            self._is_in_progress = True
            in_progress = {"status": "in_progress"}
            await self._stored.run(lambda tables: tables.background.change(self.key, in_progress, _BEGINS[2]))

    def call_begun(self) -> None:
        """Lets `begin` return."""
        if not self._begun.done():
            self._begun.set_result(None)

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Stores events of the model, but for those of the beginning and the end, which are this response's own."""
        events: list[Mapping[str, Any]] = []
        for event in events_of(data):
            response = event.get("response")
            if response is None:
                events.append(event)
            elif event["type"] not in _BEGINS:
                fields = {"abstractcore": event["abstractcore"]} if "abstractcore" in event else {}
                self._final = {**response, **fields}
        if events:
            if not await self._store(lambda tables: tables.background.append(self.key, events)):
                raise asyncio.CancelledError  # it was cancelled or deleted: the call ends as a cancelled one
            self._running.notify()

    async def _run(self, running: RunningResponse) -> None:
        self._running = running
        status = "cancelled"
        try:
            with self._state.uses.count():
                status = await self._make()
        except Exception as error:
            if not self._begun.done():
                await self._take_back(error)
                return
            status = await self._fail(error)
        finally:
            running.is_ending = True
            running.notify()
            if not self._begun.done():
                self._begun.set_exception(RequestRefused(503, ServerError("the server is being stopped")))
            elif self._begun.exception() is None:
                await self._account(status)

    async def _make(self) -> str:
        """Makes the response; returns its status."""
        if self._job.client_request.stream:
            await StreamedAnswer(self._job).play(self)
        else:
            answer = await answers.whole_response(self._job, await answers.all_answers(self._job))
            self._final = json.loads(answer.body)
        if self._final is None:
            raise ServerError("the model's answer was cut off")
        return await self._end(self._final)

    async def _take_back(self, error: Exception) -> None:
        """Removes a response whose request is refused."""
        try:
            with suppress(RequestRefused):  # which was logged, and it will expire
                await self._stored.run(lambda tables: tables.responses.delete(*self.key))
        finally:
            self._begun.set_exception(error)

    async def _fail(self, error: Exception) -> str:
        """Ends the response with an error; returns its status."""
        shown = shown_error(error, self._entry.trace_id, self._state.hidden_addresses)
        try:
            return await self._end({"status": "failed", "error": {"code": _code(shown), "message": shown.message}})
        except RequestRefused:
            _log.error("the end of the response %s was not stored", self.key[1])
            return "failed"

    async def _end(self, changes: Mapping[str, Any]) -> str:
        """Stores the end of the response; returns its status, which another one may have decided before."""
        self._running.is_ending = True
        own = {name: self.body[name] for name in ("id", "created_at")}
        changes = {**changes, **own}
        status: str = changes["status"]
        turn = self._turn

        items = [] if status == "failed" else [*turn.items, *changes["output"]]
        end = (self.key, changes, f"response.{status}", turn.conversation, items)
        ended = await self._store(lambda tables: tables.background.end(*end))
        self.body = {**self.body, **changes}
        return status if ended else "cancelled"

    async def _store(self, work: Callable[[StoredTables], bool]) -> bool:
        """Returns the result of `work` on the store. Tried again while it is down: an answer may have been paid."""
        for seconds in _RETRY_SECONDS:
            with suppress(RequestRefused):
                return await self._stored.run(work)
            await asyncio.sleep(seconds)
        return await self._stored.run(work)

    async def _account(self, status: str) -> None:
        """Counts what the response has used, in an entry of its own."""
        settings, entry = self._state.settings.server, self._entry
        entry.background = status
        self._state.metrics.counts.count_calls(entry)
        body = compact(self.body)
        if settings.audit_log is not None:
            AuditLog(settings.audit_log).write(entry, 200, digest_of(body))
        if settings.receipts is not None and entry.receipt.calls:
            await save_receipt(settings.receipts, entry.trace_id, entry.receipt, body)


def _client_request(job: AnswerJob) -> Any:
    """Returns the request to the model; raises `RequestRefused` for a time of day that only a vendor can promise."""
    data = cast("dict[str, Any]", json.loads(job.client_request.wire.body))
    options = data.get(_OPTIONS)
    window = cast("Mapping[str, Any]", options).get("completion_window") if isinstance(options, dict) else None
    if window not in (None, "soonest"):
        message = "responses in the background are made at once: expected soonest"
        raise refusal(400, message, path=f"{_OPTIONS}.completion_window")
    body = compact({name: value for name, value in data.items() if name not in _NOT_SENT})
    return replace(job.client_request, wire=replace(job.client_request.wire, body=body), is_changed=True)


def _code(error: AbstractCoreError) -> str:
    """Returns the code of an error in a response (`ResponseError` of the package openai)."""
    if isinstance(error, QuotaError | RateLimitError):
        return "rate_limit_exceeded"
    is_of_request = isinstance(error, BadRequestError | ContentFilterError | InvalidInputError)
    return "invalid_prompt" if is_of_request else "server_error"


_POLL_SECONDS = 0.25
"""How often the store is asked for news of a response that another process makes."""


class FollowedResponse(EventStream):
    """The events of a response with numbers above `after`, whichever process makes it. A client that leaves changes
    nothing.
    """

    def __init__(self, context: RequestContext, key: ResponseKey, after: int = -1) -> None:
        super().__init__(context, "cancel")
        self._key = key
        self._after = after

    async def play(self, sink: Sink) -> None:
        """Writes the events, until the response has ended or was deleted."""
        state = self._context.state
        has_begun = has_ended = False
        while not has_ended:
            running = state.backgrounds.find(self._key)
            news = asyncio.Event() if running is None else running.news
            page = await state.stored.run(lambda tables: tables.background.events(self._key, self._after))
            if page is None:
                break
            has_ended = page.has_ended
            if page.events or not has_begun:  # a client whose events are still to come gets the head of the response
                has_begun = True
                await sink.write(b"".join(map(event_bytes, page.events)))
            if page.events:
                self._has_events = True
                self._after = page.events[-1]["sequence_number"]
            elif not has_ended:
                await self._wait(news, is_made_here=running is not None)
        await sink.write(b"", more=False)

    async def _wait(self, news: asyncio.Event, *, is_made_here: bool) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                await news.wait()
                return
        if not is_made_here:
            await self._context.state.stored.run(lambda tables: tables.background.free_expired(self._key))

    def _head(self) -> Mapping[str, str]:
        return {"content-type": "text/event-stream; charset=utf-8"}

    def _heartbeat(self) -> bytes:
        return keepalive(begun=self._has_events)

    def _error(self, error: AbstractCoreError) -> bytes:
        return self._context.format.renderer().error(error)
