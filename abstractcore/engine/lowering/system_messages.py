"""Lowers system messages for servers whose chat templates accept one, at the beginning of the conversation.

Templates of newer models raise an exception for any other, which such a server answers with status 400. A later system
message stays where it was said, as a marked text of a user message: at the beginning it would change the prefix that
the server has cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...schema import NO_OPTIONS, CallWarning, Message, ModelCall, Part, TextPart

_BREAK = TextPart("\n\n")
_BEGIN, _END = TextPart("<system>\n"), TextPart("\n</system>")


def with_one_system_message(call: ModelCall) -> tuple[ModelCall, list[CallWarning]]:
    """Returns the call with at most one system message, its first message, and a warning for each that is moved."""
    mover = _SystemMessageMover(call.messages)
    return call.with_(messages=mover.write()), mover.warnings


class _SystemMessageMover:
    """Moves the system messages of one conversation."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._leading: list[Message] = []
        self._rest: list[Message] = []
        self.warnings: list[CallWarning] = []

    def write(self) -> tuple[Message, ...]:
        """Returns the conversation with one system message."""
        waiting: list[Message] = []
        for index, message in enumerate(self._messages):
            if message.role != "system":
                self._rest.append(self._after(waiting, message))
                waiting = []
            elif self._rest:
                waiting.append(message)
                self._warn(index, "it becomes a text of a user message beside it")
            else:
                self._leading.append(message)
                if index:
                    self._warn(index, "it is joined to the first one")
        self._put_back(waiting)
        return (*_join(self._leading), *self._rest)

    def _after(self, waiting: list[Message], message: Message) -> Message:
        """Returns a message after the system messages that wait for it: with them, if it is the user's."""
        if waiting and message.role == "user":
            marked = [part for each in waiting for part in (*_between_marks(each), _BREAK)]
            return replace(message, parts=(*marked, *message.parts))
        self._put_back(waiting)
        return message

    def _put_back(self, waiting: list[Message]) -> None:
        """Adds system messages to the last user message, or to the first system message if there is none."""
        if not waiting:
            return
        for index in reversed(range(len(self._rest))):
            message = self._rest[index]
            if message.role == "user":
                marked = [part for each in waiting for part in (_BREAK, *_between_marks(each))]
                self._rest[index] = replace(message, parts=(*message.parts, *marked))
                return
        self._leading += waiting

    def _warn(self, index: int, where: str) -> None:
        message = f"the chat template of this server accepts one system message, at the beginning: {where}"
        self.warnings.append(CallWarning("system_message_moved", f"messages[{index}]", message))


def _between_marks(message: Message) -> tuple[Part, ...]:
    return (_BEGIN, *message.parts, _END)


def _join(messages: Sequence[Message]) -> list[Message]:
    """Returns one system message of several, with the options of the first that has some."""
    if not messages:
        return []
    parts = [part for message in messages for part in (_BREAK, *message.parts)][1:]
    given = [message.provider_options for message in messages if message.provider_options]
    return [Message("system", tuple(parts), given[0] if given else NO_OPTIONS)]
