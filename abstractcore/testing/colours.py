"""Plain code and event loops behind one plain interface, so that one test says what both of them do.

As a pytest fixture, which runs every test that asks for it twice:

    @pytest.fixture(params=COLOURS, ids=[colour.name for colour in COLOURS])
    def colour(request):
        with request.param() as colour:
            yield colour

and a test:

    def test_it_answers(colour):
        llm = create_llm("scripted", replies=["hello"])
        assert colour.generate(llm, "hi").content == "hello"
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Coroutine, Iterator
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, cast

from ..client.llm import LLM
from ..client.streams import AsyncStream, Stream
from ..concurrency import AsyncRuntime, SyncRuntime, drive
from ..schema import Delta, GenerateResponse, ModelReply
from ..transport import AsyncHttpTransport, SyncHttpTransport, TransportSettings

T = TypeVar("T")


class SyncColour:
    """Plain code: `generate` and `stream`."""

    name = "sync"
    other = "async"

    def __init__(self) -> None:
        self.runtime = SyncRuntime()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the engine, a transport or a middleware to its end; it must not wait for a loop."""
        return drive(coroutine)

    def generate(self, llm: LLM, prompt: str | None = None, **request: Any) -> GenerateResponse[Any]:
        """The response to a call, as of `LLM.generate`."""
        return cast("GenerateResponse[Any]", llm.generate(prompt, **request))

    def stream(self, llm: LLM, prompt: str | None = None, **request: Any) -> Stream[Any]:
        """A stream, as of `LLM.stream`."""
        return llm.stream(prompt, **request)

    def transport(self, settings: TransportSettings) -> SyncHttpTransport:
        """A transport of its own."""
        return SyncHttpTransport(settings)

    def close(self) -> None:
        """End what runs behind plain code."""
        self.runtime.close()

    def __enter__(self) -> SyncColour:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncColour:
    """`agenerate` and `astream` in one event loop, run whenever something is asked and standing still in between."""

    name = "async"
    other = "sync"

    def __init__(self) -> None:
        self.runtime = AsyncRuntime()
        self._runner = asyncio.Runner()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, in a copy of the context of now."""
        return self._runner.run(coroutine, context=contextvars.copy_context())

    def generate(self, llm: LLM, prompt: str | None = None, **request: Any) -> GenerateResponse[Any]:
        """The response to a call, as of `LLM.agenerate`."""
        response = cast("Coroutine[Any, Any, GenerateResponse[Any]]", llm.agenerate(prompt, **request))
        return self.run(response)

    def stream(self, llm: LLM, prompt: str | None = None, **request: Any) -> BlockingStream:
        """A stream, as of `LLM.astream`, to be read as a `Stream` is."""
        return BlockingStream(self, llm.astream(prompt, **request))

    def transport(self, settings: TransportSettings) -> AsyncHttpTransport:
        """A transport of its own."""
        return AsyncHttpTransport(settings)

    def close(self) -> None:
        """Shut the loop down, and its connections with it."""
        self._runner.close()

    def __enter__(self) -> AsyncColour:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class BlockingStream:
    """An `AsyncStream` read from plain code, as a `Stream` is."""

    def __init__(self, colour: AsyncColour, stream: AsyncStream[Any]) -> None:
        self._colour = colour
        self._stream = stream

    def __enter__(self) -> BlockingStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> BlockingStream:
        return self

    def __next__(self) -> Delta:
        delta = self._colour.run(_next(self._stream))
        if delta is None:
            raise StopIteration
        return delta

    def text(self) -> Iterator[str]:
        """The pieces of the answer's text."""
        texts = self._stream.text()
        while (text := self._colour.run(_next(texts))) is not None:
            yield text

    def close(self) -> None:
        """End the stream and its connection."""
        self._colour.run(self._stream.close())

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response, once the stream has been read to its end; before that `StreamInterruptedError`."""
        return self._stream.response

    @property
    def partial(self) -> ModelReply:
        """What has arrived so far."""
        return self._stream.partial


async def _next(iterator: AsyncIterator[T]) -> T | None:
    """The next of what `iterator` gives, which is never None; None at its end."""
    return await anext(iterator, None)


Colour: TypeAlias = SyncColour | AsyncColour
COLOURS: tuple[type[SyncColour], type[AsyncColour]] = (SyncColour, AsyncColour)
"""Both, for a fixture's `params`."""
