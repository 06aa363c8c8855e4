"""`Accounts`: the calls that were let in. Each is settled once, however it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from abstractcore.schema import Usage

from .access import Lease, Settlement
from .settlements import Spending, not_sent, outcome_of

T = TypeVar("T")
_log = logging.getLogger("abstractcore.server")
Worker = Callable[..., Awaitable[Settlement]]
"""Returns what a function returns of its arguments, of a large call from a worker thread."""


@dataclass(slots=True, eq=False)
class Account:
    """A call that was let in. Without `spending`, it has sent nothing that a vendor charges for."""

    spending: Spending | None = None

    def settlement(self, error: BaseException | None) -> Settlement:
        """Returns what the call has used, which ended with an error, if it did."""
        return not_sent(error) if self.spending is None else self.spending.settlement(error)


class Accounts:
    """The accounts of all requests that are open."""

    def __init__(self) -> None:
        self._open: set[object] = set()
        self._none_open = asyncio.Event()
        self._none_open.set()

    @asynccontextmanager
    async def account(self, begin: Callable[[], Coroutine[Any, Any, Lease]], work: Worker) -> AsyncGenerator[Account]:
        """Lets a call in by `begin`, and settles it at the end of `async with`. A task that is cancelled while one of
        them runs does not end it: what was reserved would never be released.
        """
        account = Account()
        self._enter(account)
        try:
            lease = await self._lease(begin)
            error: BaseException | None = None
            try:
                yield account
            except BaseException as raised:
                error = raised
                raise
            finally:
                await asyncio.shield(self._begun(_settle(lease, account, error, work)))
        finally:
            self._leave(account)

    async def settled(self, seconds: float) -> None:
        """Returns when no account is open, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none_open.wait()

    async def _lease(self, begin: Callable[[], Coroutine[Any, Any, Lease]]) -> Lease:
        lease = self._begun(begin())
        try:
            return await asyncio.shield(lease)
        except asyncio.CancelledError as error:
            self._begun(_give_back(lease, error))
            raise

    def _begun(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._enter(task)
        task.add_done_callback(self._leave)
        return task

    def _enter(self, item: object) -> None:
        self._open.add(item)
        self._none_open.clear()

    def _leave(self, item: object) -> None:
        self._open.discard(item)
        if not self._open:
            self._none_open.set()


async def _settle(lease: Lease, account: Account, error: BaseException | None, work: Worker) -> None:
    try:
        settlement = await work(account.settlement, error)
    except Exception:  # the lease would hold a place of its key
        _log.exception("what a call has used cannot be computed")
        settlement = Settlement(outcome_of(error), Usage(), estimated=True)
    await lease.settle(settlement)


async def _give_back(begun: asyncio.Task[Lease], error: BaseException) -> None:
    """Settles the lease of a call that was cancelled before it was let in, unless it was refused."""
    await asyncio.wait([begun])
    if not begun.cancelled() and begun.exception() is None:
        await begun.result().settle(not_sent(error))
