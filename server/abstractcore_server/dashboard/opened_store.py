"""`OpenedTraces`: the store of traces that the dashboard shows, opened when it is first asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from abstractcore.database import DatabaseError
from abstractcore.errors import ConfigurationError, InvalidInputError, NotFoundError, ServerError

from ..failures import RequestRefused

if TYPE_CHECKING:
    from abstractcore.traces import TraceStore

STORE_VARIABLE = "ABSTRACTCORE_TRACES_STORE"
_UNREADABLE = "the database of traces cannot be read"
_LATER = "the database of traces is of a later version"
_NO_TRACES = "no traces are kept here. Set ABSTRACTCORE_TRACES to 'redacted' or 'full' where calls are made."
T = TypeVar("T")


class OpenedTraces:
    """The store at `place`, a path or a URL; None for the one in the user's data folder. It is made by nobody here: a
    place without traces is asked again at the next request.
    """

    def __init__(self, place: str | Path | None) -> None:
        self._place = place
        self._store: TraceStore | None = None
        self._lock = threading.Lock()

    async def run(self, work: Callable[[TraceStore], T]) -> T:
        """Returns the result of `work`, in a thread.

        Raises `RequestRefused` without a store, or if its database fails, and `NotFoundError` for what it has not.
        """
        return await asyncio.to_thread(self._run, work)

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
