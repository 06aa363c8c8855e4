"""The methods of `LLM` that continue tool loops from their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from .. import schema
from ..concurrency import drive
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..outputs import ResponseModel
from ..schema import GenerateResponse
from .options import Output, ResumeRequest
from .pipelines import Pipelines
from .preparing import RequestPreparer

if TYPE_CHECKING:
    import typing_extensions

    from . import streams
else:
    streams = LazyModule("abstractcore.client.streams")
    typing_extensions = LazyModule("typing_extensions")


class LoopMethods:
    """`resume` and `aresume`."""

    _pipelines: Pipelines
    _preparer: RequestPreparer

    @overload
    def resume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[False] = False,
        **request: Unpack[ResumeRequest],
    ) -> GenerateResponse[Output]: ...

    @overload
    def resume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: Mapping[str, Any],
        stream: Literal[False] = False,
        **request: Unpack[ResumeRequest],
    ) -> GenerateResponse[Any]: ...

    @overload
    def resume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[True],
        **request: Unpack[ResumeRequest],
    ) -> streams.Stream[Output]: ...

    @overload
    def resume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: Mapping[str, Any],
        stream: Literal[True],
        **request: Unpack[ResumeRequest],
    ) -> streams.Stream[Any]: ...

    @takes(ResumeRequest)
    def resume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[ResumeRequest],
    ) -> GenerateResponse[Any] | streams.Stream[Any]:
        """Continues a tool loop: with `answers` to its pending calls, after a limit, a failure or a cancellation.

        `loop` is a response, its `loop`, `error.loop`, or one that `from_json` read in another process; it is not
        changed. Answers are made by its pending calls: `[pending.allow() for pending in response.pending]`. Calls
        without an answer keep waiting. Functions and types are not part of the state: `tools`, `deps`, `response_model`
        and the options of the answer are given again; what the model is offered and asked for is in the loop. With
        `stream=True` it returns a stream, as `llm.stream` does.

        Raises `InvalidInputError` for a loop of another model, one that has ended, answers to other calls, and a
        `response_model` where the loop was begun without one; `UnknownOptionError` for an option of the first call,
        which the loop keeps; and errors as `generate` does.
        """
        prepared = self._preparer.resumption(loop, answers, response_model, request, self, stream=stream)
        if stream:
            return prepared.sync_stream(self._pipelines.sync)
        return drive(prepared.response(self._pipelines.sync))

    @overload
    async def aresume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[False] = False,
        **request: Unpack[ResumeRequest],
    ) -> GenerateResponse[Output]: ...

    @overload
    async def aresume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: Mapping[str, Any],
        stream: Literal[False] = False,
        **request: Unpack[ResumeRequest],
    ) -> GenerateResponse[Any]: ...

    @overload
    async def aresume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[True],
        **request: Unpack[ResumeRequest],
    ) -> streams.AsyncStream[Output]: ...

    @overload
    async def aresume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: Mapping[str, Any],
        stream: Literal[True],
        **request: Unpack[ResumeRequest],
    ) -> streams.AsyncStream[Any]: ...

    @takes(ResumeRequest)
    async def aresume(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[ResumeRequest],
    ) -> GenerateResponse[Any] | streams.AsyncStream[Any]:
        """The async version of `resume`. With `stream=True` it returns what `llm.astream` does:
        `async with await llm.aresume(..., stream=True) as stream`.
        """
        prepared = self._preparer.resumption(loop, answers, response_model, request, self, stream=stream)
        if stream:
            return prepared.async_stream(self._pipelines.asynchronous)
        return await prepared.response(self._pipelines.asynchronous)
