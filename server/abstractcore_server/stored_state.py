"""`StoredState`: responses, conversations and files that clients keep here, in the database or for this process."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from abstractcore.errors import ConfigurationError, MissingExtraError, ServerError

from .failures import RequestRefused

if TYPE_CHECKING:
    from .store import Store
    from .store.approved_calls import ApprovedCalls
    from .store.background import BackgroundResponses
    from .store.files import Files, Uploads
    from .store.responses import Conversations, Responses

T = TypeVar("T")
_RETRY_SECONDS = 5
_log = logging.getLogger("abstractcore.server")


@dataclass(frozen=True, slots=True)
class StoredTables:
    """What is stored. Its methods block."""

    responses: Responses
    background: BackgroundResponses
    conversations: Conversations
    files: Files
    uploads: Uploads
    approved_calls: ApprovedCalls


class StoredState:
    """Opens the database of `url` at first use; without one a file that is removed at the end.

    What is stored is kept for `seconds`.
    """

    def __init__(self, url: str | None, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._tables: StoredTables | None = None
        self._store: Store | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    async def run(self, work: Callable[[StoredTables], T]) -> T:
        """Returns the result of `work`, in a thread; raises `RequestRefused` while the database is down."""
        return await asyncio.to_thread(self._run, work)

    def _run(self, work: Callable[[StoredTables], T]) -> T:
        from abstractcore.database import DatabaseError

        try:
            return work(self._open_tables())
        except MissingExtraError:
            raise
        except (DatabaseError, ConfigurationError) as error:
            _log.error("stored responses cannot be used, the database is down: %s", error)
            down = ServerError("stored responses cannot be used at the moment")
            raise RequestRefused(503, down, retry_after=str(_RETRY_SECONDS)) from None

    def close(self) -> None:
        """Closes the database, and removes the file of this process."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            if self._folder is not None:
                self._folder.cleanup()
            self._store = self._tables = self._folder = None

    def _open_tables(self) -> StoredTables:
        from .store import Store
        from .store.approved_calls import ApprovedCalls
        from .store.background import BackgroundResponses
        from .store.files import Files, Uploads
        from .store.responses import Conversations, Responses

        with self._lock:
            if self._tables is None:
                if self._url is None:
                    self._folder = tempfile.TemporaryDirectory(prefix="abstractcore-", ignore_cleanup_errors=True)
                    store = Store(Path(self._folder.name) / "responses.db")
                else:
                    store = Store(self._url)
                self._store = store
                of_store = (store, self._seconds)
                self._tables = StoredTables(
                    Responses(*of_store),
                    BackgroundResponses(*of_store),
                    Conversations(*of_store),
                    Files(store),
                    Uploads(*of_store),
                    ApprovedCalls(*of_store),
                )
            return self._tables
