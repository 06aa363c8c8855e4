"""The methods of `LLM` for calls given as data: from `build`, from JSON, from a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import schema
from ..concurrency import drive
from ..engine import InTime, Pipeline
from ..lazy_modules import LazyModule
from ..ports import Operation, OperationResult
from ..schema import EMPTY, GenerateResponse, ModelCall
from .operations import find_operation
from .pipelines import Pipelines
from .prepared_requests import DEFAULT_TIMEOUT_SECONDS, PreparedRequest
from .preparing import RequestPreparer

if TYPE_CHECKING:
    from . import streams
else:
    streams = LazyModule("abstractcore.client.streams")


class DataMethods:
    """`run`, `stream_call` and others of the same calls, and their async versions."""

    _pipelines: Pipelines
    _preparer: RequestPreparer

    def run(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """Makes a call given as data: from `build`, from JSON, from a server. Otherwise as `generate`.

        Raises `InvalidInputError` for a call of another provider or model.
        """
        return drive(self._preparer.given(call, timeout, stream=False).response(self._pipelines.sync))

    async def arun(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """The async version of `run`."""
        return await self._preparer.given(call, timeout, stream=False).response(self._pipelines.asynchronous)

    def stream_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> streams.Stream[None]:
        """Makes a call given as data, and returns a stream of the answer."""
        return self._preparer.given(call, timeout, stream=True).sync_stream(self._pipelines.sync)

    def astream_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> streams.AsyncStream[None]:
        """The async version of `stream_call`, for `async with` and `async for`."""
        return self._preparer.given(call, timeout, stream=True).async_stream(self._pipelines.asynchronous)

    def plan_call(self, call: ModelCall) -> schema.Plan:
        """Returns the plan of a call given as data. Otherwise as `plan`."""
        return drive(self._plan(self._pipelines.sync, self._preparer.given(call, None, stream=False)))

    async def aplan_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> schema.Plan:
        """The async version of `plan_call`: its files are measured in a worker thread."""
        return await self._plan(self._pipelines.asynchronous, self._preparer.given(call, timeout, stream=False))

    async def _plan(self, pipeline: Pipeline, request: PreparedRequest) -> schema.Plan:
        prepared = await request.prepare(pipeline.runtime)
        async with InTime(pipeline.runtime, request.timeout):
            return await pipeline.runtime.call(self._pipelines.plan, prepared.call, prepared.warnings, kind="files")

    def count_tokens_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> schema.TokenCount:
        """Returns the tokens of a call given as data. Otherwise as `count_tokens`."""
        from .token_counting import count_tokens

        request = self._preparer.given(call, timeout, stream=False)
        return drive(count_tokens(self._pipelines, self._pipelines.sync, request))

    async def acount_tokens_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> schema.TokenCount:
        """The async version of `count_tokens_call`."""
        from .token_counting import count_tokens

        request = self._preparer.given(call, timeout, stream=False)
        return await count_tokens(self._pipelines, self._pipelines.asynchronous, request)

    def operate_call(
        self,
        operation: str | Operation[Any],
        call: ModelCall,
        *,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
    ) -> OperationResult[Any]:
        """Makes a request of an operation other than chat, such as "count_tokens" or one of your own, for a call given
        as data.

        Raises `UnsupportedOptionError` for an operation that the provider does not have, and as `run` does.
        """
        wanted = self._operation(operation)
        request = self._preparer.given(call, timeout, stream=False)
        return drive(self._pipelines.sync.operate(wanted, request.prepare, request.timeout))

    async def aoperate_call(
        self,
        operation: str | Operation[Any],
        call: ModelCall,
        *,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
    ) -> OperationResult[Any]:
        """The async version of `operate_call`."""
        wanted = self._operation(operation)
        request = self._preparer.given(call, timeout, stream=False)
        return await self._pipelines.asynchronous.operate(wanted, request.prepare, request.timeout)

    def _operation(self, given: str | Operation[Any]) -> Operation[Any]:
        return (
            given if isinstance(given, Operation) else find_operation(self._pipelines.session.transpiler, given, EMPTY)
        )
