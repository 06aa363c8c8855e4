"""Sync and async calls with one blocking interface, so that one test covers both.

As a pytest fixture, which runs each of its tests twice:

    @pytest.fixture(params=CALL_STYLES, ids=[style.name for style in CALL_STYLES])
    def call_style(request):
        with request.param() as call_style:
            yield call_style

and a test:

    def test_it_answers(call_style):
        llm = create_llm("scripted", replies=["hello"])
        assert call_style.generate(llm, "hi").content == "hello"
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeAlias, TypeVar, cast

from ..client.llm import LLM
from ..client.streams import AsyncStream, Stream
from ..concurrency import AsyncRuntime, SyncRuntime, drive
from ..schema import GenerateResponse, ModelReply, StreamEvent, ToolLoop
from ..transport import AsyncHttpTransport, SyncHttpTransport, TransportSettings

T = TypeVar("T")


class SyncCalls:
    """Makes calls with `LLM.generate` and `LLM.stream`."""

    name = "sync"
    other = "async"

    def __init__(self) -> None:
        self.runtime = SyncRuntime()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine of the engine, a transport or a middleware, which must not wait for an event loop."""
        return drive(coroutine)

    def generate(self, llm: LLM, prompt: str | None = None, **request: Any) -> GenerateResponse[Any]:
        """Returns the result of `LLM.generate`."""
        return cast("GenerateResponse[Any]", llm.generate(prompt, **request))

    def stream(self, llm: LLM, prompt: str | None = None, **request: Any) -> Stream[Any]:
        """Returns the result of `LLM.stream`."""
        return llm.stream(prompt, **request)

    def transport(self, settings: TransportSettings) -> SyncHttpTransport:
        """Returns a new transport, which the caller closes."""
        return SyncHttpTransport(settings)

    def close(self) -> None:
        """Stops the background threads of the runtime."""
        self.runtime.close()

    def __enter__(self) -> SyncCalls:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class AsyncCalls:
    """Makes calls with `LLM.agenerate` and `LLM.astream`, in an event loop that runs only during each method."""

    name = "async"
    other = "sync"

    def __init__(self) -> None:
        self.runtime = AsyncRuntime()
        self._runner = asyncio.Runner()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine to its end, in a copy of the current context."""
        return self._runner.run(coroutine, context=contextvars.copy_context())

    def generate(self, llm: LLM, prompt: str | None = None, **request: Any) -> GenerateResponse[Any]:
        """Returns the result of `LLM.agenerate`."""
        response = cast("Coroutine[Any, Any, GenerateResponse[Any]]", llm.agenerate(prompt, **request))
        return self.run(response)

    def stream(self, llm: LLM, prompt: str | None = None, **request: Any) -> BlockingStream:
        """Returns the stream of `LLM.astream`, read as a `Stream` is."""
        return BlockingStream(self, llm.astream(prompt, **request))

    def transport(self, settings: TransportSettings) -> AsyncHttpTransport:
        """Returns a new transport, which the caller closes."""
        return AsyncHttpTransport(settings)

    def close(self) -> None:
        """Shuts the event loop down, which closes its connections."""
        self._runner.close()

    def __enter__(self) -> AsyncCalls:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class BlockingStream:
    """Reads an `AsyncStream` from sync code, with the interface of `Stream`."""

    def __init__(self, calls: AsyncCalls, stream: AsyncStream[Any]) -> None:
        self._calls = calls
        self._stream = stream

    def __enter__(self) -> BlockingStream:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> BlockingStream:
        return self

    def __next__(self) -> StreamEvent:
        delta = self._calls.run(_next(self._stream))
        if delta is None:
            raise StopIteration
        return delta

    def text(self) -> Iterator[str]:
        """Yields the pieces of the text."""
        texts = self._stream.text()
        while (text := self._calls.run(_next(texts))) is not None:
            yield text

    def close(self) -> None:
        """Closes the stream and its connection."""
        self._calls.run(self._stream.close())

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response, once the stream has been read to its end; before that `StreamInterruptedError`."""
        return self._stream.response

    @property
    def partial(self) -> ModelReply:
        """What has arrived so far."""
        return self._stream.partial

    @property
    def partial_output(self) -> Any:
        """The output so far, as JSON data."""
        return self._stream.partial_output

    @property
    def loop(self) -> ToolLoop | None:
        """The state of the tool loop so far; None without `run_tools`."""
        return self._stream.loop


async def _next(iterator: AsyncIterator[T]) -> T | None:
    """Returns the next item of `iterator`, or None at its end."""
    return await anext(iterator, None)


CallStyle: TypeAlias = SyncCalls | AsyncCalls
"""Sync or async calls, with one interface."""
CALL_STYLES: tuple[type[SyncCalls], type[AsyncCalls]] = (SyncCalls, AsyncCalls)
"""Both classes, for the `params` of a fixture."""
