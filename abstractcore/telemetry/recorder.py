"""Notifies subscribers of records, each in a thread of its own: their errors and delays do not affect calls."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

from .. import schema
from ..concurrency import GATHERING_SECONDS, ProcessWorker
from ..copying import NotCopied
from ..errors import AbstractCoreError, InvalidInputError
from ..ports import CallContext, CallEnd, Pricing, TraceSubscriber

Listener: TypeAlias = Callable[[CallContext, CallEnd], None]
"""Called with every finished call."""
Subscriber: TypeAlias = Callable[[Any], Awaitable[object] | object]
"""Called with each record: a `CallRecord`, or with `records="all"` a `TraceRecord`."""
Records: TypeAlias = Literal["calls", "all"]
"""Which records a subscriber gets: those of calls, or also those of interactions and tool runs."""


class Ended(Protocol):
    """A call, an interaction or a tool run that has ended."""

    def record(self, capture: schema.Capture, *, in_tree: bool) -> schema.TraceRecord:
        """Returns the record, with as much content as `capture` allows, for a subscriber that gets all records, or one
        that gets those of calls.
        """
        ...


Tracer: TypeAlias = Callable[[Callable[[], Ended], int], None]
"""Called with each interaction and tool run that has ended: with the function that makes it, which runs in the
background, and the bytes of its content that wait until then."""

_MOST_WAITING = 10_000
_MOST_BYTES_WAITING = 64 * 1024 * 1024
"""The maximum content that waits for one subscriber. A single record may be larger."""
_MOST_UNWRITTEN = 1_000
_MOST_BYTES_UNWRITTEN = 8 * 1024 * 1024
"""The maximum number of calls, and of bytes of their content, that wait to become records."""
_CLOSING_SECONDS = 5.0
_log = logging.getLogger("abstractcore")
_notified: ContextVar[tuple[Subscriber, ...]] = ContextVar("abstractcore_notified", default=())
"""The subscribers in whose notifications this code runs, outermost first. They are not notified of calls that are made
here: each notification would cause the next."""


class Subscription(NotCopied):
    """A subscription. `close`, or the end of `with`, ends it after the records so far have been delivered.

    `dropped` counts the records that were lost because the subscriber was too slow (too many records or too much
    content were waiting), because the subscription was being closed, or because the program was ending.
    """

    _holds = "a thread"
    _instead = "Subscribe in the other process."

    def __init__(
        self, subscriber: Subscriber, capture: schema.Capture, recorder: Recorder, records: Records = "calls"
    ) -> None:
        self.dropped = 0
        self.records: Records = records
        self._subscriber = subscriber
        self._capture: schema.Capture = capture
        self._recorder = recorder
        self._closed = False
        self._worker = ProcessWorker("abstractcore-subscriber")

    def concerns(self, origin: tuple[Subscriber, ...]) -> bool:
        """Returns whether to notify it of a call made in notifications of `origin`."""
        return self._subscriber not in origin

    def report(self, ended: Ended, origin: tuple[Subscriber, ...]) -> None:
        """Queues the notification. Returns at once; the queue holds no more content than the record.

        `ended` is the call that ended, `origin` the subscribers whose own calls led to it.
        """
        if self._closed:
            self._lose("the subscription was being closed")
            return
        try:
            worker = self._worker.begun()
        except RuntimeError as error:
            self._lose(str(error))
            return
        if worker.waiting >= _MOST_WAITING:
            self._lose("the subscriber is too slow")
            return
        record = ended.record(self._capture, in_tree=self.records == "all")
        from ..schema import size_of

        size = 0 if self._capture == "off" else size_of(record)
        if worker.waiting_bytes and worker.waiting_bytes + size > _MOST_BYTES_WAITING:
            self._lose("the subscriber is too slow: too much content is waiting")
            return
        try:
            worker.put(partial(self._notify, record, origin), size)
        except RuntimeError as error:
            self._lose(str(error))
        if self._closed:  # closed meanwhile: the thread may be a new one
            worker.stop()

    def flush(self, timeout: float | None = None) -> bool:
        """Waits up to `timeout` seconds until the subscriber has been notified of all calls so far; returns success."""
        end = None if timeout is None else time.monotonic() + timeout
        written = self._recorder.flush_writer(timeout)
        return self._worker.flush(None if end is None else max(0.0, end - time.monotonic())) and written

    def close(self, timeout: float = _CLOSING_SECONDS) -> None:
        """Ends the subscription after waiting as `flush` does. Logs a warning if records were not delivered."""
        self._recorder.forget(self)
        if not self._worker.is_current and not self.flush(timeout):
            _log.warning("a subscriber to call records did not finish in %s s: %r", timeout, self._subscriber)
        self._closed = True
        self._worker.stop()

    def end_thread(self) -> None:
        """Ends its thread, and the event loop in it; the next record starts a new thread."""
        self._worker.stop()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _notify(self, record: schema.TraceRecord, origin: tuple[Subscriber, ...]) -> Awaitable[object] | object:
        """Calls the subscriber, and marks calls that it makes. Runs in the subscriber's thread."""
        _notified.set((*origin, self._subscriber))
        return self._subscriber(record)

    def _lose(self, why: str) -> None:
        self.dropped += 1
        if self.dropped == 1:
            _log.warning("records for a subscriber were dropped: %s: %r", why, self._subscriber)


