"""The methods of `LLM` for calls as data, from `build`, from JSON or from a server; and for plans, counts of tokens and
other operations than chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import schema
from ..concurrency import drive
from ..engine import InTime, Pipeline, Prepared
from ..errors import InvalidInputError
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..outputs import ResponseModel
from ..ports import AnyInput, Operation, OperationResult
from ..schema import EMPTY, GenerateResponse, ModelCall
from .options import CallRequest
from .pipelines import DEFAULT_TIMEOUT_SECONDS, Pipelines, PreparedRequest
from .preparing import RequestPreparer

if TYPE_CHECKING:
    from . import streams
else:
    streams = LazyModule("abstractcore.client.streams")
    typing_extensions = LazyModule("typing_extensions")  # which `ResponseModel` names


class DataMethods:
    """`build`, `run`, `plan`, `count_tokens`, `operate` and others of the same calls."""

    _pipelines: Pipelines
    _preparer: RequestPreparer

    @takes(CallRequest)
    def build(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> ModelCall:
        """Returns the call that `generate` would make, as data. Reads the files in `media`; sends nothing.

        Raises `InvalidInputError` for `headers`, which are not part of a call, and errors as `generate` does.
        """
        call = self._build(prompt, response_model, request, stream).call
        if request.get("headers") or (request.get("options") or {}).get("headers"):
            hint = "Pass them to create_llm: run(...) sends them too."
            raise InvalidInputError("a call as data has no headers: they may be secret", path="headers", hint=hint)
        return call

    def _build(
        self, prompt: str | None, response_model: ResponseModel | None, request: CallRequest, stream: bool
    ) -> Prepared:
        prepared = self._preparer.request(prompt, response_model, request, self, stream=stream)
        pipeline = self._pipelines.sync
        return drive(prepared.interruptible(cast(Any, prepared.prepare(pipeline.runtime)), pipeline))

    @takes(CallRequest)
    def count_tokens(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> schema.TokenCount:
        """Returns the provider's count of the tokens that the same `generate` would send; nothing is generated. A model
        on this machine is started, and counts by its own tokenizer and chat template.

        The count is an `int`. Its `estimated` is True if the provider has no token-counting endpoint: see `plan`, whose
        estimate it is then. `stream` has no effect. Raises errors as `generate` does.
        """
        from .operations import count_tokens

        prepared = self._preparer.request(prompt, response_model, request, self)
        pipeline = self._pipelines.sync
        return drive(prepared.interruptible(count_tokens(self._pipelines, pipeline, prepared), pipeline))

    @takes(CallRequest)
    async def acount_tokens(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> schema.TokenCount:
        """The async version of `count_tokens`."""
        from .operations import count_tokens

        prepared = self._preparer.request(prompt, response_model, request, self)
        pipeline = self._pipelines.asynchronous
        return await prepared.interruptible(count_tokens(self._pipelines, pipeline, prepared), pipeline)

    @takes(CallRequest)
    def operate(
        self,
        operation: str,
        prompt: str | None = None,
        *,
        arguments: Mapping[str, Any] = EMPTY,
        **request: Unpack[CallRequest],
    ) -> OperationResult[Any]:
        """Makes a request of an operation other than chat: on what `generate` would send, as "count_tokens" does, or on
        something else, as "retrieve_reply" does.

        `arguments` are those of the operation, which are the fields of its input. Of one without a call, they are all
        that it takes, beside `timeout`, `headers`, `strict` and what is for records. Timeouts, retries, records and
        cassettes work as for chats. Raises `UnsupportedOptionError` for an operation that the provider does not have,
        `InvalidInputError` for what the operation does not take, and errors as `generate` does.
        """
        wanted, prepared = self._preparer.operation(operation, prompt, arguments, request, self)
        return drive(prepared.operate(wanted, self._pipelines.sync))

    @takes(CallRequest)
    async def aoperate(
        self,
        operation: str,
        prompt: str | None = None,
        *,
        arguments: Mapping[str, Any] = EMPTY,
        **request: Unpack[CallRequest],
    ) -> OperationResult[Any]:
        """The async version of `operate`."""
        wanted, prepared = self._preparer.operation(operation, prompt, arguments, request, self)
        return await prepared.operate(wanted, self._pipelines.asynchronous)

    @takes(CallRequest)
    def plan(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> schema.Plan:
        """Returns the decision for each file, as in `response.media`, warnings for what the model does not support, and
        an estimate of the input tokens and of the cost. Nothing is converted or sent.

        Raises the errors that `generate` would raise before it converts files; with `strict=True`, also for these
        warnings.
        """
        prepared = self._build(prompt, response_model, request, stream)
        call = prepared.call
        if request.get("run_tools"):
            from ..schema import ToolLoop
            from ..tools.loop_rules import next_call

            call = next_call(ToolLoop("", call), stream=stream)
        return self._pipelines.plan(call, prepared.warnings)

    def run(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """Makes a call given as data: from `build`, from JSON, from a server. Otherwise as `generate`.

        Raises `InvalidInputError` for a call of another provider or model.
        """
        return drive(self._preparer.given_call(call, timeout, stream=False).response(self._pipelines.sync))

    async def arun(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """The async version of `run`."""
        return await self._preparer.given_call(call, timeout, stream=False).response(self._pipelines.asynchronous)

    def stream_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> streams.Stream[None]:
        """Makes a call given as data, and returns a stream of the answer."""
        return self._preparer.given_call(call, timeout, stream=True).sync_stream(self._pipelines.sync)

    def astream_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> streams.AsyncStream[None]:
        """The async version of `stream_call`, for `async with` and `async for`."""
        return self._preparer.given_call(call, timeout, stream=True).async_stream(self._pipelines.asynchronous)

    def plan_call(self, call: ModelCall) -> schema.Plan:
        """Returns the plan of a call given as data. Otherwise as `plan`."""
        return drive(self._plan(self._pipelines.sync, self._preparer.given_call(call, None, stream=False)))

    async def aplan_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> schema.Plan:
        """The async version of `plan_call`: its files are measured in a worker thread."""
        return await self._plan(self._pipelines.asynchronous, self._preparer.given_call(call, timeout, stream=False))

    async def _plan(self, pipeline: Pipeline, request: PreparedRequest) -> schema.Plan:
        prepared = await request.prepare(pipeline.runtime)
        async with InTime(pipeline.runtime, request.timeout):
            return await pipeline.runtime.call(self._pipelines.plan, prepared.call, prepared.warnings, kind="files")

    def count_tokens_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> schema.TokenCount:
        """Returns the tokens of a call given as data. Otherwise as `count_tokens`."""
        from .operations import count_tokens

        request = self._preparer.given_call(call, timeout, stream=False)
        return drive(count_tokens(self._pipelines, self._pipelines.sync, request))

    async def acount_tokens_call(
        self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    ) -> schema.TokenCount:
        """The async version of `count_tokens_call`."""
        from .operations import count_tokens

        request = self._preparer.given_call(call, timeout, stream=False)
        return await count_tokens(self._pipelines, self._pipelines.asynchronous, request)

    def operate_call(
        self,
        operation: str | Operation[Any, Any],
        call: AnyInput,
        *,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
    ) -> OperationResult[Any]:
        """Makes a request of an operation other than chat, such as "count_tokens" or one of your own, for a call given
        as data, or for another input of the operation.

        Raises `UnsupportedOptionError` for an operation that the provider does not have, and as `run` does.
        """
        wanted, request = self._preparer.given_operation(operation, call, timeout)
        return drive(request.operate(wanted, self._pipelines.sync))

    async def aoperate_call(
        self,
        operation: str | Operation[Any, Any],
        call: AnyInput,
        *,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
    ) -> OperationResult[Any]:
        """The async version of `operate_call`."""
        wanted, request = self._preparer.given_operation(operation, call, timeout)
        return await request.operate(wanted, self._pipelines.asynchronous)
