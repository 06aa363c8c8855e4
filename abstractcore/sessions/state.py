"""What the views of a session share: its history and file (`SessionState`), and how its calls are made
(`SessionSettings`).
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from ..errors import AbstractCoreError, InvalidInputError, SessionBusyError, SessionError
from ..lazy_modules import LazyModule
from ..ports import Runtime
from ..schema import CallWarning, MediaPart, Message, ModelCall, SchemaError
from ..schema.amounts import counted
from ..schema.base_error import shown
from ..schema.calls import canonical_messages
from .compaction import CompactMode
from .history import SessionExchange, SessionHistory
from .meter import ContextMeter, message_tokens
from .options import OWN_OPTIONS, SessionOptions

if TYPE_CHECKING:
    from ..client import llm as llms
    from ..client.llm import LLM
    from .file import SessionFile
else:
    llms = LazyModule("abstractcore.client.llm")

_log = logging.getLogger("abstractcore")


@dataclass(slots=True)
class SessionState:
    """What all views of a session share: its history, its file, and whether a call is running."""

    id: str
    history: SessionHistory
    system_prompt: str | None = None
    file: SessionFile | None = None
    notes: tuple[CallWarning, ...] = ()
    unwritten: dict[int, SessionExchange] = field(default_factory=dict[int, "SessionExchange"])
    """Exchanges by number that are in memory only, since the file could not be written."""
    _locks: dict[int, threading.Lock] = field(default_factory=dict[int, threading.Lock])
    """A lock for each process: in a forked child, the calls of its parent do not run."""

    def begin(self, *, changes: bool = True) -> None:
        """Begins a call or a change; raises `SessionBusyError` while another one runs, and for a change `SessionError`
        if the file takes none: then nothing has been sent.
        """
        lock = self._locks.setdefault(os.getpid(), threading.Lock())
        if not lock.acquire(blocking=False):
            hint = "Await the other call first, or use session.fork() for a second one."
            raise SessionBusyError("a call of this session is running.", hint=hint)
        if changes and self.file is not None:
            try:
                self.file.check_writable()
            except BaseException:
                lock.release()
                raise

    def end(self) -> None:
        """Ends a call or a change."""
        lock = self._locks.get(os.getpid())
        if lock is not None:  # a child of a fork during a call has none
            lock.release()

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()

    def write(self, *, ends_loop: bool = True) -> None:
        """Writes what is in memory only. Raises `SessionError`, and tries again the next time."""
        waiting = {**self.unwritten}
        if self.file is not None:
            try:
                self.file.write([*waiting.values()], ends_loop=ends_loop)
            except AbstractCoreError as error:
                problem = f"{error.message} The exchange is in the session's memory, and is written with the next one."
                raise SessionError(problem, hint="session.save(path) writes it elsewhere.") from error
        for number, exchange in waiting.items():
            if self.unwritten.get(number) is exchange:
                del self.unwritten[number]

    def write_last(self) -> None:
        """Writes before the file is closed what is in memory only; a warning is logged if that fails."""
        if self.unwritten:
            try:
                self.write(ends_loop=False)
            except SessionError as error:
                _log.warning("%s of a session lost: %s", counted(len(self.unwritten), "exchange"), error.message)

    def keep(self, exchange: SessionExchange) -> None:
        """Notes that an exchange of the history is to be written."""
        self.unwritten[exchange.number] = exchange

    def add_messages(self, messages: Sequence[Message], settings: SessionSettings) -> None:
        """Adds messages to the last exchange, or as new ones, each of which begins with a message of the user."""
        history = self.history
        for message in messages:
            tokens = settings.tokens_of((message,))
            last = history.last
            is_new = message.role == "user" or last is None or len(history.exchanges) <= history.compacted
            if is_new and last is not None and last.loop is not None:  # cut off by a crash: it does not go on
                ended = replace(last, loop=None)
                history.replace_last(ended)
                self.keep(ended)
            if is_new or last is None:
                asked = int(message.role == "user")
                history.add(SessionExchange(history.next_number, (message,), asked=asked, tokens=tokens))
            else:
                whole = canonical_messages((*last.messages, message))
                history.replace_last(replace(last, messages=whole, tokens=last.tokens + tokens, loop=None))
            self.keep(history.exchanges[-1])


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

    def limit(self, answer: int | None) -> int | None:
        """Returns the most tokens of a request whose answer may have so many; None if the size of the model's context
        is not known.
        """
        window = self.llm.profile.context_tokens
        if window is None:
            return None
        room = window - answer if answer is not None and answer < window else window
        return max(1, min(int(self.fill * window), room))

    def tokens_of(self, messages: Sequence[Message]) -> int:
        """Returns about how many tokens messages have for the model."""
        return message_tokens(messages, self._media_tokens)

    def _media_tokens(self, files: Sequence[MediaPart]) -> int:
        call = ModelCall(self.llm.model, (Message("user", tuple(files)),), self.llm.provider)
        return int(self.llm.estimate_tokens(call))


def request_on(context: tuple[Message, ...], options: Mapping[str, Any], *, has_system: bool) -> dict[str, Any]:
    """Returns the options of a call with the messages before its question. If there are system messages among them, the
    system prompt is the first one: a call takes either.
    """
    prompt = options.get("system_prompt")
    if not has_system or not isinstance(prompt, str):
        return {**options, "messages": context}
    others = {name: value for name, value in options.items() if name != "system_prompt"}
    return {**others, "messages": (Message.system(prompt), *context)}


async def run_once(runtime: Runtime, write: Callable[[], object]) -> None:
    """Calls a function in a worker thread. If the caller is cancelled meanwhile, the call has been made when this
    raises: what is written goes on in no thread that was left behind.
    """
    making, made = threading.Lock(), False

    def make() -> None:
        nonlocal made
        with making:
            if not made:
                made = True
                write()

    try:
        await runtime.call(make, kind="files")
    except BaseException as error:
        if not isinstance(error, Exception):
            try:
                make()
            except SessionError as problem:
                _log.warning("the file of a session was not written: %s", problem)
        raise


def loop_waits(path: str) -> InvalidInputError:
    """Returns the error of what cannot be done before a tool loop goes on."""
    hint = "session.resume([pending.allow() for pending in session.loop.pending]), or session.undo()."
    return InvalidInputError("calls of tools wait for an answer", path=path, hint=hint)


def check_llm(llm: object) -> None:
    """Raises `InvalidInputError` for anything but an LLM."""
    if not isinstance(llm, llms.LLM):
        hint = 'Create one: llm.session(), or Session(create_llm("openai/gpt-5.4")).'
        raise InvalidInputError(f"expected an LLM, got {shown(llm)}", path="llm", hint=hint)


def new_id() -> str:
    """Returns the id of a session: sorted by time, and never the same twice."""
    return f"session-{int(time.time() * 1000):012x}{secrets.token_hex(6)}"


def settings_of(llm: LLM, options: SessionOptions) -> tuple[SessionSettings, str | None]:
    """Returns the settings and the system prompt of a session; raises `InvalidInputError` for an invalid option."""
    given = cast("Mapping[str, Any]", options)
    system_prompt, fill, compact = given.get("system_prompt"), given.get("fill", 0.8), given.get("compact", "summary")
    if not isinstance(system_prompt, str | None):
        raise InvalidInputError(f"expected a text, got {shown(system_prompt)}", path="system_prompt")
    if system_prompt is not None:
        try:
            Message.system(system_prompt)
        except SchemaError as error:
            raise InvalidInputError(error.message, path="system_prompt") from None
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
