"""`OpenedTraces`: the store of traces that the dashboard shows, opened when it is first asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from abstractcore.database import DatabaseError
from abstractcore.errors import ConfigurationError, InvalidInputError, NotFoundError, ServerError

from ..failures import RequestRefused

if TYPE_CHECKING:
    from abstractcore.traces import CallSummary, TraceStore

STORE_VARIABLE = "ABSTRACTCORE_TRACES_STORE"
_UNREADABLE = "the database of traces cannot be read"
_LATER = "the database of traces is of a later version"
_NO_TRACES = "no traces are kept here. Set ABSTRACTCORE_TRACES to 'redacted' or 'full' where calls are made."
POLL_SECONDS: Final = 1.0
"""How often the store is asked for new calls: other processes may write them."""
LATEST_CALLS: Final = 200
"""So many of the latest calls are read each time: those of several processes may become visible in another order."""
T = TypeVar("T")


class OpenedTraces:
    """The store at `place`, a path or a URL; None for the one in the user's data folder. It is made by nobody here: a
    place without traces is asked again at the next request.
    """

    def __init__(self, place: str | Path | None) -> None:
        self._place = place
        self._store: TraceStore | None = None
        self._lock = threading.Lock()
        self._latest: asyncio.Future[list[CallSummary]] | None = None
        self._read_at = 0.0

    async def run(self, work: Callable[[TraceStore], T]) -> T:
        """Returns the result of `work`, in a thread.

        Raises `RequestRefused` without a store, or if its database fails, and `NotFoundError` for what it has not.
        """
        return await asyncio.to_thread(self._run, work)

    async def latest_calls(self) -> list[CallSummary]:
        """Returns the calls that were stored last, the last one first: read at most once a second for all who ask.

        Raises what `run` raises.
        """
        loop, latest = asyncio.get_running_loop(), self._latest
        is_old = latest is not None and latest.done() and loop.time() - self._read_at >= POLL_SECONDS / 2
        if latest is None or is_old or latest.get_loop() is not loop:
            self._read_at = loop.time()
            reading = self.run(lambda store: store.calls(order="stored", limit=LATEST_CALLS))
            latest = self._latest = asyncio.ensure_future(reading)
        return await asyncio.shield(latest)

    def _run(self, work: Callable[[TraceStore], T]) -> T:
        try:
            store = self._opened()
        except ConfigurationError:  # its message may have the path of the file, which is the operator's
            raise RequestRefused(404, NotFoundError(_NO_TRACES)) from None
        except DatabaseError as error:
            raise RequestRefused(503, ServerError(_UNREADABLE)) from error
        try:
            return work(store)
        except ConfigurationError as error:
            raise RequestRefused(503, ServerError(_LATER)) from error
        except DatabaseError as error:
            self.close()  # the file may have been replaced: the next request opens it again
            raise RequestRefused(503, ServerError(_UNREADABLE)) from error
        except InvalidInputError as error:
            if error.path == "trace_id":
                raise RequestRefused(404, NotFoundError(error.message)) from None
            raise

    def _opened(self) -> TraceStore:
        from abstractcore.traces import TraceStore

        with self._lock:
            if self._store is None:
                self._store = TraceStore.existing(self._place)
            return self._store

    def close(self) -> None:
        """Closes the database."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
