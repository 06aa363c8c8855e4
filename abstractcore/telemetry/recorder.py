"""Subscribers to the records of calls, each notified in a thread of its own: nothing they do reaches a call."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import TypeAlias

from ..concurrency import GATHERING_SECONDS, ProcessWorker
from ..errors import InvalidInputError
from ..ports import CallContext, CallEnd, Price, TraceSubscriber
from ..schema import CallRecord, Capture, content_size, size_of
from .call_records import EndedCall

Listener: TypeAlias = Callable[[CallContext, CallEnd], None]
"""Is called with every call that has ended."""
Subscriber: TypeAlias = Callable[[CallRecord], Awaitable[object] | object]

_MOST_WAITING = 10_000
_MOST_BYTES_WAITING = 64 * 1024 * 1024
"""How much content may wait for one subscriber. A single record may be larger."""
_MOST_UNWRITTEN = 1_000
_MOST_BYTES_UNWRITTEN = 8 * 1024 * 1024
"""How many calls, and how much of their content, may wait to be made records of."""
_CLOSING_SECONDS = 5.0
_log = logging.getLogger("abstractcore")
_notified: ContextVar[tuple[Subscriber, ...]] = ContextVar("abstractcore_notified", default=())
"""The subscribers in whose notifications this code runs, the first of them outermost. A call that is made here is not
reported to them: each report would cause the next."""


class Subscription:
    """What `subscribe` gives. `close`, or leaving `with`, ends it after the records so far have been delivered.

    `dropped` counts the records that were lost because the subscriber was too slow, so that too many of them were
    waiting or too much content in them, or because it was being closed or the program was ending.
    """

    def __init__(self, subscriber: Subscriber, capture: Capture, recorder: Recorder) -> None:
        self.dropped = 0
        self._subscriber = subscriber
        self._capture: Capture = capture
        self._recorder = recorder
        self._closed = False
        self._worker = ProcessWorker("abstractcore-subscriber")

    def concerns(self, origin: tuple[Subscriber, ...]) -> bool:
        """Whether it is to be notified of a call that notifications of `origin` have caused."""
        return self._subscriber not in origin

    def report(self, call: EndedCall, origin: tuple[Subscriber, ...]) -> None:
        """Have the subscriber notified of a call. Returns at once; what waits holds no more than its record does."""
        if self._closed:
            self._lose("the call ended while it was being closed")
            return
        try:
            worker = self._worker.begun()
        except RuntimeError as error:
            self._lose(str(error))
            return
        if worker.waiting >= _MOST_WAITING:
            self._lose("it is too slow")
            return
        record = call.record(self._capture)
        size = 0 if self._capture == "off" else size_of(record)
        if worker.waiting_bytes and worker.waiting_bytes + size > _MOST_BYTES_WAITING:
            self._lose("it is too slow for their content")
            return
        try:
            worker.put(partial(self._notify, record, origin), size)
        except RuntimeError as error:
            self._lose(str(error))
        if self._closed:  # meanwhile: its thread may be a new one
            worker.stop()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until the subscriber was notified of all calls so far, `timeout` seconds at most; whether it was."""
        end = None if timeout is None else time.monotonic() + timeout
        written = self._recorder.flush_writer(timeout)
        return self._worker.flush(None if end is None else max(0.0, end - time.monotonic())) and written

    def close(self, timeout: float = _CLOSING_SECONDS) -> None:
        """End the subscription, and wait as `flush` does. What was not delivered by then is logged."""
        self._recorder.forget(self)
        if not self._worker.is_current and not self.flush(timeout):
            _log.warning("a subscriber to call records did not finish in %s s: %r", timeout, self._subscriber)
        self._closed = True
        self._worker.stop()

    def end_thread(self) -> None:
        """End its thread, and the event loop of a coroutine function in it; the next record begins another."""
        self._worker.stop()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _notify(self, record: CallRecord, origin: tuple[Subscriber, ...]) -> Awaitable[object] | object:
        """In the subscriber's thread: call it, and mark what it does as caused by it."""
        _notified.set((*origin, self._subscriber))
        return self._subscriber(record)

    def _lose(self, why: str) -> None:
        self.dropped += 1
        if self.dropped == 1:
            _log.warning("records for a subscriber are lost: %s: %r", why, self._subscriber)


class Recorder:
    """Who is notified of calls. It has no locks, which a fork could leave locked for ever.

    Records are written in a thread that no subscriber can hold up, so that no call waits there with its files; their
    digests take longer than all else that is done for a record. Where much waits, the caller writes the record.
    """

    def __init__(self) -> None:
        self._subscriptions: dict[int, Subscription] = {}
        self._writer = ProcessWorker("abstractcore-records", GATHERING_SECONDS)

    def subscribe(self, subscriber: Subscriber, capture: Capture = "off") -> Subscription:
        """Notify `subscriber` of every call from now on; raises `InvalidInputError` for what cannot be notified."""
        if not callable(subscriber):
            raise InvalidInputError(f"expected a function, got {type(subscriber).__name__}", path="subscriber")
        if capture not in ("off", "redacted", "full"):
            raise InvalidInputError(f"expected 'off', 'redacted' or 'full', got {capture!r}", path="capture")
        subscription = Subscription(subscriber, capture, self)
        return self._subscriptions.setdefault(id(subscription), subscription)

    def add(self, subscriber: TraceSubscriber) -> None:
        """Notify a plugin's subscriber, once however often it is added."""
        if id(subscriber) not in self._subscriptions:
            self._subscriptions.setdefault(id(subscriber), Subscription(subscriber, subscriber.capture, self))

    def forget(self, subscription: Subscription) -> None:
        """Notify it of no further call."""
        self._subscriptions.pop(id(subscription), None)

    def wanted(self) -> bool:
        """Whether anybody listens."""
        return bool(self._subscriptions)

    def listener(self, price: Price | None) -> Listener | None:
        """For a call that begins here: what is to be called at its end; None if nobody is to be notified of it."""
        if not self._subscriptions:
            return None
        origin = _notified.get()
        if origin and not self._concerned(origin):
            return None
        return partial(self._report, origin, price)

    def flush(self, timeout: float) -> bool:
        """Wait for all subscribers, `timeout` seconds at most; whether all were notified of all calls so far."""
        return all(notified for _, notified in self._flushed(timeout))

    def close(self, timeout: float) -> None:
        """As `flush`; then end the threads that have nothing left to do. A later call begins them again."""
        for subscription, notified in self._flushed(timeout):
            if notified:
                subscription.end_thread()
        self._writer.stop()

    def flush_writer(self, timeout: float | None) -> bool:
        """Wait until all calls so far are with their subscribers, `timeout` seconds at most; whether they are."""
        return self._writer.flush(timeout)

    def _flushed(self, timeout: float) -> list[tuple[Subscription, bool]]:
        end = time.monotonic() + timeout
        subscriptions = list(self._subscriptions.values())
        return [(each, each.flush(max(0.0, end - time.monotonic()))) for each in subscriptions]

    def _concerned(self, origin: tuple[Subscriber, ...]) -> list[Subscription]:
        return [each for each in list(self._subscriptions.values()) if each.concerns(origin)]

    def _report(self, origin: tuple[Subscriber, ...], price: Price | None, context: CallContext, end: CallEnd) -> None:
        """Have all subscribers of now notified. Returns at once."""
        subscriptions = self._concerned(origin)

        def write() -> None:
            call = EndedCall(context, end, price)
            for subscription in subscriptions:
                subscription.report(call, origin)

        size = content_size(context.call)
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
