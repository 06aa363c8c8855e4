"""Runs the same tool loop in all four ways: sync and async, streamed and not."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from abstractcore import LLM, GenerateResponse, StreamEvent, ToolLoop, create_llm
from abstractcore.testing import AsyncCalls, CallStyle, ScriptedReply, SyncCalls

Answer = str | ScriptedReply
STREAMED_WAYS = ["sync-streamed", "async-streamed"]
WAYS = ["sync-whole", "async-whole", *STREAMED_WAYS]


@dataclass
class Way:
    """One of the four ways of a call. `events` are those of the latest stream."""

    style: CallStyle
    streamed: bool
    events: list[StreamEvent] = field(default_factory=list[StreamEvent])

    @classmethod
    @contextmanager
    def of(cls, name: str) -> Generator[Way]:
        """Yields the way of a name in `WAYS`."""
        style = AsyncCalls if name.startswith("async") else SyncCalls
        with style() as calls:
            yield cls(calls, name.endswith("streamed"))

    def generate(self, llm: LLM, prompt: str = "Go.", **request: Any) -> GenerateResponse[Any]:
        """Makes the call, and returns its response."""
        if not self.streamed:
            return self.style.generate(llm, prompt, **request)
        return self._read(self.style.stream(llm, prompt, **request))

    def resume(
        self, llm: LLM, loop: ToolLoop | GenerateResponse[Any] | None, *arguments: Any, **request: Any
    ) -> GenerateResponse[Any]:
        """Continues a loop, and returns the response."""
        if isinstance(self.style, SyncCalls):
            if not self.streamed:
                return llm.resume(loop, *arguments, **request)
            return self._read(llm.resume(loop, *arguments, stream=True, **request))
        if not self.streamed:
            return self.style.run(llm.aresume(loop, *arguments, **request))
        return self.style.run(self._read_async(llm, loop, arguments, request))

    def _read(self, stream: Any) -> GenerateResponse[Any]:
        with stream:
            self.events = list(stream)
        return stream.response

    async def _read_async(self, llm: LLM, loop: Any, arguments: Any, request: Any) -> GenerateResponse[Any]:
        async with await llm.aresume(loop, *arguments, stream=True, **request) as stream:
            self.events = [event async for event in stream]
        return stream.response


def scripted(*answers: Answer) -> LLM:
    """Returns a scripted LLM with these replies."""
    return create_llm("scripted", replies=list(answers))


def calls(*given: tuple[str, dict[str, Any]]) -> ScriptedReply:
    """Returns a reply that calls tools."""
    first, *others = [ScriptedReply.tool_call(name, arguments) for name, arguments in given]
    for other in others:
        first = first + other
    return first
