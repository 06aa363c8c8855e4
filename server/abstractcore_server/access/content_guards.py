"""The guards of the configuration, made by the plugins that it names, what they decide, and the texts that they see."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, fields, is_dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

import abstractcore
from abstractcore.concurrency import AsyncRuntime
from abstractcore.configuration import Problems
from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import ChecksCalls, ChecksReplies, ChecksTexts, Edit, TextKind, TextPiece
from abstractcore.registry import failure_text
from abstractcore.schema import ModelCall, ModelReply

from ..configuration.settings import GuardSettings, Settings
from ..models import LLMs

Checked = Literal["call", "tool_call", "result", "reply", "stream"]
"""What a guard has checked: a call; the call of a tool that the server is about to run; a call with its result; a
reply, or a stream."""
GuardOutcome = Literal["allowed", "changed", "refused", "failed_open", "failed_closed", "cancelled"]
"""A guard that fails, or takes too long, lets a call go on (open), or refuses it (closed). One is "cancelled" if the
client left, or the time for the call ended, before it had decided."""


@dataclass(slots=True)
class GuardDecision:
    """What the guard of the table `[guards.NAME]` called `guard` decided of a call of `model`. `changed` are the paths
    in the canonical call or reply that it changed, of a stream the blocks; `seconds` is how long it took.
    """

    guard: str
    checked: Checked
    model: str
    outcome: GuardOutcome = "allowed"
    changed: tuple[str, ...] = ()
    seconds: float = 0.0

    def add_changes(self, paths: tuple[str, ...]) -> None:
        """Adds paths that were changed."""
        self.changed += paths
        if self.outcome == "allowed":
            self.outcome = "changed"

    def data(self) -> dict[str, Any]:
        """Returns the decision as JSON data."""
        return {
            "guard": self.guard,
            "checked": self.checked,
            "model": self.model,
            "outcome": self.outcome,
            "changed": list(self.changed),
            "seconds": round(self.seconds, 6),
        }


def changed_fields(before: ModelCall | ModelReply, after: ModelCall | ModelReply) -> tuple[str, ...]:
    """Returns the paths in which two calls or replies differ, as in "messages[0].parts[1].text". Files are not read."""
    return tuple(_differences(before, after, ""))


def _differences(before: Any, after: Any, path: str) -> Iterator[str]:
    if before is after or before == after:
        return
    if is_dataclass(before) and type(before) is type(after):
        for each in fields(before):
            if each.compare:
                inner = f"{path}.{each.name}" if path else each.name
                yield from _differences(getattr(before, each.name), getattr(after, each.name), inner)
        return
    if isinstance(before, tuple) and isinstance(after, tuple):
        old, new = cast("tuple[Any, ...]", before), cast("tuple[Any, ...]", after)
        if len(old) == len(new):
            for index, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from _differences(one, other, f"{path}[{index}]")
            return
    yield path


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
        """Returns the result of one of its functions; raises `GuardFailure`.

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
        """Returns the result of a function, in a task of its own; raises `GuardFailure`."""
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
        """Returns the result of a function, or its failure: a `SystemExit` in a task would end the server."""
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
        self._closing: asyncio.Task[None] | None = None

    def connect(self) -> None:
        """Makes them; raises `ConfigurationError`, with their lines, for those that are missing or cannot be made."""
        problems = Problems()
        for name in self._settings.guards:
            with problems.collect():
                self._all.append(_connect(name, self._settings, self._services, self._given))
        problems.check()

    def of(self, models: Sequence[str], key: str | None) -> tuple[ConnectedGuard, ...]:
        """Returns the guards that check the calls of a model, which has several names, by a client with a key."""
        return tuple(guard for guard in self._all if guard.applies_to(models, key)) if self._all else ()

    async def close(self, successors: Guards | None = None) -> None:
        """Closes the guards, each once, but for objects that plugins have given to `successors` too."""
        if self._closing is None:
            kept = () if successors is None else successors._all
            self._closing = asyncio.create_task(self._close({id(guard.made) for guard in kept}))
        await self._closing

    async def _close(self, kept: set[int]) -> None:
        closed = {id(guard.made): guard for guard in self._all}
        await asyncio.gather(*(guard.close() for made, guard in closed.items() if made not in kept))


