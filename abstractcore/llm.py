"""`LLM`: one model of one provider, ready to be asked, in plain code and in any event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack, cast, overload

from .building import build_call
from .cached_contents import CachedContents
from .capabilities import Capabilities
from .contexts import scoped, scoped_call
from .engine import CallStream, OutputReader, Prepare, lower
from .errors import ConfigurationError, InvalidInputError
from .media_loading import load_media, media_items
from .option_values import seconds
from .options import CALL_OPTIONS, REQUEST_FIELDS, CallRequest, check_names, merged
from .outputs import OutputType, no_output
from .pipelines import Pipelines
from .ports import Runtime
from .runtimes import drive
from .schema import GenerateResponse, MediaDecision, ModelCall
from .signatures import takes
from .streams import AsyncStream, Stream
from .tool_specs import tool_specs

T = TypeVar("T")
_DEFAULT_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request, checked as far as it can be without reading files."""

    build: Prepare
    timeout: float | None
    read_output: OutputReader


class LLM:
    """Made by `create_llm`. Safe to share between threads and event loops; holds no connection of its own.

    `with` or `close` ends it: calls after that raise `ConfigurationError`. Never closing it is fine.
    """

    def __init__(
        self, provider: str, pipelines: Pipelines, capabilities: Capabilities, defaults: Mapping[str, Any]
    ) -> None:
        self.provider = provider
        self.model = pipelines.session.model
        self._pipelines = pipelines
        self._capabilities = capabilities
        self._defaults = defaults
        self._closed = False

    @property
    def calls(self) -> Sequence[ModelCall]:
        """The calls a scripted model has got; raises `ConfigurationError` for a real one, which keeps none."""
        calls = self._pipelines.session.calls
        if calls is None:
            raise ConfigurationError(f"{self.provider!r} keeps no record of its calls: only scripted models do.")
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
        response_model: type[T],
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
        response_model: type[T],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> Stream[T]: ...

    @takes(CallRequest)
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: type[Any] | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | Stream[Any]:
        """Ask the model and wait for its answer; with `stream=True` the same as `stream(...)`.

        `messages` come first, then one user message of `media` and `prompt`. `response_model` is the type that
        `response.output` is to have. `timeout` is in seconds for the whole call with its retries, 600 unless given,
        None for no limit but 600 s of silence. Blocking code looks at the clock between reads and cannot interrupt
        one, so it may take up to twice as long. Raises `InvalidInputError`, `MediaError`, `MissingExtraError` and
        `UnsupportedContentError` before anything is sent, `ProviderError` after, `OutputValidationError` at the end.
        """
        asked = self._ask(prompt, response_model, request, stream)
        pipeline = self._pipelines.sync
        if stream:
            return Stream(CallStream(pipeline, asked.build, asked.timeout, asked.read_output))
        return drive(pipeline.generate(asked.build, asked.timeout, asked.read_output))

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
        response_model: type[T],
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
        response_model: type[T],
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> AsyncStream[T]: ...

    @takes(CallRequest)
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: type[Any] | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | AsyncStream[Any]:
        """As `generate`, in an event loop. Cancelling the task closes the connection.

        With `stream=True` it gives what `astream` gives: `async with await llm.agenerate(..., stream=True) as stream`.
        """
        asked = self._ask(prompt, response_model, request, stream)
        if stream:
            pipeline = self._pipelines.asynchronous
            return AsyncStream(CallStream(pipeline, asked.build, asked.timeout, asked.read_output))
        return await self._pipelines.asynchronous.generate(asked.build, asked.timeout, asked.read_output)

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: None = None, **request: Unpack[CallRequest]
    ) -> Stream[None]: ...

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: type[T], **request: Unpack[CallRequest]
    ) -> Stream[T]: ...

    @takes(CallRequest)
    def stream(
        self, prompt: str | None = None, *, response_model: type[Any] | None = None, **request: Unpack[CallRequest]
    ) -> Stream[Any]:
        """Ask the model and get its answer piece by piece; nothing is sent before the first read."""
        asked = self._ask(prompt, response_model, request, True)
        return Stream(CallStream(self._pipelines.sync, asked.build, asked.timeout, asked.read_output))

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: None = None, **request: Unpack[CallRequest]
    ) -> AsyncStream[None]: ...

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: type[T], **request: Unpack[CallRequest]
    ) -> AsyncStream[T]: ...

    @takes(CallRequest)
    def astream(
        self, prompt: str | None = None, *, response_model: type[Any] | None = None, **request: Unpack[CallRequest]
    ) -> AsyncStream[Any]:
        """As `stream`, for `async with` and `async for`."""
        asked = self._ask(prompt, response_model, request, True)
        return AsyncStream(CallStream(self._pipelines.asynchronous, asked.build, asked.timeout, asked.read_output))

    @takes(CallRequest)
    def build(
        self,
        prompt: str | None = None,
        *,
        response_model: type[Any] | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> ModelCall:
        """The call that `generate` would make, as data. Reads the files in `media`; sends nothing."""
        asked = self._ask(prompt, response_model, request, stream)
        return drive(cast(Any, asked.build(self._pipelines.sync.runtime)))

    def run(self, call: ModelCall, *, timeout: float | None = _DEFAULT_TIMEOUT_SECONDS) -> GenerateResponse[None]:
        """Make a call that is there as data: from `build`, from JSON, from a server. As `generate` else.

        Raises `InvalidInputError` for a call that is meant for another provider or model.
        """
        asked = self._given(call, timeout, stream=False)
        return drive(self._pipelines.sync.generate(asked.build, asked.timeout, asked.read_output))

    async def arun(
        self, call: ModelCall, *, timeout: float | None = _DEFAULT_TIMEOUT_SECONDS
    ) -> GenerateResponse[None]:
        """As `run`, in an event loop."""
        asked = self._given(call, timeout, stream=False)
        return await self._pipelines.asynchronous.generate(asked.build, asked.timeout, asked.read_output)

    def stream_call(self, call: ModelCall, *, timeout: float | None = _DEFAULT_TIMEOUT_SECONDS) -> Stream[None]:
        """As `run`, piece by piece."""
        asked = self._given(call, timeout, stream=True)
        return Stream(CallStream(self._pipelines.sync, asked.build, asked.timeout, asked.read_output))

    def astream_call(self, call: ModelCall, *, timeout: float | None = _DEFAULT_TIMEOUT_SECONDS) -> AsyncStream[None]:
        """As `stream_call`, for `async with` and `async for`."""
        asked = self._given(call, timeout, stream=True)
        return AsyncStream(CallStream(self._pipelines.asynchronous, asked.build, asked.timeout, asked.read_output))

    @takes(CallRequest)
    def count_tokens(
        self,
        prompt: str | None = None,
        *,
        response_model: type[Any] | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> int:
        """How many tokens the same `generate` would send, by the provider's own count; nothing is generated.

        `stream` makes no difference. Raises `UnsupportedOptionError` where the provider does not count, else as
        `generate`.
        """
        asked = self._ask(prompt, response_model, request, False)
        return drive(self._pipelines.sync.count_tokens(asked.build, asked.timeout))

    @takes(CallRequest)
    async def acount_tokens(
        self,
        prompt: str | None = None,
        *,
        response_model: type[Any] | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> int:
        """As `count_tokens`, in an event loop."""
        asked = self._ask(prompt, response_model, request, False)
        return await self._pipelines.asynchronous.count_tokens(asked.build, asked.timeout)

    @property
    def cached_contents(self) -> CachedContents:
        """Content that the provider keeps for later calls, where that takes requests of their own."""
        return CachedContents(self._pipelines, self._prepared)

    @takes(CallRequest)
    def plan(
        self,
        prompt: str | None = None,
        *,
        response_model: type[Any] | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> tuple[MediaDecision, ...]:
        """What would become of each file, as in `response.media`, without converting or sending anything.

        Raises what `generate` would raise for the same files, as far as it shows without converting them.
        """
        session = self._pipelines.session
        call = self.build(prompt, response_model=response_model, stream=stream, **request)
        return lower(call, session.profile, self._pipelines.handlers).decisions

    def capability(self, name: str) -> Any:
        """What the capability plugin `name` makes for this LLM: made at the first asking, the same object afterwards.

        Its options are those of `create_llm` that begin with its name and `_`. Raises `UnknownCapabilityError` with
        the nearest names, and `PluginError` if the plugin fails.
        """
        self._check_open()
        return self._capabilities.get(name)

    def close(self) -> None:
        """End this LLM. Connections are shared by the process: they stay for other LLMs, and end when idle."""
        self._closed = True

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
        return f"LLM({self.provider}/{self.model})"

    def _ask(self, prompt: str | None, response_model: type[Any] | None, request: CallRequest, stream: bool) -> _Asked:
        self._check_open()
        registry = self._pipelines.registry
        if request:
            check_names(request, REQUEST_FIELDS, "a call", registry.capabilities)
        given = request.get("options") or {}
        check_names(given, CALL_OPTIONS, "`options`", registry.capabilities)
        defaults = scoped(self._defaults)
        options = merged(defaults, {**given, **request}) if request else defaults
        output = OutputType(response_model) if response_model is not None else None
        media = media_items(request.get("media"))

        async def build(runtime: Runtime) -> ModelCall:
            parts = await runtime.call(load_media, media, self._pipelines.handlers) if media else ()
            return build_call(
                provider=self.provider,
                model=self.model,
                prompt=prompt,
                messages=request.get("messages") or (),
                system_prompt=request.get("system_prompt"),
                media=parts,
                tools=tool_specs(request.get("tools"), registry),
                output=output.schema if output is not None else None,
                options=options,
                stream=stream,
            )

        timeout = seconds(options.get("timeout", _DEFAULT_TIMEOUT_SECONDS), "timeout")
        return _Asked(build, timeout, output.read if output is not None else no_output)

    def _prepared(self, prompt: str | None, request: CallRequest) -> tuple[Prepare, float | None]:
        asked = self._ask(prompt, None, request, False)
        return asked.build, asked.timeout

    def _given(self, call: ModelCall, timeout: float | None, stream: bool) -> _Asked:
        self._check_open()
        if not isinstance(call, ModelCall):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a ModelCall, got {type(call).__name__}", path="call")
        if (call.provider, call.model) != (self.provider, self.model):
            raise InvalidInputError(
                f"the call is for {call.provider}/{call.model}, this is {self.provider}/{self.model}",
                path="call.model",
                hint=f"Use call.with_(provider={self.provider!r}, model={self.model!r}) to make it here.",
            )
        made = scoped_call(call.with_(stream=stream))

        async def build(runtime: Runtime) -> ModelCall:
            return made

        return _Asked(build, seconds(timeout, "timeout"), no_output)

    def _check_open(self) -> None:
        if self._closed:
            raise ConfigurationError("this LLM is closed.", hint="Make another with create_llm.")
