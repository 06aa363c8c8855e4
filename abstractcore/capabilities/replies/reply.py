"""`Reply`: an answer that is spoken while it is written; sync and async."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine.endings import outcome_of
from ...errors import AbstractCoreError, InvalidInputError, RequestTimeoutError, StreamInterruptedError
from ...ports import Feed, Interruption, Runtime
from ...schema import AudioPart, GenerateResponse, HeardReply, MediaResult, Message, PartDelta
from ..facade import facts_of, parts_of
from .hearing import SpokenPieces, heard_messages, heard_until
from .text import AnswerEvents, ArrivingText

if TYPE_CHECKING:
    from ...engine import CallStream
    from ...engine.interactions import InteractionTrace
    from ..backends import Backend

T = TypeVar("T")
_AHEAD_SECONDS = 10.0
"""Of speech that is made before it is read: what an interruption makes useless is short."""


class Reply:
    """An answer whose text is read ahead in the background, and whose speech is made ahead of its reader.

    `speak` returns the backend that speaks a text that arrives in pieces, and its call; it gets the id of the call
    that writes the text. `trace` reports the whole of it, if a subscriber wants that. One reader at a time;
    `interrupt`, `close` and `abort` may be called from any thread.
    """

    def __init__(
        self,
        runtime: Runtime,
        answer: AnswerEvents,
        speak: Callable[[AsyncIterator[str], str | None], tuple[Backend, CallStream]],
        idle_timeout: float | None,
        trace: InteractionTrace | None = None,
    ) -> None:
        self._trace = trace
        self._runtime = runtime
        self._answer = answer
        self._speak = speak
        self._idle_timeout = _IdleTimeout(idle_timeout, runtime, self._give_up)
        self._text = ArrivingText(answer, runtime, self._idle_timeout.touch)
        self._pieces = SpokenPieces()
        self._speech: CallStream | None = None
        self._results: tuple[MediaResult[AudioPart], ...] = ()
        self._read_ahead = _ReadAhead(_AHEAD_SECONDS)
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
        return replace(self._answer.response, made=self._results)

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
        self._read_ahead.take(self._pieces.add(part))
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
        complete = bool(self._results) and self._parts_read == self._parts_made
        found = heard_until(self._pieces.all, played, complete=complete)
        written = self._text.written
        end = len(written) if found.means == "all" else _whole_words(written, found.source_end)
        messages = heard_messages(self._messages_so_far(), self._text.of_answer(end))
        self._heard = HeardReply(written[:end].rstrip(), found.spoken, played, found.means, messages)
        await self.close()
        return self._heard

    async def close(self) -> None:
        """Ends the calls. A reader gets `StreamInterruptedError`, after an interruption the end."""
        self._interruption.set()
        self._read_ahead.release()
        if self._feed is not None and not self._ended:
            await self._feed.close()
            await self._close_calls()
            self._end_trace(None)

    def abort(self) -> None:
        """Ends the calls without waiting."""
        self._interruption.set()
        self._read_ahead.release()
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
        failure: BaseException | None = None
        try:
            if await self._text.begin():
                await self._say(put)
            self._text.check()
        except BaseException as error:
            if isinstance(error, AbstractCoreError):
                error.partial = error.partial or self._answer.partial()
            failure = error
            raise
        finally:
            try:
                await self._close_calls()
            finally:
                self._end_trace(failure)

    def _end_trace(self, error: BaseException | None) -> None:
        """Reports the end of the whole reply, once. One that its reader leaves is abandoned, whatever error that has
        caused.
        """
        trace, self._trace = self._trace, None
        if trace is None:
            return
        loop = self._answer.loop
        trace.calls += 1 if loop is None else len(loop.replies)
        if self._interruption.is_set:
            trace.end("abandoned")
        else:
            trace.end("done" if error is None else outcome_of(error), error=error)

    async def _say(self, put: Callable[[AudioPart], None]) -> None:
        backend, speech = self._speak(self._text, self._answer.trace_id)
        self._speech = speech
        silent = True
        try:
            while batch := await self._idle_timeout.wait_for(speech.read):
                for part in (delta.part for delta in batch if isinstance(delta, PartDelta)):
                    if isinstance(part, AudioPart):
                        silent = False
                        self._parts_made += 1
                        put(part)
                        await self._read_ahead.add(_seconds_of(part), self._runtime)
        except InvalidInputError as error:
            if not silent or error.path != "text":
                raise
            return  # an answer without speakable words is not an error
        response = speech.response
        self._results = (MediaResult(parts=parts_of(backend, response, AudioPart), **facts_of(backend, response)),)

    def _messages_so_far(self) -> tuple[Message, ...]:
        try:
            return self._answer.response.messages
        except StreamInterruptedError:
            loop, partial = self._answer.loop, self._answer.partial()
        done = () if loop is None else loop.messages
        latest = loop.replies[-1] if loop is not None and loop.replies else None
        text = "" if partial is latest else partial.text
        return (*done, Message.assistant(text)) if text.strip() else done


def _seconds_of(part: AudioPart) -> float:
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


class _IdleTimeout:
    """Waits for `seconds` at most without any sign of life; None for any time. `give_up` ends what is waited for."""

    def __init__(self, seconds: float | None, runtime: Runtime, give_up: Callable[[], object]) -> None:
        self._seconds = seconds
        self._runtime = runtime
        self._give_up = give_up
        self._latest = runtime.now()
        self._alarm_off: Callable[[], object] | None = None
        self._ended = False

    def touch(self) -> None:
        """Something arrived."""
        self._latest = self._runtime.now()

    async def wait_for(self, make: Callable[[], Awaitable[T]]) -> T:
        """Awaits `make()`; raises `RequestTimeoutError` if nothing arrives for too long."""
        if self._seconds is None:
            return await make()
        self.touch()
        self._set(self._seconds)
        try:
            return await make()
        except Exception:
            if self._ended:
                hint = "Allow more time with idle_timeout=SECONDS."
                message = f"neither text nor sound arrived for {self._seconds:g} s"
                raise RequestTimeoutError(message, hint=hint) from None
            raise
        finally:
            if self._alarm_off is not None:
                self._alarm_off()

    def _set(self, seconds: float) -> None:
        self._alarm_off = self._runtime.alarm(seconds, self._ring)

    def _ring(self) -> None:
        assert self._seconds is not None
        left = self._seconds - (self._runtime.now() - self._latest)
        if left > 0:
            self._set(left)
            return
        self._ended = True
        self._give_up()


class _ReadAhead:
    """Lets `seconds` of speech be made that is not yet read. For one maker and one reader, in any thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ahead = 0.0
        self._waiting: Future[None] | None = None
        self._is_released = False
        self._lock = threading.Lock()

    async def add(self, seconds: float, runtime: Runtime) -> None:
        """Adds what was made, and waits until enough of it was read."""
        with self._lock:
            self._ahead += seconds
            if self._ahead <= self._seconds or self._is_released:
                return
            waiting = self._waiting = Future[None]()
        await runtime.wait(waiting)

    def take(self, seconds: float) -> None:
        """Removes what was read."""
        with self._lock:
            self._ahead -= seconds
            if self._ahead <= self._seconds:
                self._wake()

    def release(self) -> None:
        """Ends all waits."""
        with self._lock:
            self._is_released = True
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.set_result(None)
