"""What the views of a session share: its history and file (`SessionState`), and how its calls are made
(`SessionSettings`).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from ..errors import InvalidInputError, SessionBusyError
from ..schema import CallWarning, MediaPart, Message, ModelCall
from ..schema.base_error import shown
from ..schema.calls import canonical_messages
from .compaction import CompactMode
from .history import SessionExchange, SessionHistory
from .meter import ContextMeter, message_tokens
from .options import OWN_OPTIONS, SessionOptions

if TYPE_CHECKING:
    from ..client.llm import LLM
    from .file import SessionFile


@dataclass(slots=True)
class SessionState:
    """What all views of a session share: its history, its file, and whether a call is running."""

    id: str
    history: SessionHistory
    system_prompt: str | None = None
    file: SessionFile | None = None
    notes: tuple[CallWarning, ...] = ()
    unwritten: list[int] = field(default_factory=list[int])
    """The numbers of exchanges that are in memory only, since the file could not be written."""
    _running: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Begins a call or a change; raises `SessionBusyError` while another one runs."""
        if not self._running.acquire(blocking=False):
            hint = "Await the other call first, or use session.fork() for a second one."
            raise SessionBusyError("a call of this session is running.", hint=hint)

    def end(self) -> None:
        """Ends a call or a change."""
        self._running.release()

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()

    def write(self, *, ends_loop: bool = True) -> None:
        """Writes what is in memory only. Raises `SessionError`, and tries again the next time."""
        if self.file is None:
            self.unwritten.clear()
            return
        waiting = {*self.unwritten}
        first = min(waiting, default=0)
        latest = takewhile(lambda each: each.number >= first, reversed(self.history.exchanges)) if waiting else ()
        self.file.write([each for each in latest if each.number in waiting], ends_loop=ends_loop)
        self.unwritten.clear()

    def add_messages(self, messages: Sequence[Message], settings: SessionSettings) -> None:
        """Adds messages to the last exchange, or as new ones, each of which begins with a message of the user."""
        history = self.history
        for message in messages:
            tokens = settings.tokens_of((message,))
            last = history.last
            is_new = message.role == "user" or last is None or len(history.exchanges) <= history.compacted
            if is_new or last is None:
                asked = int(message.role == "user")
                history.add(SessionExchange(history.next_number, (message,), asked=asked, tokens=tokens))
            else:
                whole = canonical_messages((*last.messages, message))
                history.replace_last(replace(last, messages=whole, tokens=last.tokens + tokens, loop=None))
            self.unwritten.append(history.exchanges[-1].number)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How the calls of a session are made: its LLM and tools, options of every call, and when it is compacted."""

    llm: LLM
    tools: Any
    run_tools: Any
    fill: float
    compact: CompactMode
    keep_partial: bool
    defaults: Mapping[str, Any]
    meter: ContextMeter = field(default_factory=ContextMeter)

    def limit(self, request: Mapping[str, Any]) -> int | None:
        """Returns the most tokens of a request, None if the size of the model's context is not known."""
        window = self.llm.profile.context_tokens
        if window is None:
            return None
        answer = request.get("max_output_tokens", self.defaults.get("max_output_tokens"))
        room = window - answer if type(answer) is int and answer < window else window
        return max(1, min(int(self.fill * window), room))

    def tokens_of(self, messages: Sequence[Message]) -> int:
        """Returns about how many tokens messages have for the model."""
        return message_tokens(messages, self._media_tokens)

    def _media_tokens(self, files: Sequence[MediaPart]) -> int:
        call = ModelCall(self.llm.model, (Message("user", tuple(files)),), self.llm.provider)
        return int(self.llm.estimate_tokens(call))


def new_id() -> str:
    """Returns the id of a session: sorted by time, and never the same twice."""
    return f"session-{int(time.time() * 1000):012x}{secrets.token_hex(6)}"


def settings_of(llm: LLM, options: SessionOptions) -> tuple[SessionSettings, str | None]:
    """Returns the settings and the system prompt of a session; raises `InvalidInputError` for an invalid option."""
    given = cast("Mapping[str, Any]", options)
    system_prompt, fill, compact = given.get("system_prompt"), given.get("fill", 0.8), given.get("compact", "summary")
    if not isinstance(system_prompt, str | None):
        raise InvalidInputError(f"expected a text, got {shown(system_prompt)}", path="system_prompt")
    if isinstance(fill, bool) or not isinstance(fill, int | float) or not 0 < fill <= 1:
        raise InvalidInputError(f"expected a share above 0 and up to 1, got {shown(fill)}", path="fill")
    if compact not in ("summary", "drop", None) and not callable(compact):
        hint = 'Use "summary", "drop", None, or a function of the oldest messages.'
        raise InvalidInputError(f"{shown(compact)} is no way to compact", path="compact", hint=hint)
    for name in ("messages", "media"):
        if name in given:
            hint = "Add messages with session.add(...), and pass files to session.ask(prompt, media=[...])."
            raise InvalidInputError("is not an option of every call", path=name, hint=hint)
    defaults = {name: value for name, value in given.items() if name not in OWN_OPTIONS}
    tools = given.get("tools")
    settings = SessionSettings(
        llm,
        tuple(cast("list[Any]", tools)) if isinstance(tools, list | tuple) else tools,
        given.get("run_tools") or False,
        fill,
        compact,
        given.get("keep_partial") is True,
        defaults,
    )
    return settings, system_prompt
