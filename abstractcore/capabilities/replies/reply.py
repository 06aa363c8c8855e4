"""`Reply`: an answer that is spoken while it is written; sync and async."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import AbstractCoreError, InvalidInputError, StreamInterruptedError
from ...ports import Feed, Interruption, Runtime
from ...schema import AudioPart, GenerateResponse, HeardReply, MediaResult, Message, PartDelta
from ..facade import facts_of, parts_of
from .hearing import heard_until
from .messages import without_unheard
from .patience import Patience
from .pieces import SpokenPieces
from .room import Room
from .text import AnswerStream, AnswerText

if TYPE_CHECKING:
    from ...engine import CallStream
    from ..backends import Backend

_AHEAD_SECONDS = 10.0
"""Of speech that is made before it is read: what an interruption makes useless is short."""


class Reply:
    """An answer whose text is read ahead in the background, and whose speech is made ahead of its reader.

    `speak` returns the backend that speaks a text that arrives in pieces, and its call; it gets the id of the call that
    writes the text. One reader at a time; `interrupt`, `close` and `abort` may be called from any thread.
    """

    def __init__(
        self,
        runtime: Runtime,
        answer: AnswerStream,
        speak: Callable[[AsyncIterator[str], str | None], tuple[Backend, CallStream]],
        idle_timeout: float | None,
    ) -> None:
        self._runtime = runtime
        self._answer = answer
        self._speak = speak
        self._patience = Patience(idle_timeout, runtime, self._give_up)
        self._text = AnswerText(answer, runtime, self._patience.touch)
        self._pieces = SpokenPieces()
        self._speech: CallStream | None = None
        self._made: tuple[MediaResult[AudioPart], ...] = ()
        self._room = Room(_AHEAD_SECONDS)
        self._feed: Feed[AudioPart] | None = None
        self._waiting: deque[AudioPart] = deque()
        self._interruption = Interruption()
        self._parts_made = self._parts_read = 0
        self._ended = False
        self._heard: HeardReply | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is anything to close."""
        return self._feed is not None and not self._ended and not self._interruption.is_set

    @property
    def written(self) -> str:
        """The text so far."""
        return self._text.written

    @property
    def pieces(self) -> SpokenPieces:
        """What was delivered."""
        return self._pieces

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response with its speech, once all parts have been read; before that `StreamInterruptedError`."""
        if not self._ended:
            hint = "Read it to its end first; `text` and `said` have what came so far."
            raise StreamInterruptedError("the reply is not complete", hint=hint, partial=self._answer.partial())
        return replace(self._answer.response, made=self._made)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to add to the conversation: of what was heard, if it was interrupted."""
        return self._heard.messages if self._heard is not None else self.response.messages

    async def read(self) -> AudioPart | None:
        """Returns the next part; None at the end, and after an interruption."""
        if self._ended or self._heard is not None:
            return None
        self._interruption.check()
        if not self._waiting:
            await self._read()
        if not self._waiting or self._heard is not None:  # by another thread or task
            self._ended = self._heard is None
            return None
        part = self._waiting.popleft()
        self._parts_read += 1
        self._room.take(self._pieces.add(part))
        return part

    async def _read(self) -> None:
        if self._feed is None:
            self._feed = self._runtime.feed(self._produce)
        try:
            self._waiting += await self._runtime.interruptible(self._interruption, self._feed.read)
        except BaseException:
            if self._heard is None:
                self._interruption.set()  # nothing follows a failure
                raise

    async def interrupt(self, played: float | None) -> HeardReply:
        """Ends the reply, and returns what was heard in the first `played` seconds; None for all that was delivered."""
        complete = bool(self._made) and self._parts_read == self._parts_made
        found = heard_until(self._pieces.all, played, complete=complete)
        written = self._text.written
        end = len(written) if found.means == "all" else _whole_words(written, found.source_end)
        messages = without_unheard(self._messages_so_far(), self._text.of_answer(end))
        self._heard = HeardReply(written[:end].rstrip(), found.spoken, played, found.means, messages)
        await self.close()
        return self._heard

    async def close(self) -> None:
        """Ends the calls. A reader gets `StreamInterruptedError`, after an interruption the end."""
        self._interruption.set()
        self._room.open()
        if self._feed is not None and not self._ended:
            await self._feed.close()
            await self._close_calls()

    def abort(self) -> None:
        """Ends the calls without waiting."""
        self._interruption.set()
        self._room.open()
        self._give_up()

    def _give_up(self) -> None:
        if self._speech is not None:
            self._speech.abort()
        self._answer.abort()

    async def _close_calls(self) -> None:
        if self._speech is not None:
            await self._speech.close()
        await self._answer.close()
        await self._text.close()

    async def _produce(self, put: Callable[[AudioPart], None]) -> None:
        try:
            if await self._text.begin():
                await self._say(put)
            self._text.check()
        except AbstractCoreError as error:
            error.partial = error.partial or self._answer.partial()
            raise
        finally:
            await self._close_calls()

    async def _say(self, put: Callable[[AudioPart], None]) -> None:
        backend, speech = self._speak(self._text, self._answer.trace_id)
        self._speech = speech
        silent = True
        try:
            while batch := await self._patience.wait_for(speech.read):
                for part in (delta.part for delta in batch if isinstance(delta, PartDelta)):
                    if isinstance(part, AudioPart):
                        silent = False
                        self._parts_made += 1
                        put(part)
                        await self._room.fill(seconds_of(part), self._runtime)
        except InvalidInputError as error:
            if not silent or error.path != "text":
                raise
            return  # an answer without speakable words is not an error
        response = speech.response
        self._made = (MediaResult(parts=parts_of(backend, response, AudioPart), **facts_of(backend, response)),)

    def _messages_so_far(self) -> tuple[Message, ...]:
        try:
            return self._answer.response.messages
        except StreamInterruptedError:
            loop, partial = self._answer.loop, self._answer.partial()
        done = () if loop is None else loop.messages
        latest = loop.replies[-1] if loop is not None and loop.replies else None
        text = "" if partial is latest else partial.text
        return (*done, Message.assistant(text)) if text.strip() else done


def seconds_of(part: AudioPart) -> float:
    """Returns the length of a part, as far as it is known."""
    return SpokenPieces().add(part)


def _whole_words(text: str, end: int) -> int:
    """Returns `end`, moved back to the end of a word."""
    end = min(end, len(text))
    if end == 0 or end == len(text) or text[end].isspace() or not text[end].isalnum() or not text[end - 1].isalnum():
        return end
    while end > 0 and not text[end - 1].isspace():
        end -= 1
    return end
