"""`DataLLM`: calls given as data: from `build`, from JSON, from a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import schema
from ..concurrency import drive
from ..engine import InTime, Pipeline
from ..lazy_modules import LazyModule
from ..ports import Operation, OperationResult
from ..schema import EMPTY, GenerateResponse, ModelCall
from .llm_base import LLMBase
from .operations import find_operation
from .preparing import DEFAULT_TIMEOUT_SECONDS, PendingCall
from .running import async_stream, read_response, sync_stream

if TYPE_CHECKING:
    from . import streams
else:
    streams = LazyModule("abstractcore.client.streams")


class DataLLM(LLMBase):
    """An LLM that makes calls given as data."""

    def run(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """Makes a call given as data: from `build`, from JSON, from a server. Otherwise as `generate`.

        Raises `InvalidInputError` for a call of another provider or model.
        """
        pending = self._given(call, timeout, stream=False)
        return drive(read_response(self._pipelines.sync, pending))

    async def arun(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """The async version of `run`."""
        pending = self._given(call, timeout, stream=False)
        return await read_response(self._pipelines.asynchronous, pending)

    def stream_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> streams.Stream[None]:
        """Makes a call given as data, and returns a stream of the answer."""
        pending = self._given(call, timeout, stream=True)
        return sync_stream(self._pipelines.sync, pending)

    def astream_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> streams.AsyncStream[None]:
        """The async version of `stream_call`, for `async with` and `async for`."""
        pending = self._given(call, timeout, stream=True)
        return async_stream(self._pipelines.asynchronous, pending)

    def plan_call(self, call: ModelCall) -> schema.Plan:
        """Returns the plan of a call given as data. Otherwise as `plan`."""
        return drive(self._plan(self._pipelines.sync, self._given(call, None, stream=False)))

    async def aplan_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> schema.Plan:
        """The async version of `plan_call`: its files are measured in a worker thread."""
        return await self._plan(self._pipelines.asynchronous, self._given(call, timeout, stream=False))

    async def _plan(self, pipeline: Pipeline, pending: PendingCall) -> schema.Plan:
        prepared = await pending.prepare(pipeline.runtime)
        async with InTime(pipeline.runtime, pending.timeout):
            return await pipeline.runtime.call(self._pipelines.plan, prepared.call, prepared.warnings, kind="files")

    def count_tokens_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> schema.TokenCount:
        """Returns the tokens of a call given as data. Otherwise as `count_tokens`."""
        from .token_counting import count_tokens

        pending = self._given(call, timeout, stream=False)
        return drive(count_tokens(self._pipelines, self._pipelines.sync, pending))

    async def acount_tokens_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> schema.TokenCount:
        """The async version of `count_tokens_call`."""
        from .token_counting import count_tokens

        pending = self._given(call, timeout, stream=False)
        return await count_tokens(self._pipelines, self._pipelines.asynchronous, pending)

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
        pending = self._given(call, timeout, stream=False)
        return drive(self._pipelines.sync.operate(wanted, pending.prepare, pending.timeout))

    async def aoperate_call(
        self,
        operation: str | Operation[Any],
        call: ModelCall,
        *,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
    ) -> OperationResult[Any]:
        """The async version of `operate_call`."""
        wanted = self._operation(operation)
        pending = self._given(call, timeout, stream=False)
        return await self._pipelines.asynchronous.operate(wanted, pending.prepare, pending.timeout)

    def _operation(self, given: str | Operation[Any]) -> Operation[Any]:
        return (
            given if isinstance(given, Operation) else find_operation(self._pipelines.session.transpiler, given, EMPTY)
        )
