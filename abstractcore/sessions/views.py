"""`SessionView`: what is in a session, and what changes it without a call of its model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from .. import schema
from ..copying import NotCopied
from ..errors import SessionError
from ..lazy_modules import LazyModule
from ..schema import CallWarning, Message
from ..schema.amounts import counted, sums
from ..schema.reprs import RichDisplay
from .documents import OpenAIMessages, document_of
from .handles import SetAside, find_handle
from .history import SessionExchange, SessionUsage, usage_of
from .loading import may_be_added, write_fork
from .meter import ContextMeter
from .state import SessionSettings, SessionState, check_llm, new_id

if TYPE_CHECKING:
    from ..client import llm as llms
    from ..client import message_inputs
else:
    llms = LazyModule("abstractcore.client.llm")
    message_inputs = LazyModule("abstractcore.client.message_inputs")

_MOST_SHOWN: Final = 5
"""How many exchanges a notebook shows."""


class SessionView(NotCopied, RichDisplay):
    """The conversation of a `Session`: its messages and exchanges, what they used, and copies of it."""

    _holds = "the lock of a conversation, and perhaps an open file"
    _instead = "Use session.fork(), or session.save(path) and Session.load(path, llm)."
    _settings: SessionSettings
    _state: SessionState

    @property
    def id(self) -> str:
        """A random id, which stays with the session in its file."""
        return self._state.id

    @property
    def llm(self) -> llms.LLM:
        """The model that is asked."""
        return self._settings.llm

    @property
    def system_prompt(self) -> str | None:
        """The instructions of every call."""
        return self._state.system_prompt

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the model is given before the next question, without the system prompt."""
        return self._state.history.context

    @property
    def exchanges(self) -> tuple[SessionExchange, ...]:
        """The questions with their answers, oldest first, also those that were compacted."""
        return tuple(self._state.history.exchanges)

    @property
    def notes(self) -> tuple[CallWarning, ...]:
        """What was repaired when the session was opened or loaded."""
        return self._state.notes

    @property
    def usage(self) -> SessionUsage:
        """The tokens of all calls; `usage.cached_rate` is the share of the input that came from a cache."""
        return usage_of(self._state.history.usage)

    @property
    def cost(self) -> schema.CostSums:
        """What all calls have cost, in US dollars: `known`, `estimated`, the number of those that are `unknown`, and
        what caches have `saved`.
        """
        return self._state.history.cost

    @property
    def loop(self) -> schema.ToolLoop | None:
        """The tool loop that `resume` continues: its calls wait for answers, or a crash has cut it off."""
        last = self._state.history.last
        return None if last is None else last.loop

    def add(self, *messages: message_inputs.MessageInput) -> None:
        """Adds messages without a call: what `messages=` takes, such as `call.result("sunny")` or `Message.user("hi")`.

        A message of the user begins an exchange; others belong to the last one. Before an answer that the session would
        begin with, a message of the user says so: vendors refuse it otherwise. Raises `InvalidInputError` for messages
        that vendors would refuse after those that are there, and `SessionBusyError` while a call runs.
        """
        read = self._settings.llm.read_messages([*messages])
        with self._state:
            self._state.add_messages(may_be_added(self.messages, read, self.system_prompt), self._settings)
            self._state.write()

    def undo(self) -> tuple[Message, ...]:
        """Removes the last exchange, and returns its messages. It stays in the file, marked.

        Raises `InvalidInputError` if there is none, or it was compacted; `SessionBusyError` while a call runs.
        """
        with self._state:
            removed = self._state.history.last_to_undo()
            if self._state.file is not None:
                self._state.file.undo(removed.number)
            self._state.history.undo()
            self._state.unwritten.pop(removed.number, None)
            self._settings.meter.forget()
            return removed.messages

    def fork(self, path: str | os.PathLike[str] | None = None) -> Self:
        """Returns another session with the same history: in memory, or with a path, in a new file.

        Raises `SessionError` for a file that exists, and `SessionBusyError` while a call runs.
        """
        self._state.begin(changes=False)
        try:
            state = SessionState(new_id(), self._state.history.copy(), self.system_prompt, notes=self.notes)
            if path is not None:
                write_fork(state, path, self._state)
        finally:
            self._state.end()
        return self._view(state, replace(self._settings, meter=self._settings.meter.copy()))

    def with_llm(self, llm: llms.LLM) -> Self:
        """Returns the same session with another model: both share history, file and lock.

        Reasoning, ids of stored responses and uploaded files of one provider are not sent to another.
        """
        check_llm(llm)
        return self._view(self._state, replace(self._settings, llm=llm, meter=ContextMeter()))

    def history(self, *, full: bool = False) -> tuple[Message, ...]:
        """Returns the messages that the model is given; with `full`, all messages as they were before anything was
        compacted.
        """
        return self._state.history.messages if full else self.messages

    def recall(self, handle: str) -> SetAside | None:
        """Returns the result or the file that was set aside, by the handle that stands in its place; None for an
        unknown one.
        """
        return find_handle(handle, self._state.history.messages)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the session as JSON, with the content of its files: docs/session-details.md describes the format.

        The file is either complete or as before. Raises `SessionError` if it cannot be written.
        """
        try:
            schema.write_whole(Path(path), json.dumps(self.document(), ensure_ascii=False).encode("utf-8"))
        except (OSError, ValueError) as error:
            raise SessionError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.") from None

    def document(self) -> dict[str, Any]:
        """Returns the session as JSON data, as `save` writes it.

        Raises `SessionError` if a file that a message refers to was deleted or changed.
        """
        state = self._state
        try:
            return document_of(state.history, state.id, state.system_prompt)
        except (OSError, schema.SchemaError) as error:
            raise SessionError(f"a file of the session cannot be read: {error}") from None

    def to_openai(self) -> OpenAIMessages:
        """Returns the messages with the system prompt in the format of OpenAI's Chat Completions. `warnings` of the
        list name what the format cannot express.
        """
        system = () if self.system_prompt is None else (Message.system(self.system_prompt),)
        if not (system or self.messages):
            return OpenAIMessages()
        data, warnings = self._settings.llm.openai_messages((*system, *self.messages))
        messages = OpenAIMessages(data)
        messages.warnings = tuple(warnings)
        return messages

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens the messages have for the model: as the last response reported, or as estimated."""
        return self._settings.meter.tokens(self._state.history.tokens)

    def clear(self, *, keep_system: bool = True) -> None:
        """Removes all exchanges, and with `keep_system=False` the system prompt; in a file, they stay, marked.

        Raises `SessionBusyError` while a call runs.
        """
        state = self._state
        with state:
            if state.file is not None:
                state.file.clear(keep_system=keep_system)
            state.history = state.history.cleared()
            state.unwritten.clear()
            self._settings.meter.forget()
            if not keep_system:
                state.system_prompt = None

    def close(self) -> None:
        """Closes the file, if there is one; what a full disk kept out of it is written first. The LLM stays open."""
        if self._state.file is not None:
            self._state.write_last()
            self._state.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __display__(self) -> Iterator[object]:
        """Yields the last exchanges, and what all took."""
        from ..schema.displays import FoldedBlocks, SmallPrint, shown_tokens

        exchanges = self.exchanges
        if self.system_prompt is not None:
            yield FoldedBlocks("system", [self.system_prompt])
        for exchange in exchanges[-_MOST_SHOWN:]:
            for message in exchange.messages:
                if message.role == "tool":
                    yield FoldedBlocks("tool", [message])
                else:
                    yield SmallPrint([message.role])
                    yield message
        shown = f", of which {_MOST_SHOWN} are shown" if len(exchanges) > _MOST_SHOWN else ""
        llm = self._settings.llm
        facts = [f"{counted(len(exchanges), 'exchange')}{shown}", shown_tokens(self.usage), sums(self.cost)]
        yield SmallPrint([f"{llm.provider}/{llm.model}: {', '.join(filter(None, facts))}"])

    def __repr__(self) -> str:
        llm, file = self._settings.llm, self._state.file
        where = "" if file is None else f" in {str(file.path)!r}"
        exchanges = counted(len(self._state.history.exchanges), "exchange")
        return f"<Session with {llm.provider}/{llm.model}: {exchanges}{where}>"

    def _view(self, state: SessionState, settings: SessionSettings) -> Self:
        other = type(self).__new__(type(self))
        other._settings, other._state = settings, state
        return other
