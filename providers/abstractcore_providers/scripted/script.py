"""`Script`: the replies of a scripted model and its calls so far. Thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from abstractcore.errors import AbstractCoreError, ConfigurationError, ScriptExhaustedError
from abstractcore.ports import ScriptedReply
from abstractcore.schema import ModelCall, ModelReply
from abstractcore.schema.amounts import counted

from .playing import ScriptedPlayback

_ACCEPTED = "a text, a ScriptedReply, a ModelReply, an AbstractCoreError to raise, or a function of the call"


class Script:
    """`replies` in order, and the `calls` so far. Raises `ConfigurationError` for invalid replies."""

    def __init__(self, replies: object) -> None:
        self.calls: list[ModelCall] = []
        self._lock = threading.Lock()
        self._for_all = replies if _is_function(replies) else None
        self._replies = [] if self._for_all else _checked(replies)

    async def play(self, call: ModelCall) -> ScriptedPlayback:
        """Returns the next reply; raises a scripted error, or `ScriptExhaustedError`."""
        with self._lock:
            self.calls.append(call)
            number = len(self.calls)
        path = "replies" if self._for_all else f"replies[{number - 1}]"
        answer = self._for_all or self._reply(number)
        if _is_function(answer):
            answer = cast("Callable[[ModelCall], Any]", answer)(call)
            if isinstance(answer, Awaitable):
                answer = await cast("Awaitable[object]", answer)
            path += ", return value of the function"
        if isinstance(answer, AbstractCoreError):
            raise answer.with_traceback(None)
        if isinstance(answer, str):
            answer = ScriptedReply.text(answer)
        if not isinstance(answer, ScriptedReply | ModelReply):
            raise _refused(path, answer)
        return ScriptedPlayback.of(answer, call)

    def _reply(self, number: int) -> object:
        if number > len(self._replies):
            raise ScriptExhaustedError(
                f"the script has {counted(len(self._replies), 'reply', 'replies')}, but this is call {number}.",
                hint="Add a reply to create_llm('scripted', replies=[...]).",
            )
        return self._replies[number - 1]


def _checked(replies: object) -> list[object]:
    if isinstance(replies, str) or not isinstance(replies, Sequence):
        raise ConfigurationError(
            "`replies` must be a list, or a function of the call.", hint="For example: replies=['hello']."
        )
    entries = list(cast("Sequence[object]", replies))
    for index, entry in enumerate(entries):
        if not isinstance(entry, str | ScriptedReply | ModelReply | AbstractCoreError) and not _is_function(entry):
            raise _refused(f"replies[{index}]", entry)
    return entries


def _is_function(entry: object) -> bool:
    """Returns whether `entry` is a function. A class is not: an error class instead of an error is a mistake."""
    return callable(entry) and not isinstance(entry, type)


def _refused(path: str, entry: object) -> ConfigurationError:
    kind = f"the class {entry.__name__}" if isinstance(entry, type) else type(entry).__name__
    return ConfigurationError(f"{path}: expected {_ACCEPTED}, got {kind}")