def _connect(
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
    """Returns the fault of an object of a guard, or None."""
    if not isinstance(made, _CHECKS):
        if callable(getattr(made, "check_text", None)):
            return "it has check_text and no hold_back: a number of characters"
        return f"connect returned a {type(made).__name__} without check_call, check_reply and check_text"
    if isinstance(made, ChecksTexts):
        hold_back = cast("object", made.hold_back)
        if type(hold_back) is not int or not 0 <= hold_back <= MOST_HELD_BACK:
            return f"its hold_back is {hold_back!r}: expected a number of characters up to {MOST_HELD_BACK}"
    return None


_SURROGATE = re.compile("[\ud800-\udfff]")


class TextWindow:
    """A text that arrives in pieces. Up to `hold_back` characters are held back, so that what is split over pieces is
    seen as a whole; as many that were sent before are shown again, and what an edit at their end has replaced.

    `fed` and `released` count characters of the text as it arrived. `is_fresh` is set while there is some that no guard
    has seen, `is_changed` once edits have changed it.
    """

    def __init__(self, kind: TextKind, hold_back: int) -> None:
        self.kind: TextKind = kind
        self._hold_back = hold_back
        self._sent: str = ""
        """The end of what was released, as it arrived."""
        self._held: str = ""
        self._ends_in_edit = False
        self.fed = 0
        self.released = 0
        self.is_fresh = False
        self.is_changed: bool = False

    def feed(self, text: str) -> None:
        """Adds text that has arrived."""
        self._held += text
        self.fed += len(text)
        self.is_fresh = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held back."""
        return not self._held

    def piece(self, *, is_last: bool) -> TextPiece:
        """Returns the piece that a guard checks next."""
        return TextPiece(self._sent + self._held, self.kind, is_last)

    def release(self, edits: Sequence[Edit], *, is_last: bool) -> str:
        """Returns the text that may be sent now, changed by the edits of the last piece.

        An edit that begins in it is done as a whole; one that begins in what is held back is done later, when its piece
        is longer. Of one that begins in what was sent, the rest is left out if the beginning was replaced already.
        """
        self.is_fresh = False
        begin = len(self._sent)
        text = self._sent + self._held
        end = len(text) if is_last else max(begin, len(text) - self._hold_back)
        written: list[str] = []
        at = begin
        in_edit, shown_from = self._ends_in_edit, 0
        for edit in edits:
            if edit.end <= begin:
                continue
            if edit.start >= end:
                break
            written.append(text[at : max(at, edit.start)])
            if edit.start >= begin or not in_edit:
                written.append(edit.text)
            at, in_edit, shown_from = edit.end, True, edit.start
            self.is_changed = self.is_changed or edit.text != text[edit.start : edit.end]
        if at < end:
            written.append(text[at:end])
            at, in_edit = end, False
        shown_from = min(shown_from, at - self._hold_back) if in_edit else at - self._hold_back
        self._sent = text[max(0, shown_from, at - MOST_HELD_BACK) : at]
        self._held = text[at:]
        self._ends_in_edit = in_edit
        self.released += at - begin
        return "".join(written)


def checked_edits(verdict: object, piece: TextPiece) -> Sequence[Edit] | None:
    """Returns the edits that a guard has returned, None if there are none; raises `GuardFailure` for anything else."""
    if not isinstance(verdict, list | tuple):
        raise GuardFailure(f"check_text returned a {type(verdict).__name__}: expected edits, a Refusal or None")
    edits: list[Edit] = []
    for edit in cast("Sequence[object]", verdict):
        if not isinstance(edit, Edit):
            raise GuardFailure(f"check_text returned a list with a {type(edit).__name__}: expected edits")
        if not _is_valid(edit, edits[-1].end if edits else 0, len(piece.text)):
            raise GuardFailure("check_text returned edits that are not in order, or outside of the text")
        edits.append(edit)
    return edits or None


def _is_valid(edit: Edit, at: int, length: int) -> bool:
    numbers: tuple[object, object] = edit.start, edit.end
    if not all(type(number) is int for number in numbers) or not is_text(edit.text):
        return False
    return at <= edit.start < edit.end <= length


def is_text(value: object) -> bool:
    """Whether a value is a text that can be sent: without halves of surrogate pairs."""
    return isinstance(value, str) and not _SURROGATE.search(value)