class Recorder:
    """Notifies subscribers of calls. It has no locks, which a fork could leave locked forever.

    Records are made in a background thread that subscribers cannot block, since computing digests takes long. If too
    much is waiting there, the caller makes the record itself.
    """

    def __init__(self) -> None:
        self._subscriptions: dict[int, Subscription] = {}
        self._writer = ProcessWorker("abstractcore-records", GATHERING_SECONDS)

    def subscribe(
        self, subscriber: Subscriber, capture: schema.Capture = "off", records: Records = "calls"
    ) -> Subscription:
        """Notifies `subscriber` of every later call, with `records="all"` also of interactions and tool runs; raises
        `InvalidInputError` unless it is callable.
        """
        if not callable(subscriber):
            raise InvalidInputError(f"expected a function, got {type(subscriber).__name__}", path="subscriber")
        if capture not in ("off", "redacted", "full"):
            raise InvalidInputError(f"expected 'off', 'redacted' or 'full', got {capture!r}", path="capture")
        if records not in ("calls", "all"):
            raise InvalidInputError(f"expected 'calls' or 'all', got {records!r}", path="records")
        subscription = Subscription(subscriber, capture, self, records)
        return self._subscriptions.setdefault(id(subscription), subscription)

    def add(self, subscriber: TraceSubscriber) -> None:
        """Adds a plugin's subscriber; has no effect if it was added before."""
        if id(subscriber) not in self._subscriptions:
            records: Records = getattr(subscriber, "records", "calls")
            subscription = Subscription(subscriber, subscriber.capture, self, records)
            self._subscriptions.setdefault(id(subscriber), subscription)

    def forget(self, subscription: Subscription) -> None:
        """Removes a subscription."""
        self._subscriptions.pop(id(subscription), None)

    def wanted(self) -> bool:
        """Whether there are subscribers."""
        return bool(self._subscriptions)

    def listener(self, pricing: Pricing) -> Listener | None:
        """Returns the listener for a call that begins here; None if no subscriber wants it."""
        if not self._subscriptions:
            return None
        origin = _notified.get()
        if origin and not self._subscriptions_for(origin):
            return None
        return partial(self._report, origin, pricing)

    def tracer(self) -> Tracer | None:
        """Returns the tracer of an interaction that begins here; None if no subscriber wants its record."""
        if not any(each.records == "all" for each in list(self._subscriptions.values())):
            return None
        origin = _notified.get()

        def trace(make: Callable[[], Ended], size: int) -> None:
            wanted = [each for each in self._subscriptions_for(origin) if each.records == "all"]
            self._write(wanted, origin, make, size)

        return trace

    def flush(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds until subscribers have been notified of all calls so far; returns success."""
        return all(notified for _, notified in self._flush_each(timeout))

    def close(self, timeout: float) -> None:
        """Waits as `flush` does, then ends idle threads. A later call starts them again."""
        for subscription, notified in self._flush_each(timeout):
            if notified:
                subscription.end_thread()
        self._writer.stop()

    def flush_writer(self, timeout: float | None) -> bool:
        """Waits up to `timeout` seconds until all calls so far are queued for subscribers; returns whether they are."""
        return self._writer.flush(timeout)

    def _flush_each(self, timeout: float) -> list[tuple[Subscription, bool]]:
        end = time.monotonic() + timeout
        subscriptions = list(self._subscriptions.values())
        return [(each, each.flush(max(0.0, end - time.monotonic()))) for each in subscriptions]

    def _subscriptions_for(self, origin: tuple[Subscriber, ...]) -> list[Subscription]:
        return [each for each in list(self._subscriptions.values()) if each.concerns(origin)]

    def _report(self, origin: tuple[Subscriber, ...], pricing: Pricing, context: CallContext, end: CallEnd) -> None:
        """Queues the notification of all current subscribers. Returns at once."""
        from .call_records import EndedCall, content_of

        arrived = end.error.partial if isinstance(end.error, AbstractCoreError) else None
        make = partial(EndedCall, context, end, pricing, arrived)
        self._write(self._subscriptions_for(origin), origin, make, content_of(context))

    def _write(
        self,
        subscriptions: list[Subscription],
        origin: tuple[Subscriber, ...],
        make: Callable[[], Ended],
        size: int,
    ) -> None:
        """Has the background thread notify `subscriptions`; if too much waits there, it is done at once."""

        def write() -> None:
            ended = make()
            for subscription in subscriptions:
                subscription.report(ended, origin)

        try:
            writer = self._writer.begun()
        except RuntimeError:
            write()
            return
        waiting = writer.waiting_bytes
        if writer.waiting >= _MOST_UNWRITTEN or (waiting and waiting + size > _MOST_BYTES_UNWRITTEN):
            write()
            return
        try:
            writer.put(write, size)
        except RuntimeError:
            write()


_default: dict[str, Recorder] = {}


def default_recorder() -> Recorder:
    """Returns the recorder of LLMs created without `services`: one object per process."""
    return _default.get("default") or _default.setdefault("default", Recorder())
