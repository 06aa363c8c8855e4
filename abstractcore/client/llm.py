"""`LLM`: one model of one provider, for sync and async calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast, overload

from ..concurrency import drive
from ..engine import CallStream, Prepared, refuse_losses, shown_url
from ..errors import ConfigurationError, InvalidInputError, UnsupportedOptionError
from ..outputs import ResponseModel
from ..ports import Endpoint, HasOperations, KnownUrl, Operation, OperationResult
from ..schema import EMPTY, GenerateResponse, ModelCall, Plan
from .capabilities import Capabilities
from .operations import find_operation, prompt_for
from .options import CallRequest
from .pipelines import Pipelines
from .preparing import DEFAULT_TIMEOUT_SECONDS, CallPreparer, PendingCall
from .signatures import takes
from .streams import AsyncStream, Stream

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")
_COUNT_TOKENS = "count_tokens"


class LLM:
    """A model of a provider, created by `create_llm`. Threads and event loops may share it; it holds no connections.

    After `with` or `close`, calls raise `ConfigurationError`. Closing it is optional.
    """

    def __init__(self, provider: str, pipelines: Pipelines, capabilities: Capabilities, calls: CallPreparer) -> None:
        self.provider = provider
        self.model = pipelines.session.model
        self._pipelines = pipelines
        self._capabilities = capabilities
        self._calls = calls
        self._closed = False

    @property
    def calls(self) -> Sequence[ModelCall]:
        """The calls of a scripted model so far; raises `ConfigurationError` for other models."""
        calls = self._pipelines.session.calls
        if calls is None:
            raise ConfigurationError(f"{self.provider!r} does not record its calls: only scripted models do.")
        return calls

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
        response_model: TypeForm[T],
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[T]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> Stream[None]: ...

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: TypeForm[T],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> Stream[T]: ...

    @takes(CallRequest)
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | Stream[Any]:
        """Calls the model and returns the response; with `stream=True` the same as `stream(...)`.

        `messages` come first, then one user message of `media` and `prompt`. `response_model` is the type of
        `response.output`: a class, or a type such as `list[City]`, `City | None` or `Literal["yes", "no"]`.
        `timeout` is in seconds for the whole call with its files and retries; the default is 600, None means no limit
        but 600 s without data. Only code that blocks by itself, such as a middleware that calls `time.sleep`, is not
        interrupted; the conversion of a file that takes longer continues in its thread.

        Raises `InvalidInputError`, `MediaError`, `MissingExtraError` and `UnsupportedContentError` before anything is
        sent, `ProviderError` after, `OutputValidationError` at the end.
        """
        pending = self._request(prompt, response_model, request, stream)
        pipeline = self._pipelines.sync
        if stream:
            return Stream(CallStream(pipeline, pending.prepare, pending.timeout, pending.read_output))
        return drive(pipeline.generate(pending.prepare, pending.timeout, pending.read_output))

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
        response_model: TypeForm[T],
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[T]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> AsyncStream[None]: ...

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: TypeForm[T],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> AsyncStream[T]: ...

    @takes(CallRequest)
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | AsyncStream[Any]:
        """The async version of `generate`. Cancelling the task closes the connection.

        With `stream=True` it returns what `astream` returns: `async with await llm.agenerate(..., stream=True) as
        stream`.
        """
        pending = self._request(prompt, response_model, request, stream)
        if stream:
            pipeline = self._pipelines.asynchronous
            return AsyncStream(CallStream(pipeline, pending.prepare, pending.timeout, pending.read_output))
        return await self._pipelines.asynchronous.generate(pending.prepare, pending.timeout, pending.read_output)

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: None = None, **request: Unpack[CallRequest]
    ) -> Stream[None]: ...

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: TypeForm[T], **request: Unpack[CallRequest]
    ) -> Stream[T]: ...

    @takes(CallRequest)
    def stream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> Stream[Any]:
        """Returns a stream of the answer; the request is sent at the first read."""
        pending = self._request(prompt, response_model, request, True)
        return Stream(CallStream(self._pipelines.sync, pending.prepare, pending.timeout, pending.read_output))

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: None = None, **request: Unpack[CallRequest]
    ) -> AsyncStream[None]: ...

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: TypeForm[T], **request: Unpack[CallRequest]
    ) -> AsyncStream[T]: ...

    @takes(CallRequest)
    def astream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> AsyncStream[Any]:
        """The async version of `stream`, for `async with` and `async for`."""
        pending = self._request(prompt, response_model, request, True)
        return AsyncStream(
            CallStream(self._pipelines.asynchronous, pending.prepare, pending.timeout, pending.read_output)
        )

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

    def run(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """Makes a call given as data: from `build`, from JSON, from a server. Otherwise as `generate`.

        Raises `InvalidInputError` for a call of another provider or model.
        """
        pending = self._given(call, timeout, stream=False)
        return drive(self._pipelines.sync.generate(pending.prepare, pending.timeout, pending.read_output))

    async def arun(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """The async version of `run`."""
        pending = self._given(call, timeout, stream=False)
        return await self._pipelines.asynchronous.generate(pending.prepare, pending.timeout, pending.read_output)

    def stream_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> Stream[None]:
        """Makes a call given as data, and returns a stream of the answer."""
        pending = self._given(call, timeout, stream=True)
        return Stream(CallStream(self._pipelines.sync, pending.prepare, pending.timeout, pending.read_output))

    def astream_call(self, call: ModelCall, *, timeout: float | None = DEFAULT_TIMEOUT_SECONDS) -> AsyncStream[None]:
        """The async version of `stream_call`, for `async with` and `async for`."""
        pending = self._given(call, timeout, stream=True)
        return AsyncStream(
            CallStream(self._pipelines.asynchronous, pending.prepare, pending.timeout, pending.read_output)
        )

    @takes(CallRequest)
    def count_tokens(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> int:
        """Returns the provider's count of the tokens that the same `generate` would send; nothing is generated.

        `stream` has no effect. Raises `UnsupportedOptionError` if the provider has no token-counting endpoint, and
        errors as `generate` does.
        """
        operation = self._count_operation()
        pending = self._request(prompt, response_model, request, False)
        return drive(self._pipelines.sync.operate(operation, pending.prepare, pending.timeout)).value

    @takes(CallRequest)
    async def acount_tokens(
        self,
        prompt: str | None = None,
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> int:
        """The async version of `count_tokens`."""
        operation = self._count_operation()
        pending = self._request(prompt, response_model, request, False)
        return (await self._pipelines.asynchronous.operate(operation, pending.prepare, pending.timeout)).value

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
    ) -> Plan:
        """Returns the decision for each file, as in `response.media`, and warnings for what the model does not support.
        Nothing is converted or sent.

        Raises the errors that `generate` would raise before it converts files; with `strict=True`, also for these
        warnings.
        """
        prepared = self._build(prompt, response_model, request, stream)
        lowered = self._pipelines.lowered(prepared.call)
        if prepared.call.strict:
            refuse_losses(lowered.warnings, prepared.call)
        return Plan(lowered.decisions, (*prepared.warnings, *lowered.warnings))

    def capability(self, name: str) -> Any:
        """Returns the object of the capability plugin `name`, which is created on first use.

        Its options are those of `create_llm` that begin with its name and `_`. Raises `UnknownCapabilityError` with
        similar names, and `PluginError` if the plugin fails.
        """
        self._check_open()
        return self._capabilities.get(name)

    def close(self) -> None:
        """Closes this LLM. Connections are shared by the process: they stay open for others, and are closed when idle.

        A model on this machine is unloaded after its running calls, if no other LLM uses it.
        """
        if not self._closed:
            self._closed = True
            self._pipelines.close()

    def __enter__(self) -> LLM:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> LLM:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LLM({self.provider}/{self.model}{_location(self._pipelines.session.endpoint)})"

    def _request(
        self, prompt: str | None, response_model: ResponseModel | None, request: CallRequest, stream: bool
    ) -> PendingCall:
        self._check_open()
        return self._calls.request(prompt, response_model, request, stream=stream)

    def _given(self, call: ModelCall, timeout: float | None, stream: bool) -> PendingCall:
        self._check_open()
        return self._calls.given(call, timeout, stream=stream)

    def _count_operation(self) -> Operation[int]:
        transpiler = self._pipelines.session.transpiler
        if not isinstance(transpiler, HasOperations) or _COUNT_TOKENS not in transpiler.operations:
            hint = "Call the model, and read `response.usage`."
            raise UnsupportedOptionError("this provider has no token-counting endpoint.", hint=hint)
        return find_operation(transpiler, _COUNT_TOKENS, EMPTY)

    def _check_open(self) -> None:
        if self._closed:
            raise ConfigurationError("this LLM is closed.", hint="Create another with create_llm.")


def _location(endpoint: Endpoint) -> str:
    """Returns the URL of the endpoint for the repr, if it has one."""
    if not isinstance(endpoint, KnownUrl):
        return ""
    return " at a URL known after the first call" if endpoint.url is None else f" at {shown_url(endpoint.url)}"
