"""Awaits possibly awaitable results from sync code."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class AwaitableRunner:
    """An event loop of one thread, created when first needed, and closed at the end of `with`."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def finish(self, result: object) -> object:
        """Returns `result`, or awaits it if it is awaitable, in a copy of the current context."""
        if not isinstance(result, Awaitable):
            return result
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        awaited = _awaited(cast("Awaitable[object]", result))
        return self._runner.run(awaited, context=contextvars.copy_context())

    def __enter__(self) -> AwaitableRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._runner is not None:
            self._runner.close()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
