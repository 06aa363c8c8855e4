"""`ArrivingText`: the text of an answer as it arrives, for a voice. It is read ahead of what is spoken."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

from ...ports import Feed, Runtime
from ...schema import (
    GenerateResponse,
    ModelReply,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolLoop,
    UsageDelta,
)

_BREAK = "\n\n"
"""Between texts that are not one: of two rounds, or with a tool call between them."""


class AnswerEvents(Protocol):
    """The stream of an answer, of one round or of several."""

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` before the end."""
        ...

    @property
    def loop(self) -> ToolLoop | None:
        """The state of the tool loop."""
        ...

    @property
    def trace_id(self) -> str | None:
        """The id of its call in records, once it has begun."""
        ...

    async def read(self) -> Sequence[StreamEvent]:
        """Returns the next events; none at the end."""
        ...

    async def close(self) -> None: ...

    def abort(self) -> None: ...

    def partial(self) -> ModelReply:
        """What has arrived so far."""
        ...


class ArrivingText:
    """The pieces of the text. `touch` is called with everything that arrives."""

    def __init__(self, answer: AnswerEvents, runtime: Runtime, touch: Callable[[], object]) -> None:
        self._answer = answer
        self._touch = touch
        self._feed: Feed[str] = runtime.feed(self._read)
        self._waiting: deque[str] = deque()
        self._written: list[str] = []
        self._places: list[int] = []
        """The places of breaks in the text."""
        self._size = 0
        self._failure: BaseException | None = None

    @property
    def written(self) -> str:
        """The text so far, with an empty line between texts that are not one."""
        return "".join(self._written)

    async def begin(self) -> bool:
        """Waits for the first text; returns whether there is any. Raises errors of the model."""
        self._waiting += await self._feed.read()
        if not self._waiting:
            self.check()
        return bool(self._waiting)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        """Returns the next piece after `begin`; ends where the model fails: see `check`."""
        if not self._waiting:
            self._waiting += await self._feed.read()
        if not self._waiting:
            raise StopAsyncIteration
        return self._waiting.popleft()

    def check(self) -> None:
        """Raises the error with which the text ended."""
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Ends the reading."""
        await self._feed.close()

    def of_answer(self, place: int) -> int:
        """Returns a place in `written` as one in the joined texts of the answer."""
        return place - sum(min(len(_BREAK), place - start) for start in self._places if start < place)

    async def _read(self, put: Callable[[str], None]) -> None:
        ended = False
        """Whether something else came after the latest text."""
        try:
            while batch := await self._answer.read():
                self._touch()
                for event in batch:
                    if isinstance(event, TextDelta) and event.text:
                        self._put(event.text, ended, put)
                        ended = False
                    elif not isinstance(event, TextDelta | TextStart | TextEnd | UsageDelta):
                        ended = True
        except Exception as error:
            self._failure = error

    def _put(self, text: str, new: bool, put: Callable[[str], None]) -> None:
        if new and self._size:
            self._places.append(self._size)
            text = _BREAK + text
        self._size += len(text)
        self._written.append(text)
        put(text)
