"""`ChatSession`: the session of a chat, its questions and answers, with the tool calls between them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import abstractcore
from abstractcore.sessions import SessionExchange

from ..asking import summary, write_stream
from ..plugins import ConnectionArguments
from ..screen import note, write
from ..sessions.names import name_of
from ..toolbox import Toolbox, final_result, is_final

_URL: Final = re.compile(r"https?://", re.IGNORECASE)


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

    def add_file(self, place: str, hint: str) -> None:
        """Adds a file or a URL for the next question; raises `MediaError` with `hint` if there is no such file."""
        if not _URL.match(place):
            place = os.path.expanduser(place)
            if not os.path.isfile(place):
                what = "is a folder, not a file" if os.path.isdir(place) else "is not a file"
                raise abstractcore.MediaError(f"{place} {what}", source=place, hint=hint)
        self.files.append(place)

    def ask(self, text: str) -> None:
        """Asks a question, with the files that were added for it, and prints the answer.

        After an error that may be gone the next time, the files go with the next question, unless this one was kept.
        """
        self._cancel_waiting_calls()
        files, self.files = self.files, []
        before = len(self.session.exchanges)
        try:
            self._answer(self.session.stream(text, media=files))
        except abstractcore.AbstractCoreError as error:
            if error.retryable and len(self.session.exchanges) == before:
                self.files = files
            raise

    def resume(self) -> None:
        """Goes on with a tool loop that waits for answers, or was cut off."""
        loop = self.session.loop
        if loop is None:
            raise abstractcore.InvalidInputError("no answer of this conversation was cut off")
        self._answer(self.session.resume(self.tools.answers(loop.pending), stream=True))

    def _answer(self, stream: abstractcore.Stream[Any]) -> None:
        before = self.session.exchanges[-1:]
        while True:
            with stream:
                try:
                    write_stream(stream, self.connection.quiet)
                except KeyboardInterrupt:
                    note("stopped")
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
                return
        if is_final(response):
            write(f"{final_result(response)}\n")
        if not self.connection.quiet:
            for remark in summary(response):
                note(remark)

    def _settle(self, error: abstractcore.AbstractCoreError, before: Sequence[SessionExchange]) -> None:
        """Leaves out what had arrived of an answer that failed, if the conversation itself may have been refused."""
        last = self.session.exchanges[-1:]
        if last and last[0].partial and not error.retryable and not (before and before[0] is last[0]):
            self.session.undo()

    def _cancel_waiting_calls(self) -> None:
        """Answers calls of tools that wait: another question is asked."""
        from abstractcore.tools import close_loop

        loop = self.session.loop
        if loop is not None and loop.pending:
            self.session.add(close_loop(loop, "cancelled", "cancelled").messages[-1])
