"""`LLM`: one model of one provider, for sync and async calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, cast, overload

from .. import schema
from ..concurrency import drive
from ..copying import check_picklable
from ..errors import ConfigurationError, InvalidInputError
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..outputs import ResponseModel
from ..ports import (
    BilledResponse,
    Charge,
    Endpoint,
    ModelProfile,
    ProviderSession,
    Transpiler,
)
from ..schema import GenerateResponse, ModelCall
from ..scrubbing import credentials_of
from .data_methods import DataMethods
from .embedding_methods import EmbeddingMethods
from .loop_methods import LoopMethods
from .map_methods import MapMethods
from .options import CallRequest, Output
from .pipeline_methods import PipelineMethods
from .pipelines import Pipelines
from .preparing import RequestPreparer

if TYPE_CHECKING:
    from .services import Services


@dataclass(frozen=True, slots=True, repr=False)
class LLMArguments:
    """The arguments that `create`, which is `create_llm`, was called with."""

    create: Callable[..., Any]
    provider: str | Sequence[object] | None
    model: str | None
    services: Services | None
    options: Mapping[str, Any]

    def again(self) -> Any:
        """Returns another LLM of the same arguments, with the same services."""
        return self.create(self.provider, self.model, services=self.services, **self.options)

    def picklable(self) -> partial[Any]:
        """Returns the function that creates an LLM where it is unpickled, with the key in that environment.

        Raises `InvalidInputError` with the name of an argument that belongs to this process, that cannot be pickled, or
        that holds a credential: a pickle is not a place for one.
        """
        if self.services is not None:
            hint = "Call create_llm in the other process, with Services of its own."
            raise InvalidInputError("an LLM with services of its own is not pickled", path="services", hint=hint)
        if not isinstance(self.provider, str | None):
            for index, each in enumerate(self.provider):
                check_picklable(each, f"provider[{index}]")
        for name, value in self.options.items():
            if any(credentials_of({name: value})):
                hint = (
                    "Leave it out and set the provider's environment variable, or call create_llm in the other process."
                )
                raise InvalidInputError("an LLM with a credential in its options is not pickled", path=name, hint=hint)
            if callable(value) and name in ("api_key", "access_token") and not isinstance(value, FunctionType):
                hint = "Use a function at the top of a module, or call create_llm in the other process."
                raise InvalidInputError("an object that may hold a credential is not pickled", path=name, hint=hint)
            if name == "middleware" and isinstance(value, list | tuple):
                for index, each in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
                    check_picklable(each, f"{name}[{index}]")
            else:
                check_picklable(value, name)
        return partial(self.create, self.provider, self.model, **self.options)


if TYPE_CHECKING:
    import typing_extensions

    from .. import capabilities, sessions
    from . import llm_capabilities, stored_files, streams, voice
else:
    typing_extensions = LazyModule("typing_extensions")
    capabilities = LazyModule("abstractcore.capabilities")
    llm_capabilities = LazyModule("abstractcore.client.llm_capabilities")
    sessions = LazyModule("abstractcore.sessions")
    stored_files = LazyModule("abstractcore.client.stored_files")
    streams = LazyModule("abstractcore.client.streams")
    voice = LazyModule("abstractcore.client.voice")

T = TypeVar("T")


class LLM(EmbeddingMethods, MapMethods, LoopMethods, DataMethods, PipelineMethods):
    """A model of a provider, created by `create_llm`. Threads and event loops may share it; it holds no connections.

    After `with` or `close`, calls raise `ConfigurationError`. Closing it is optional.

    `copy.copy`, `copy.deepcopy` and `pickle` create another one of the same arguments, for a process of
    `multiprocessing` or Ray, say, where it takes its key from the environment. One with an `api_key` or another
    credential in its options is not pickled, nor is one with `services`: `InvalidInputError` names the option.
    """

    def __init__(
        self,
        provider: str,
        pipelines: Pipelines,
        preparer: RequestPreparer,
        capabilities: Callable[[LLM], llm_capabilities.LLMCapabilities],
        arguments: LLMArguments,
    ) -> None:
        self.provider = provider
        self.model = pipelines.model
        self._pipelines = pipelines
        self._preparer = preparer
        self._new_capabilities = capabilities
        self._capabilities: dict[str, llm_capabilities.LLMCapabilities] = {}
        self._arguments = arguments

    @overload
    def generate(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Output]: ...

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
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.Stream[Output]: ...

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
        prepared = self._preparer.request(prompt, response_model, request, self, stream=stream)
        if stream:
            return prepared.sync_stream(self._pipelines.sync)
        return drive(prepared.response(self._pipelines.sync))

    @overload
    async def agenerate(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Output]: ...

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
        response_model: typing_extensions.TypeForm[Output] | None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> streams.AsyncStream[Output]: ...

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
        prepared = self._preparer.request(prompt, response_model, request, self, stream=stream)
        if stream:
            return prepared.async_stream(self._pipelines.asynchronous)
        return await prepared.response(self._pipelines.asynchronous)

    @overload
    def stream(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> streams.Stream[Output]: ...

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> streams.Stream[Any]: ...

    @takes(CallRequest)
    def stream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> streams.Stream[Any]:
        """Returns a stream of the answer; the request is sent at the first read."""
        prepared = self._preparer.request(prompt, response_model, request, self, stream=True)
        return prepared.sync_stream(self._pipelines.sync)

    @overload
    def astream(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> streams.AsyncStream[Output]: ...

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> streams.AsyncStream[Any]: ...

    @takes(CallRequest)
    def astream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> streams.AsyncStream[Any]:
        """The async version of `stream`, for `async with` and `async for`."""
        prepared = self._preparer.request(prompt, response_model, request, self, stream=True)
        return prepared.async_stream(self._pipelines.asynchronous)

    @property
    def calls(self) -> Sequence[ModelCall]:
        """The calls of a scripted model so far; raises `ConfigurationError` for other models."""
        calls = self._pipelines.session.calls
        if calls is None:
            raise ConfigurationError(f"{self.provider!r} does not record its calls: only scripted models do.")
        return calls

    @property
    def profile(self) -> ModelProfile:
        """What is known of the model, as calls use it: what it accepts, refuses and limits."""
        return self._pipelines.session.profile

    @property
    def transpiler(self) -> Transpiler:
        """The wire format of the provider, in this model's dialect: a server parses requests by it, and renders replies
        for clients of the same format.
        """
        return self._pipelines.session.transpiler

    @property
    def endpoint(self) -> Endpoint:
        """Where the provider is reached: its base URL, if that is known, and what is wrong with it after an error."""
        return self._pipelines.session.endpoint

    def charge(self, usage: schema.Usage) -> Charge:
        """Returns the cost of these tokens at the prices of the model, now, as an estimate: for calls that were
        cancelled before the provider reported them.
        """
        now = self._pipelines.services.clock.time_of_day()
        return self._pipelines.pricing.charge(BilledResponse(usage, self.model, now, complete=False))

    def estimate_tokens(self, call: ModelCall) -> schema.TokenCount:
        """Returns an estimate of the input tokens of a call given as data, without I/O: files that were not measured
        before count by their size. Never raises: for calls that were cancelled before the provider reported their
        tokens. `count_tokens_call` asks the provider.
        """
        return self._pipelines.estimate(call)

    @property
    def files(self) -> stored_files.StoredFiles:
        """The files that were uploaded to the provider's file store for this account; see `file_store`. Raises
        `ConfigurationError` for a group of models, of which each has its own.
        """
        from .stored_files import StoredFiles

        self.check_open()
        if len(self.members) > 1:
            hint = "Use those of each model: llm.members[0].files."
            raise ConfigurationError("a group of models has no files of its own.", hint=hint)
        if self.members[0] is not self:
            return self.members[0].files
        return StoredFiles(self.provider, self._pipelines, self._preparer.headers)

    @overload
    def capability(self, name: str) -> Any: ...

    @overload
    def capability(self, name: str, of_type: typing_extensions.TypeForm[T]) -> T: ...

    @overload
    def capability(self, name: type[T]) -> T: ...

    def capability(self, name: str | type, of_type: Any = None) -> Any:
        """Returns the object of the capability plugin `name`, which is created on first use.

        With a type, such as a protocol of the plugin, it is an object of that type: `capability("hello", Greeter)`. So
        it is with a class alone, whose attribute `capability` is the name: `capability(Greeter)`.

        Its options are those of `create_llm` that begin with its name and `_`. `llm.voice`, `llm.audio`, `llm.vision`
        and `llm.music` are found here too. Raises `UnknownCapabilityError` with similar names, `InvalidInputError` for
        an object of another type, and `PluginError` if the plugin fails. `of_type` is that type.
        """
        return self._open_capabilities().get(name, of_type)

    @property
    def voice(self) -> voice.Voice:
        """Speech: `llm.voice.tts("Hello").save("hello.wav")`. Needs a plugin."""
        return self._open_capabilities().facade("voice")

    @property
    def audio(self) -> capabilities.Audio:
        """Transcripts of recordings: `llm.audio.transcribe("talk.mp3").text`."""
        return self._open_capabilities().facade("audio")

    @property
    def vision(self) -> capabilities.Vision:
        """Images and videos: `llm.vision.t2i("a lighthouse").save("lighthouse.png")`. Needs a plugin."""
        return self._open_capabilities().facade("vision")

    @property
    def music(self) -> capabilities.Music:
        """Music: `llm.music.t2m("a calm waltz").save("waltz.wav")`. Needs a plugin."""
        return self._open_capabilities().facade("music")

    def _open_capabilities(self) -> llm_capabilities.LLMCapabilities:
        """Returns the capabilities, created with the first of them."""
        self.check_open()
        found = self._capabilities
        return found.get("all") or found.setdefault("all", self._new_capabilities(self))

    def session(self, **options: Unpack[sessions.SessionOptions]) -> sessions.Session:
        """Returns a new conversation in memory, which keeps what is asked and answered; see `Session`, which has the
        options, those of every call among them. `Session.open(path, llm)` keeps one in a file.
        """
        self.check_open()
        return sessions.Session(self, **options)

    def close(self) -> None:
        """Closes this LLM. Connections are shared by the process: they stay open for others, and are closed when idle.

        A model on this machine is unloaded after its running calls, if no other LLM uses it.
        """
        self._preparer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __copy__(self) -> Self:
        self.check_open()
        return cast("Self", self._arguments.again())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        self.check_open()
        return self._arguments.picklable(), ()

    def __repr__(self) -> str:
        return f"LLM({self._pipelines.shown()})"

    @property
    def members(self) -> Sequence[LLM]:
        """The LLMs that calls are shared among: of a group of models its members, otherwise this one alone."""
        return self._pipelines.members or (self,)


def settings_of(llm: LLM) -> tuple[LLMArguments, ProviderSession]:
    """Returns what an LLM was created with, and its session."""
    return llm._arguments, llm._pipelines.session  # pyright: ignore[reportPrivateUsage]
