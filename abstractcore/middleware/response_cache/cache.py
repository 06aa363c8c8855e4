"""`ResponseCache`: middleware that answers a call that was answered before, without a request."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TypeVar

from ...copying import NotCopied
from ...errors import AbstractCoreError, InvalidInputError
from ...ports import Answer, CacheHit, CallContext, CallEnd, CallNext, OperationResult
from ...schema import ModelReply
from .entries import Entry, entry_for, key_of, settings_digest
from .flights import Flight, Flights, KeptStream
from .stores import Entries, MemoryEntries

T = TypeVar("T")
_log = logging.getLogger("abstractcore")
_asking: ContextVar[frozenset[str]] = ContextVar("abstractcore_cached_calls", default=frozenset())
"""The keys of the calls that this code is part of: one of them never waits for itself."""
_bypassed: ContextVar[frozenset[int]] = ContextVar("abstractcore_bypassed_caches", default=frozenset())


class ResponseCache(NotCopied):
    """Middleware that keeps complete answers, and gives them to equal calls without a request:
    `create_llm(..., middleware=[ResponseCache("cache.db", ttl=3600)])`.

    `store` is the path of a SQLite file or the URL of a database, which processes share; None for the memory of this
    process. An answer is given again for `ttl` seconds; None for ever. Beyond `max_entries`, the oldest are removed.
    `operations` names those besides chats whose results are kept, such as "embed"; others may have effects.

    Calls are equal if all that is sent is: tags, parents, timeouts and `stream` do not count. Answers with
    a temperature are kept too: use `bypass` for a new one. A hit costs nothing: responses and records have its
    `cached_at` and `saved_cost`. Equal calls at the same time are asked once.

    A database that fails is logged once, and never fails a call. Raises `InvalidInputError` for invalid arguments,
    `MissingExtraError` for a database without SQLAlchemy.
    """

    _holds = "answers, and calls that wait for one"
    _instead = "Make one with the same path or URL in the other process."

    def __init__(
        self,
        store: str | Path | None = None,
        *,
        ttl: float | None = None,
        max_entries: int = 10_000,
        operations: Collection[str] = (),
    ) -> None:
        if ttl is not None and (isinstance(ttl, bool) or not 0 < ttl < math.inf):
            raise InvalidInputError(f"expected seconds above 0 or None, got {ttl!r}", path="ttl")
        if isinstance(max_entries, bool) or max_entries < 1:
            raise InvalidInputError(f"expected a number of at least 1, got {max_entries!r}", path="max_entries")
        if isinstance(operations, str):
            raise InvalidInputError("expected a list of names, got str", path="operations")
        self._ttl = ttl
        self._operations = frozenset(operations)
        self._entries = _entries_at(store, max_entries)
        self._flights = Flights()
        self._failed = False

    def around_call(self, context: CallContext, next: CallNext, settings: str = "") -> Awaitable[Answer]:
        """Answers the call from the cache, or makes it, and keeps a complete answer."""
        name = context.operation.name
        if not (context.operation.is_chat or name in self._operations) or id(self) in _bypassed.get():
            return next(context)
        return self._answer(context, next, key_of(context, settings))

    def for_settings(self, options: Mapping[str, object]) -> _OfOneLLM:
        """Returns the middleware of an LLM with these options: LLMs with others have answers of their own."""
        return _OfOneLLM(self, settings_digest(options))

    @contextmanager
    def bypass(self) -> Generator[None]:
        """Makes the calls in its body as if there were no cache: answers are neither looked up nor kept."""
        token = _bypassed.set(_bypassed.get() | {id(self)})
        try:
            yield
        finally:
            _bypassed.reset(token)

    def clear(self) -> None:
        """Removes all answers; blocks. Raises `DatabaseError`."""
        self._entries.clear()

    async def _answer(self, context: CallContext, next: CallNext, key: str) -> Answer:
        while True:
            entry = await self._fresh(key, context)
            if entry is not None:
                return _hit(entry, context)
            if key in _asking.get():
                return await next(context)
            flight, is_first = self._flights.join(key, streamed=getattr(context.input, "stream", False))
            if is_first:
                return await self._ask(context, next, key, flight)
            if not await flight.has_landed(context.runtime):
                return await next(context)
            entry = flight.landed.result()
            if entry is not None:
                return _hit(entry, context)

    async def _ask(self, context: CallContext, next: CallNext, key: str, flight: Flight) -> Answer:
        """Makes a call that equal ones wait for."""
        asked = (context.input.provider, context.input.model)
        land = partial(self._flights.land, key, flight)

        async def keep(answer: ModelReply | OperationResult[object]) -> None:
            same = (context.input.provider, context.input.model) == asked  # a budget may have chosen another model
            entry = entry_for(answer, context) if same else None
            try:
                if entry is not None:
                    oldest = None if self._ttl is None else entry.stored_at - self._ttl
                    await self._stored(context, partial(self._entries.put, key, entry, oldest))
            finally:
                land(entry)

        def drop(end: CallEnd | None = None) -> None:
            land(None)

        token = _asking.set(_asking.get() | {key})
        try:
            answer = await next(context)
            if isinstance(answer, ModelReply | OperationResult):
                await keep(answer)
                return answer
        except BaseException:
            drop()
            raise
        finally:
            _asking.reset(token)
        context.at_end.append(drop)
        return KeptStream(answer, flight, keep, drop)

    async def _fresh(self, key: str, context: CallContext) -> Entry | None:
        """Returns the entry of a key unless it is too old, or from too far in the future: clocks are set back."""
        entry = await self._stored(context, partial(self._entries.get, key))
        if entry is None or self._ttl is None:
            return entry
        return entry if abs(context.started_at - entry.stored_at) < self._ttl else None

    async def _stored(self, context: CallContext, function: Callable[[], T]) -> T | None:
        """Calls a function of the store; returns None if it fails, which is logged once until it works again."""
        try:
            if isinstance(self._entries, MemoryEntries):
                return function()
            found = await context.runtime.call(function)
        except (AbstractCoreError, OSError) as error:
            if not self._failed:
                self._failed = True
                _log.warning("the response cache does not work, so that calls are made: %s", error)
            return None
        self._failed = False
        return found


class _OfOneLLM:
    """A cache as the middleware of one LLM."""

    def __init__(self, cache: ResponseCache, settings: str) -> None:
        self._cache = cache
        self._settings = settings

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Answers the call from the cache, or makes it."""
        return self._cache.around_call(context, next, self._settings)


def _hit(entry: Entry, context: CallContext) -> Answer:
    answer = entry.answer
    model = answer.model or context.input.model
    context.cache_hit = CacheHit(entry.stored_at, answer.usage, model)
    context.warnings += [each for each in entry.warnings if each not in context.warnings]
    return answer


def _entries_at(store: str | Path | None, max_entries: int) -> Entries:
    if store is None:
        return MemoryEntries(max_entries)
    if not isinstance(store, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a path, a URL or None, got {type(store).__name__}", path="store")
    from .database import DatabaseEntries

    is_url = isinstance(store, str) and "://" in store
    return DatabaseEntries(store if is_url else Path(store), max_entries)
