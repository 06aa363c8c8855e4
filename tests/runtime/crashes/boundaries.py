"""The boundaries that a worker passes, counted in its process, which is killed at one of them.

They are methods of the runtime and of SQLAlchemy, wrapped in the process of a test: the code of the runtime knows
nothing of them, and no time is measured.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from abstractcore.database import Statement
from abstractruntime import FunctionEffect
from abstractruntime.store import Change, Lease, Store, items

NAMES: Final = (
    "claimed",
    "item taken",
    "step made",
    "statement executed",
    "before COMMIT",
    "after COMMIT",
    "started",
    "before the effect",
    "in the effect, before its work",
    "in the effect, after its work",
    "effect executed",
    "before delivery",
    "in delivery",
    "delivered",
    "released",
)
"""The boundaries of a plain program, in the order in which a run passes them."""
NOTES: Final = ("start", "request", "reply", "decision", "intent", "step", "end")
"""What the journal of an agent notes, each in a transaction of its own; a `step` is the result of a tool."""

_passages: Counter[str] = Counter()
_trace: list[str] = []
_lock = threading.Lock()
_notes: list[str] = []
"""What this process is noting in a journal."""
_actions: dict[tuple[str, int], Callable[[], object]] = {}


def passed(name: str) -> None:
    """Counts a passage; does what was asked for at this one."""
    with _lock:
        _passages[name] += 1
        _trace.append(name)
        action = _actions.pop((name, _passages[name]), None) or _actions.pop(("any", len(_trace)), None)
    if action is not None:
        action()


def kill() -> None:
    """Ends this process at once: nothing of it is executed any more."""
    os.kill(os.getpid(), signal.SIGKILL)


def at(name: str, number: int, action: Callable[[], object]) -> None:
    """Asks for an action at the passage of this number, from 1; `any` counts those of all boundaries."""
    _actions[name, number] = action


def write_trace(file: Path) -> None:
    """Writes the names of all passages, in their order."""
    file.write_text(json.dumps(_trace), encoding="utf-8")


def install() -> None:
    """Wraps the boundaries in this process, and counts from now on."""
    _passages.clear()
    _trace.clear()
    _around(Store, "claim", after=lambda _, result: passed("claimed") if result else None)
    _around(Store, "next_item", after=lambda _, result: passed("item taken") if result else None)
    _around(Store, "commit", before=_committing, after=_committed)
    _around(Store, "deliver_sent", before=lambda _: passed("before delivery"), after=lambda *_: passed("delivered"))
    _around(items, "deliver_added", after=lambda *_: passed("in delivery"))
    _around(Statement, "run", after=lambda *_: passed("statement executed"))
    _around(Connection, "commit", before=_of_writer("before COMMIT"), after=_of_writer("after COMMIT"))
    _around(
        FunctionEffect,
        "execute",
        before=lambda _: passed("before the effect"),
        after=lambda *_: passed("effect executed"),
    )


def _committing(arguments: tuple[Any, ...]) -> None:
    change: Change = arguments[2]
    _notes[:] = [body["entry"]["kind"] for kind, body in change.records if kind == "journal"]
    if not _notes:
        passed("step made")


def _committed(arguments: tuple[Any, ...], result: object) -> None:
    lease: Lease = arguments[1]
    if _notes:
        _notes.clear()
    elif lease.released:
        passed("released")
    elif lease.inflight is not None and lease.inflight["state"] == "started":
        passed("started")


def _of_writer(name: str) -> Callable[..., None]:
    """Returns a function that counts a COMMIT of a transaction that writes."""

    def count(arguments: tuple[Any, ...], result: object = None) -> None:
        if not arguments[0].get_execution_options().get("abstractcore_reads"):
            passed(f"{name} of a note: {_notes[0]}" if _notes else name)

    return count


def _around(
    owner: Any,
    name: str,
    *,
    before: Callable[[tuple[Any, ...]], object] = lambda _: None,
    after: Callable[[tuple[Any, ...], Any], object] = lambda *_: None,
) -> None:
    function = getattr(owner, name)

    @wraps(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        before(arguments)
        result = function(*arguments, **keywords)
        after(arguments, result)
        return result

    setattr(owner, name, wrapped)
