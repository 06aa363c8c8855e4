"""`SessionJournal`: the events of a tool loop, in the file of its session, without messages that are there already."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import JournalError, SessionError
from ..schema import JournalEntry, Message, ToolLoop

if TYPE_CHECKING:
    from .file import SessionFile

_BEFORE = "session_messages"
"""The tag of a call in the file, with the place and the number of the messages that were left out."""


class SessionJournal:
    """A journal for `ToolPolicy`, of one loop. `context` returns the messages before the question of the loop."""

    def __init__(self, file: SessionFile, context: Callable[[], Sequence[Message]]) -> None:
        self._file = file
        self._context = context
        self._is_over = False
        self._lock = threading.Lock()

    def end(self) -> None:
        """Ends the call of the loop: what a thread that was left behind would note later is refused."""
        with self._lock:
            self._is_over = True

    def open(self) -> Iterable[JournalEntry]:
        """Returns the events so far. Raises `JournalError`."""
        try:
            entries = self._file.journal()
        except SessionError as error:
            raise JournalError(error.message, hint=error.hint) from None
        context = self._context()
        return [_with_loop(entry, lambda loop: with_context(loop, context)) for entry in entries]

    def append(self, entry: JournalEntry) -> None:
        """Notes an event. Raises `JournalError`."""
        context = self._context()
        written = _with_loop(entry, lambda loop: without_context(loop, context))
        try:
            with self._lock:
                if self._is_over:
                    raise JournalError("the call of this loop has ended.")
                self._file.note(written)
        except SessionError as error:
            raise JournalError(error.message, hint=error.hint) from None

    def close(self) -> None:
        """Does nothing: the session keeps its file open."""


def _with_loop(entry: JournalEntry, change: Callable[[ToolLoop], ToolLoop]) -> JournalEntry:
    return entry if entry.loop is None else replace(entry, loop=change(entry.loop))


def without_context(loop: ToolLoop, context: Sequence[Message]) -> ToolLoop:
    """Returns a loop without the messages of the session in its call: a tag says where they were."""
    messages = loop.call.messages
    first = int(messages[0].role == "system" and not (context and context[0] == messages[0]))
    last = first + len(context)
    if not context or messages[first:last] != tuple(context):
        return loop
    tags = {**loop.call.tags, _BEFORE: json.dumps([first, len(context)])}
    return loop.with_(call=loop.call.with_(messages=(*messages[:first], *messages[last:]), tags=tags))


def with_context(loop: ToolLoop, context: Sequence[Message]) -> ToolLoop:
    """Returns a loop with the messages of the session in its call again; raises `JournalError` if they are missing."""
    tags = {**loop.call.tags}
    noted = tags.pop(_BEFORE, None)
    if noted is None:
        return loop
    first, count = json.loads(noted)
    if count > len(context):
        raise JournalError("the session lacks messages of the loop that its journal holds.")
    messages = loop.call.messages
    whole = (*messages[:first], *context[:count], *messages[first:])
    return loop.with_(call=loop.call.with_(messages=whole, tags=tags))
