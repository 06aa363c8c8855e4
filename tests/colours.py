"""The two colours behind one plain interface, so that one test says what both of them do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

from abstractcore import LLM, AsyncStream, Delta, GenerateResponse, ModelReply
from abstractcore.runtimes import AsyncRuntime, SyncRuntime, drive
from abstractcore.transport import AsyncHttpTransport, SyncHttpTransport, TransportSettings

_END = object()


class SyncColour:
    """Plain code."""

    name = "sync"
    other = "async"

    def __init__(self) -> None:
        self.runtime = SyncRuntime()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine of the engine to its end."""
        return drive(coroutine)

    def generate(self, llm: LLM, *arguments: Any, **options: Any) -> GenerateResponse[Any]:
        """The response to a call."""
        return llm.generate(*arguments, **options)

    def stream(self, llm: LLM, *arguments: Any, **options: Any) -> Any:
        """A stream, read as a `Stream` is."""
        return llm.stream(*arguments, **options)

    def transport(self, settings: TransportSettings) -> Any:
        """A transport of its own."""
        return SyncHttpTransport(settings)

    def close(self) -> None:
        """Nothing is held."""


class AsyncColour:
    """One event loop, run whenever something is asked of it and standing still in between."""

    name = "async"
    other = "sync"

    def __init__(self) -> None:
        self.runtime = AsyncRuntime()
        self._runner = asyncio.Runner()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end."""
        return self._runner.run(coroutine)

    def generate(self, llm: LLM, *arguments: Any, **options: Any) -> GenerateResponse[Any]:
        """The response to a call."""
        return self.run(llm.agenerate(*arguments, **options))

    def stream(self, llm: LLM, *arguments: Any, **options: Any) -> BlockingStream:
        """A stream, read as a `Stream` is."""
        return BlockingStream(self, llm.astream(*arguments, **options))

    def transport(self, settings: TransportSettings) -> Any:
        """A transport of its own."""
        return AsyncHttpTransport(settings)

    def close(self) -> None:
        """Shut the loop down, and its connections with it."""
        self._runner.close()


class BlockingStream:
    """An `AsyncStream` read from plain code."""

    def __init__(self, colour: AsyncColour, stream: AsyncStream[Any]) -> None:
        self._colour = colour
        self._stream = stream

    def __enter__(self) -> BlockingStream:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> BlockingStream:
        return self

    def __next__(self) -> Delta:
        delta = self._colour.run(self._read())
        if delta is _END:
            raise StopIteration
        return delta

    def text(self) -> Iterator[str]:
        """As `Stream.text`."""
        texts = self._stream.text()
        while (text := self._colour.run(_next(texts))) is not _END:
            yield text

    def close(self) -> None:
        """As `Stream.close`."""
        self._colour.run(self._stream.close())

    @property
    def response(self) -> GenerateResponse[Any]:
        """As `Stream.response`."""
        return self._stream.response

    @property
    def partial(self) -> ModelReply:
        """As `Stream.partial`."""
        return self._stream.partial

    async def _read(self) -> Any:
        return await _next(self._stream)


async def _next(iterator: Any) -> Any:
    return await anext(iterator, _END)


Colour = SyncColour | AsyncColour
