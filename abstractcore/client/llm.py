"""`LLM`: one model of one provider, for sync and async calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast, overload

from .. import schema
from ..concurrency import drive
from ..engine import Prepared
from ..errors import InvalidInputError
from ..lazy_modules import LazyModule
from ..option_signatures import takes
from ..outputs import ResponseModel
from ..ports import OperationResult
from ..schema import EMPTY, GenerateResponse, ModelCall
from .calls_as_data import DataLLM
from .deciding import DecidingLLM
from .operations import find_operation, prompt_for
from .options import CallRequest
from .running import async_stream, read_response, sync_stream

if TYPE_CHECKING:
    import typing_extensions

    from . import streams
else:
    streams = LazyModule("abstractcore.client.streams")
    typing_extensions = LazyModule("typing_extensions")

T = TypeVar("T")


class LLM(DecidingLLM, DataLLM):
    """A model of a provider, created by `create_llm`. Threads and event loops may share it; it holds no connections.

    After `with` or `close`, calls raise `ConfigurationError`. Closing it is optional.

    `copy.copy`, `copy.deepcopy` and `pickle` create another one of the same arguments, for a process of
    `multiprocessing` or Ray, say, where it takes its key from the environment. One with an `api_key` or another
    credential in its options is not pickled, nor is one with `services`: `InvalidInputError` names the option.
    """

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: None = None,
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[None]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[T],
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[T]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: Mapping[str, Any],
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.Stream[None]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[T],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.Stream[T]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: Mapping[str, Any],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.Stream[Any]: ...

    @takes(CallRequest)
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | streams.Stream[Any]:
        """Calls the model and returns the response; with `stream=True` the same as `stream(...)`.

        `messages` come first, then one user message of `media` and `prompt`. `response_model` is the type of
        `response.output`: a class, a type such as `list[City]`, `City | None` or `Literal["yes", "no"]`, or a JSON
        Schema as a mapping, for JSON data. An invalid answer is corrected, by default once: `output_retries`.
        `timeout` is in seconds for the whole call with its files and retries; the default is 600, None means no limit
        but 600 s without data. Only code that blocks by itself, such as a middleware that calls `time.sleep`, is not
        interrupted; the conversion of a file that takes longer continues in its thread.

        Raises `InvalidInputError`, `MediaError`, `MissingExtraError` and `UnsupportedContentError` before anything is
        sent, `ProviderError` after, `OutputValidationError` at the end.
        """
        pending = self._request(prompt, response_model, request, stream)
        if stream:
            return sync_stream(self._pipelines.sync, pending)
        return drive(read_response(self._pipelines.sync, pending))

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: None = None,
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[None]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[T],
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[T]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: Mapping[str, Any],
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.AsyncStream[None]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[T],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.AsyncStream[T]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: Mapping[str, Any],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.AsyncStream[Any]: ...

    @takes(CallRequest)
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | streams.AsyncStream[Any]:
        """The async version of `generate`. Cancelling the task closes the connection.

        With `stream=True` it returns what `astream` returns: `async with await llm.agenerate(..., stream=True) as
        stream`.
        """
        pending = self._request(prompt, response_model, request, stream)
        if stream:
            return async_stream(self._pipelines.asynchronous, pending)
        return await read_response(self._pipelines.asynchronous, pending)

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: None = None, **request: Unpack[CallRequest]
    ) -> streams.Stream[None]: ...

    @overload
    def stream(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[T],
        **request: Unpack[CallRequest],
    ) -> streams.Stream[T]: ...

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> streams.Stream[Any]: ...

    @takes(CallRequest)
    def stream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> streams.Stream[Any]:
        """Returns a stream of the answer; the request is sent at the first read."""
        pending = self._request(prompt, response_model, request, True)
        return sync_stream(self._pipelines.sync, pending)

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: None = None, **request: Unpack[CallRequest]
    ) -> streams.AsyncStream[None]: ...

    @overload
    def astream(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[T],
        **request: Unpack[CallRequest],
    ) -> streams.AsyncStream[T]: ...

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> streams.AsyncStream[Any]: ...

    @takes(CallRequest)
    def astream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> streams.AsyncStream[Any]:
        """The async version of `stream`, for `async with` and `async for`."""
        pending = self._request(prompt, response_model, request, True)
        return async_stream(self._pipelines.asynchronous, pending)

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
        pending = self._request(prompt, response_model, request, stream)
        return drive(cast(Any, pending.prepare(self._pipelines.sync.runtime)))

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
        from .token_counting import count_tokens

        pending = self._request(prompt, response_model, request, False)
        return drive(count_tokens(self._pipelines, self._pipelines.sync, pending))

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
        from .token_counting import count_tokens

        pending = self._request(prompt, response_model, request, False)
        return await count_tokens(self._pipelines, self._pipelines.asynchronous, pending)

    @takes(CallRequest)
    def operate(
        self,
        operation: str,
        prompt: str | None = None,
        *,
        arguments: Mapping[str, Any] = EMPTY,
        **request: Unpack[CallRequest],
    ) -> OperationResult[Any]:
        """Makes a request of an operation other than chat, such as "count_tokens", for what `generate` would send.

        `arguments` are further arguments of the operation; some, such as "retrieve_reply", need no prompt. Timeouts,
        retries, records and cassettes work as for chats. Raises `UnsupportedOptionError` for an operation that the
        provider does not have, and errors as `generate` does.
        """
        wanted = find_operation(self._pipelines.session.transpiler, operation, arguments)
        pending = self._request(prompt_for(wanted, prompt, request), None, request, False)
        return drive(self._pipelines.sync.operate(wanted, pending.prepare, pending.timeout))

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
        wanted = find_operation(self._pipelines.session.transpiler, operation, arguments)
        pending = self._request(prompt_for(wanted, prompt, request), None, request, False)
        return await self._pipelines.asynchronous.operate(wanted, pending.prepare, pending.timeout)

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
            from ..tools.loop import next_call

            call = next_call(ToolLoop("", call), stream=stream)
        return self._pipelines.plan(call, prepared.warnings)
