"""`ChatSession`: the session of a chat, its questions and answers, with the tool calls between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import abstractcore

from ..asking import summary, write_stream
from ..plugins import ConnectionArguments
from ..screen import note, write
from ..sessions.names import name_of
from ..toolbox import Toolbox, final_result, is_final


class ChatSession:
    """A conversation, with what its commands change: the session, and `files`, which go with the next question.

    However a question ends, the conversation can be sent again.
    """

    def __init__(
        self,
        session: abstractcore.Session,
        tools: Toolbox,
        connection: ConnectionArguments,
        services: abstractcore.Services,
        path: Path | None,
    ) -> None:
        self.session = session
        self.tools = tools
        self.connection = connection
        self.services = services
        self.path = path
        self.files: list[str] = []

    @property
    def name(self) -> str | None:
        """The name of the session; None for one that is in memory only."""
        return None if self.path is None else name_of(self.path)

    @property
    def model(self) -> str:
        """The model that is asked, with its provider."""
        return f"{self.session.llm.provider}/{self.session.llm.model}"

    def ask(self, text: str) -> None:
        """Asks a question, with the files that were added for it, and prints the answer."""
        loop = self.session.loop
        if loop is not None and loop.pending:
            self._replace_last(_closed(loop).messages)
        files, self.files = self.files, []
        self._answer(self.session.stream(text, media=files))

    def resume(self) -> None:
        """Goes on with a tool loop that waits for answers, or was cut off."""
        loop = self.session.loop
        if loop is None:
            raise abstractcore.InvalidInputError("no answer of this conversation was cut off")
        self._answer(self.session.resume(self.tools.answers(loop.pending), stream=True))

    def _answer(self, stream: abstractcore.Stream[Any]) -> None:
        before = len(self.session.exchanges)
        while True:
            with stream:
                try:
                    write_stream(stream, self.connection.quiet)
                except KeyboardInterrupt:
                    self._stop(stream)
                    return
                except abstractcore.AbstractCoreError as error:
                    stream.close()
                    self._settle(error, before)
                    raise
                response = stream.response
            if not response.pending:
                break
            try:
                stream = self.session.resume(self.tools.answers(response.pending), stream=True)
            except KeyboardInterrupt:
                note("stopped")
                assert response.loop is not None
                self._replace_last(_closed(response.loop).messages)
                return
        if is_final(response):
            write(f"{final_result(response)}\n")
        if not self.connection.quiet:
            for remark in summary(response):
                note(remark)

    def _stop(self, stream: abstractcore.Stream[Any]) -> None:
        """Keeps what had arrived of an answer that the user has stopped."""
        messages = _messages_so_far(stream)
        note("stopped")
        if self.session.loop is not None:
            self._replace_last(messages)

    def _settle(self, error: abstractcore.AbstractCoreError, before: int) -> None:
        """Keeps what had arrived of an answer that failed, unless the conversation itself may have been refused."""
        exchanges = self.session.exchanges
        if self.session.loop is not None:
            loop: abstractcore.ToolLoop | None = getattr(error, "loop", None)
            self._replace_last(loop.messages if loop is not None and error.retryable else ())
        elif len(exchanges) > before and exchanges[-1].partial and not error.retryable:
            self.session.undo()

    def _replace_last(self, messages: Sequence[abstractcore.Message]) -> None:
        """Puts other messages in place of the last answer; without any, its question is left out too."""
        question = self.session.exchanges[-1].question
        self.session.undo()
        if messages:
            self.session.add(*question, *messages)


def _closed(loop: abstractcore.ToolLoop) -> abstractcore.ToolLoop:
    """Returns a loop whose waiting calls are answered as cancelled."""
    from abstractcore.tools import close_loop

    return close_loop(loop, "cancelled", "cancelled")


def _messages_so_far(stream: abstractcore.Stream[Any]) -> list[abstractcore.Message]:
    """Returns the messages of an answer that was stopped: the rounds of its tools, and its text so far."""
    stream.close()
    loop = stream.loop
    latest = loop.replies[-1] if loop is not None and loop.replies else None
    text = "" if stream.partial is latest else stream.partial.text
    done = [] if loop is None else [*loop.messages]
    return [*done, abstractcore.Message.assistant(text)] if text.strip() else done
