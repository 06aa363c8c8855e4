"""`Guards`: the guards of the configuration, made by the plugins that it names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast

import abstractcore
from abstractcore.concurrency import AsyncRuntime
from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import ChecksCalls, ChecksReplies, ChecksTexts
from abstractcore.registry import failure_text

from .llms import LLMs
from .problems import Problems
from .settings import GuardSettings, Settings

_CHECKS = (ChecksCalls, ChecksReplies, ChecksTexts)
MOST_HELD_BACK = 65_536
_MOST_RUNNING = 8
"""So many checks of a guard may go on after their time: with more, it fails without being asked, since each of them may
occupy a thread."""
_log = logging.getLogger("abstractcore.server")


class GuardFailure(Exception):  # noqa: N818 - a reason, which the settings of its guard make an error or a warning
    """A guard has failed: it raised an exception, took too long, or returned something that is not a verdict."""


@dataclass(frozen=True, slots=True)
class ServerGuardServices:
    """What the guards of a server get."""

    environment: Mapping[str, str]
    llms: LLMs

    def llm(self, name: str) -> abstractcore.LLM:
        """Returns the LLM that clients reach under a name; raises `ModelNotFoundError`."""
        return self.llms.find(name).llms[0]


class ConnectedGuard:
    """One guard of the configuration, called `name` there. The functions that it lacks are None. A guard that is
    `read_only` may refuse, and change nothing.
    """

    def __init__(self, name: str, settings: GuardSettings, made: object) -> None:
        self.name = name
        self.settings = settings
        self.made = made
        self.check_call = made.check_call if isinstance(made, ChecksCalls) else None
        self.check_reply = made.check_reply if isinstance(made, ChecksReplies) else None
        self.check_text = made.check_text if isinstance(made, ChecksTexts) else None
        self.hold_back = made.hold_back if isinstance(made, ChecksTexts) else 0
        self.read_only = bool(getattr(made, "read_only", False))
        self._runtime = AsyncRuntime()

    @property
    def running(self) -> int:
        """The number of checks that go on after their time."""
        return self._runtime.abandoned

    def applies_to(self, models: Sequence[str], key: str | None) -> bool:
        """Whether it checks the calls of a model, which has several names, by a client with a key."""
        allowed, keys = self.settings.models, self.settings.keys
        of_model = allowed is None or any(fnmatchcase(model, each) for model in models for each in allowed)
        return of_model and (keys is None or any(fnmatchcase(key or "", each) for each in keys))

    async def ask(self, check: Callable[..., object], *arguments: object) -> object:
        """Returns what one of its functions returns; raises `GuardFailure`.

        It runs in a task without the variables of this context, which are those of the client's call: the guard may
        make calls of its own.
        """
        if self.running >= _MOST_RUNNING:
            raise GuardFailure(f"{self.running} of its checks are still running")
        return await self._answer(check, *arguments)

    async def close(self) -> None:
        """Closes it, if it has `aclose` or `close`; a failure is logged."""
        try:
            found = (getattr(self.made, name, None) for name in ("aclose", "close"))
            close = next((each for each in found if callable(each)), None)
            if close is not None:
                await self._answer(close)
        except Exception as error:
            _log.warning("the guard %r was not closed: %s", self.name, error)

    async def _answer(self, function: Callable[..., object], *arguments: object) -> object:
        """Returns what a function returns, in a task of its own; raises `GuardFailure`."""
        task = asyncio.get_running_loop().create_task(self._outcome(function, arguments), context=Context())
        try:
            outcome = await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            raise GuardFailure("it raised CancelledError") from None
        if isinstance(outcome, GuardFailure):
            raise outcome
        return outcome

    async def _outcome(self, check: Callable[..., object], arguments: tuple[object, ...]) -> object:
        """Returns what a function returns, or its failure: a `SystemExit` in a task would end the server."""
        try:
            return await self._runtime.invoke(check, *arguments, timeout=self.settings.timeout_seconds)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return GuardFailure(failure_text(error))


class Guards:
    """The guards of `settings`, in order, once `connect` has made them."""

    def __init__(self, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
        self._settings = settings
        self._services = services
        self._given = ServerGuardServices(services.environment, llms)
        self._all: list[ConnectedGuard] = []
        self._uses = 0
        self._unused = asyncio.Event()
        self._unused.set()
        self._closing: asyncio.Task[None] | None = None

    def connect(self) -> None:
        """Makes them; raises `ConfigurationError`, with their lines, for those that are missing or cannot be made."""
        problems = Problems()
        for name in self._settings.guards:
            with problems.collected():
                self._all.append(_connected(name, self._settings, self._services, self._given))
        problems.check()

    def of(self, models: Sequence[str], key: str | None) -> tuple[ConnectedGuard, ...]:
        """Returns the guards that check the calls of a model, which has several names, by a client with a key."""
        return tuple(guard for guard in self._all if guard.applies_to(models, key)) if self._all else ()

    @contextmanager
    def used(self) -> Generator[None]:
        """In its body, guards that were retired are not closed."""
        self._uses += 1
        self._unused.clear()
        try:
            yield
        finally:
            self._uses -= 1
            if not self._uses:
                self._unused.set()

    async def retire(self, successors: Guards) -> None:
        """Closes the guards as soon as nothing uses them, but for objects that plugins have given to `successors`
        too.
        """
        await self._unused.wait()
        await self.close(successors)

    async def close(self, successors: Guards | None = None) -> None:
        """Closes the guards, each once."""
        if self._closing is None:
            kept = () if successors is None else successors._all
            self._closing = asyncio.create_task(self._close({id(guard.made) for guard in kept}))
        await self._closing

    async def _close(self, kept: set[int]) -> None:
        closed = {id(guard.made): guard for guard in self._all}
        await asyncio.gather(*(guard.close() for made, guard in closed.items() if made not in kept))


def _connected(
    name: str, settings: Settings, services: abstractcore.Services, given: ServerGuardServices
) -> ConnectedGuard:
    table = settings.guards[name]
    try:
        guard = services.registry.guard(table.guard)
    except InvalidInputError as error:
        raise settings.error(error.message, "guards", name, "guard", hint=error.hint) from None
    try:
        made: Any = guard.connect(table.options, given)
        fault = _fault(made)
    except Exception as error:
        hint = error.hint if isinstance(error, AbstractCoreError) else None
        problem = f"{table.guard!r} cannot be used: {failure_text(error)}"
        raise settings.error(problem, "guards", name, hint=hint) from None
    if fault is not None:
        raise settings.error(f"{table.guard!r} cannot be used: {fault}", "guards", name)
    return ConnectedGuard(name, table, made)


def _fault(made: object) -> str | None:
    """Returns what is wrong with an object of a guard, or None."""
    if not isinstance(made, _CHECKS):
        if callable(getattr(made, "check_text", None)):
            return "it has check_text and no hold_back: a number of characters"
        return f"connect returned a {type(made).__name__} without check_call, check_reply and check_text"
    if isinstance(made, ChecksTexts):
        hold_back = cast("object", made.hold_back)
        if type(hold_back) is not int or not 0 <= hold_back <= MOST_HELD_BACK:
            return f"its hold_back is {hold_back!r}: expected a number of characters up to {MOST_HELD_BACK}"
    return None
