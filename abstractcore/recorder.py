"""Subscribers to the records of calls, each told in a thread of its own: nothing they do reaches a call."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TypeAlias

from .engine import as_record
from .errors import InvalidInputError
from .ports import CallContext, CallEnd, Price, TraceSubscriber
from .runtimes import BackgroundWorker
from .schema import CallRecord, Capture

Subscriber: TypeAlias = Callable[[CallRecord], Awaitable[object] | object]

_MOST_WAITING = 10_000
_CLOSING_SECONDS = 5.0
_log = logging.getLogger("abstractcore")


class Subscription:
    """What `subscribe` gives. `close`, or leaving `with`, ends it after the records so far have been delivered.

    `dropped` counts the records that were lost because the subscriber was too slow, or the program was ending.
    """

    def __init__(self, subscriber: Subscriber, capture: Capture, forget: Callable[[Subscription], None]) -> None:
        self.dropped = 0
        self._subscriber = subscriber
        self._capture: Capture = capture
        self._forget = forget
        self._workers: dict[int, BackgroundWorker] = {}

    def report(self, context: CallContext, end: CallEnd, price: Price | None) -> None:
        """Have the subscriber told of a call. Returns at once."""
        try:
            worker = self._worker()
        except RuntimeError as error:  # no thread can be started, as when the program is ending
            self._lose(str(error))
            return
        if worker.waiting >= _MOST_WAITING:
            self._lose("it is too slow")
            return
        worker.put(lambda: self._subscriber(as_record(context, end, price, self._capture)))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until the subscriber was told of all calls so far, `timeout` seconds at most; whether it was."""
        worker = self._workers.get(os.getpid())
        return worker is None or worker.flush(timeout)

    def close(self, timeout: float = _CLOSING_SECONDS) -> None:
        """End the subscription, and wait as `flush` does. What was not delivered by then is logged."""
        self._forget(self)
        worker = self._workers.get(os.getpid())
        if worker is None:
            return
        if not worker.is_current and not worker.flush(timeout):
            _log.warning("a subscriber to call records did not finish in %s s: %r", timeout, self._subscriber)
        self._workers.pop(os.getpid(), None)
        worker.stop()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _lose(self, why: str) -> None:
        self.dropped += 1
        if self.dropped == 1:
            _log.warning("records for a subscriber are lost: %s: %r", why, self._subscriber)

    def _worker(self) -> BackgroundWorker:
        """This process's: a forked child has no threads of its parent."""
        worker = self._workers.get(os.getpid())
        if worker is None:
            new = BackgroundWorker("abstractcore-subscriber")
            worker = self._workers.setdefault(os.getpid(), new)
            if worker is not new:
                new.stop()
        return worker


class Recorder:
    """Who is told of calls. It has no locks, which a fork could leave locked for ever."""

    def __init__(self) -> None:
        self._subscriptions: dict[int, Subscription] = {}

    def subscribe(self, subscriber: Subscriber, capture: Capture = "off") -> Subscription:
        """Tell `subscriber` of every call from now on; raises `InvalidInputError` for what cannot be told."""
        if not callable(subscriber):
            raise InvalidInputError(f"expected a function, got {type(subscriber).__name__}", path="subscriber")
        if capture not in ("off", "redacted", "full"):
            raise InvalidInputError(f"expected 'off', 'redacted' or 'full', got {capture!r}", path="capture")
        subscription = Subscription(subscriber, capture, self._forget)
        return self._subscriptions.setdefault(id(subscription), subscription)

    def add(self, subscriber: TraceSubscriber) -> None:
        """Tell a plugin's subscriber, once however often it is added."""
        if id(subscriber) not in self._subscriptions:
            subscription = Subscription(subscriber, subscriber.capture, self._forget)
            self._subscriptions.setdefault(id(subscriber), subscription)

    def _forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(id(subscription), None)

    def wanted(self) -> bool:
        """Whether anybody listens."""
        return bool(self._subscriptions)

    def report(self, context: CallContext, end: CallEnd, price: Price | None) -> None:
        """Have all subscribers told. Returns at once."""
        for subscription in list(self._subscriptions.values()):
            subscription.report(context, end, price)

    def flush(self, timeout: float) -> bool:
        """Wait for all subscribers, `timeout` seconds at most; whether all were told of all calls so far."""
        end = time.monotonic() + timeout
        subscriptions = list(self._subscriptions.values())
        return not [each for each in subscriptions if not each.flush(max(0.0, end - time.monotonic()))]
