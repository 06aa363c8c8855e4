"""`ResponseCache`: middleware that answers a call that was answered before, without a request."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from ...copying import NotCopied
from ...errors import AbstractCoreError, InvalidInputError, OutputValidationError
from ...ports import Answer, AnyInput, CacheHit, CallContext, CallEnd, CallNext, OperationResult
from ...schema import ModelReply, SchemaError
from ...schema.base_error import shown
from .entries import Entry, copied, entry_for, is_same_question, key_of
from .flights import Flight, Flights, KeptStream
from .stores import Entries, MemoryEntries

T = TypeVar("T")
_CLOCK_DIFFERENCE: Final = 5.0
"""Seconds by which the clocks of processes may differ, or a call may have begun before the one that answers it."""
_MOST_REFUSED: Final = 1_000
_PAUSE_SECONDS: Final = 10.0
"""How long a database that failed is not used."""
_log = logging.getLogger("abstractcore")
_asking: ContextVar[frozenset[str]] = ContextVar("abstractcore_cached_calls", default=frozenset())
"""The keys of the calls that this code is part of: one of them never waits for itself."""
_bypassed: ContextVar[frozenset[int]] = ContextVar("abstractcore_bypassed_caches", default=frozenset())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
        if ttl is not None and not (_is_number(ttl) and 0 < ttl < math.inf):
            raise InvalidInputError(f"expected seconds above 0 or None, got {shown(ttl)}", path="ttl")
        if not isinstance(max_entries, int) or not _is_number(max_entries) or max_entries < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a number of at least 1, got {shown(max_entries)}", path="max_entries")
        if isinstance(operations, str) or not isinstance(operations, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a list of names, got {shown(operations)}", path="operations")
        names = [*operations]
        if not all(isinstance(each, str) for each in names):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected names, got {shown(names)}", path="operations")
        self._ttl = ttl
        self._operations = frozenset(names)
        self._entries = _entries_at(store, max_entries)
        self._flights = Flights()
        self._failed_at: float | None = None
        self._refused: dict[str, float] = {}
        """When the answers were asked for that calls failed with, by their keys."""

    def around_call(self, context: CallContext, next: CallNext, settings: Callable[[], str] = str) -> Awaitable[Answer]:
        """Answers the call from the cache, or makes it, and keeps a complete answer."""
        name = context.operation.name
        if not (context.operation.is_chat or name in self._operations) or id(self) in _bypassed.get():
            return next(context)
        try:
            key = key_of(context, settings())
        except SchemaError:  # an input with objects that JSON cannot express, such as those of a backend
            return next(context)
        return self._answer(context, next, key)

    def for_settings(self, digest: Callable[[], str]) -> _OfOneLLM:
        """Returns the middleware of an LLM with these settings: LLMs with others have answers of their own."""
        return _OfOneLLM(self, digest)

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
        if key in _asking.get():
            entry = await self._fresh(key, context)
            return await next(context) if entry is None else self._hit(key, entry, context)
        while True:
            flight, is_first = self._flights.join(key, streamed=getattr(context.input, "stream", False))
            if is_first:
                return await self._look_up_or_ask(context, next, key, flight)
            if not await flight.has_landed(context.runtime):
                return await next(context)
            entry = flight.landed.result()
            if entry is not None:
                return self._hit(key, entry, context)

    async def _look_up_or_ask(self, context: CallContext, next: CallNext, key: str, flight: Flight) -> Answer:
        """Answers the call that equal ones wait for."""

        def drop(end: CallEnd | None = None) -> None:
            self._flights.land(key, flight, None)

        try:
            entry = await self._fresh(key, context)
            if entry is not None:
                self._flights.land(key, flight, entry)
                return self._hit(key, entry, context)
            keep = partial(self._keep, context, context.input, key, flight)
            token = _asking.set(_asking.get() | {key})
            try:
                answer = await next(context)
            finally:
                _asking.reset(token)
            self._forget_if_refused(key, context.started_at, context)
            if isinstance(answer, ModelReply | OperationResult):
                await keep(answer)
                return answer
        except BaseException:
            drop()
            raise
        context.at_end.append(drop)
        return KeptStream(answer, flight, keep, drop)

    async def _keep(
        self,
        context: CallContext,
        asked: AnyInput,
        key: str,
        flight: Flight,
        answer: ModelReply | OperationResult[object],
    ) -> None:
        """Stores an answer, unless middleware asked something else, or a budget another model."""
        is_substitute = any(each.code == "model_substituted" for each in context.warnings)
        kept = not is_substitute and is_same_question(asked, context.asked or context.input)
        entry = entry_for(answer, context) if kept else None
        try:
            if entry is not None:
                oldest = None if self._ttl is None else entry.stored_at - self._ttl
                await self._stored(context, partial(self._entries.put, key, entry, oldest))
        finally:
            self._flights.land(key, flight, entry)

    def _hit(self, key: str, entry: Entry, context: CallContext) -> Answer:
        answer = copied(entry).answer
        context.cache_hit = CacheHit(entry.stored_at, answer.usage, answer.model or context.input.model)
        context.warnings += [each for each in entry.warnings if each not in context.warnings]
        self._forget_if_refused(key, entry.stored_at, context)
        return answer

    def _forget_if_refused(self, key: str, stored_at: float, context: CallContext) -> None:
        """Gives the answer of a call that fails with it, as one that does not match its schema, to no further one."""

        def forget(end: CallEnd) -> None:
            if isinstance(end.error, OutputValidationError):
                if len(self._refused) >= _MOST_REFUSED:
                    self._refused.clear()
                self._refused[key] = stored_at

        context.at_end.append(forget)

    async def _fresh(self, key: str, context: CallContext) -> Entry | None:
        """Returns the entry of a key unless it was refused, is too old, or from the future: clocks are set back."""
        entry = await self._stored(context, partial(self._entries.get, key))
        if entry is None or self._refused.get(key) == entry.stored_at:
            return None
        age = context.started_at - entry.stored_at
        return entry if self._ttl is None or -_CLOCK_DIFFERENCE <= age < self._ttl else None

    async def _stored(self, context: CallContext, function: Callable[[], T]) -> T | None:
        """Calls a function of the store; returns None if it fails, which is logged once until it works again. One that
        failed is not used for some seconds.
        """
        if isinstance(self._entries, MemoryEntries):
            return function()
        failed_at = self._failed_at
        if failed_at is not None and abs(context.started_at - failed_at) < _PAUSE_SECONDS:
            return None
        try:
            found = await context.runtime.call(function)
        except (AbstractCoreError, OSError) as error:
            if failed_at is None:
                _log.warning("the response cache does not work, so that calls are made: %s", error)
            self._failed_at = context.started_at
            return None
        self._failed_at = None
        return found


class _OfOneLLM:
    """A cache as the middleware of one LLM, whose `settings` return their digest."""

    def __init__(self, cache: ResponseCache, settings: Callable[[], str]) -> None:
        self._cache = cache
        self._settings = settings

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Answers the call from the cache, or makes it."""
        return self._cache.around_call(context, next, self._settings)


def _entries_at(store: str | Path | None, max_entries: int) -> Entries:
    if store is None:
        return MemoryEntries(max_entries)
    if not isinstance(store, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a path, a URL or None, got {type(store).__name__}", path="store")
    from .database import DatabaseEntries

    is_url = isinstance(store, str) and "://" in store
    return DatabaseEntries(store if is_url else Path(store), max_entries)
