"""`LLMBase`: what an LLM is besides its calls: its parts, its capabilities and its end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

from .. import schema
from ..errors import ConfigurationError
from ..lazy_modules import LazyModule
from ..outputs import ResponseModel
from ..ports import BilledResponse, Charge, Endpoint, KnownUrl, ModelProfile, Runtime, Transpiler
from ..schema import GenerateResponse, ModelCall
from ..scrubbing import shown_url
from .capabilities import Capabilities
from .copies import LLMArguments
from .options import CallRequest, ResumeRequest
from .pipelines import Pipelines
from .preparing import CallPreparer, PendingCall

if TYPE_CHECKING:
    import typing_extensions

    from .. import capabilities
    from . import stored_files, voice
else:
    typing_extensions = LazyModule("typing_extensions")
    capabilities = LazyModule("abstractcore.capabilities")
    stored_files = LazyModule("abstractcore.client.stored_files")
    voice = LazyModule("abstractcore.client.voice")

T = TypeVar("T")

_FACADES: Mapping[str, Callable[[], Any]] = {
    "audio": lambda: capabilities.Audio,
    "music": lambda: capabilities.Music,
    "vision": lambda: capabilities.Vision,
    "voice": lambda: voice.Voice,
}
"""The classes of capabilities that have a property of their own."""


class LLMBase:
    """A model of a provider. After `with` or `close`, calls raise `ConfigurationError`."""

    def __init__(
        self,
        provider: str,
        pipelines: Pipelines,
        capabilities: Capabilities,
        calls: CallPreparer,
        arguments: LLMArguments,
    ) -> None:
        self.provider = provider
        self.model = pipelines.session.model
        self._pipelines = pipelines
        self._capabilities = capabilities
        self._calls = calls
        self._arguments = arguments
        self._closed = False
        self._facades: dict[str, Any] = {}

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
        """Returns what these tokens cost at the prices of the model, now, as an estimate: for calls that were cancelled
        before the provider reported them.
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
        """The files that were uploaded to the provider's file store for this account; see `file_store`."""
        from .stored_files import StoredFiles

        self.check_open()
        return StoredFiles(self.provider, self._pipelines, self._calls.headers)

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
        an object of another type, and `PluginError` if the plugin fails.
        """
        from .capability_types import check_type, name_of

        self.check_open()
        if isinstance(name, type):
            name, of_type = name_of(name), name
        registry = self._pipelines.registry
        if name in [*_FACADES] and name not in registry.capabilities and registry.backends.of(name):
            found = self._facade(name)
        else:
            found = self._capabilities.get(name, self)
        if of_type is not None:
            check_type(found, name, of_type)
        return found

    @property
    def voice(self) -> voice.Voice:
        """Speech: `llm.voice.tts("Hello").save("hello.wav")`. Needs a plugin."""
        return self._facade("voice")

    @property
    def audio(self) -> capabilities.Audio:
        """Transcripts of recordings: `llm.audio.transcribe("talk.mp3").text`."""
        return self._facade("audio")

    @property
    def vision(self) -> capabilities.Vision:
        """Images and videos: `llm.vision.t2i("a lighthouse").save("lighthouse.png")`. Needs a plugin."""
        return self._facade("vision")

    @property
    def music(self) -> capabilities.Music:
        """Music: `llm.music.t2m("a calm waltz").save("waltz.wav")`. Needs a plugin."""
        return self._facade("music")

    def _facade(self, name: str) -> Any:
        """Returns a capability, which is created on first use."""
        self.check_open()
        if name not in self._facades:
            from .callers import caller_of

            facade = _FACADES[name]()
            self._facades.setdefault(name, facade(caller_of(self, self._pipelines, self._calls, self._capabilities)))
        return self._facades[name]

    def close(self) -> None:
        """Closes this LLM. Connections are shared by the process: they stay open for others, and are closed when idle.

        A model on this machine is unloaded after its running calls, if no other LLM uses it.
        """
        if not self._closed:
            self._closed = True
            self._pipelines.close()

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
        return cast("Self", self._arguments.create())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        from .copies import unpickled

        self.check_open()
        return unpickled, self._arguments.picklable()

    def __repr__(self) -> str:
        return f"LLM({self.provider}/{self.model}{_location(self._pipelines.session.endpoint)})"

    def _request(
        self, prompt: str | None, response_model: ResponseModel | None, request: CallRequest, stream: bool
    ) -> PendingCall:
        self.check_open()
        return self._calls.request(prompt, response_model, request, self, stream=stream)

    def _given(self, call: ModelCall, timeout: float | None, stream: bool) -> PendingCall:
        self.check_open()
        return self._calls.given(call, timeout, stream=stream)

    def _resumed(
        self,
        loop: schema.ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[schema.ToolAnswer],
        response_model: ResponseModel | None,
        request: ResumeRequest,
        stream: bool,
    ) -> PendingCall:
        self.check_open()
        return self._calls.resumed(loop, answers, response_model, request, self, stream=stream)

    def pending(self, prompt: str | None, request: Mapping[str, Any], *, stream: bool = False) -> PendingCall:
        """Returns the call of a request that may have a `response_model`, for code that chooses the pipeline."""
        options = {**request}
        return self._request(prompt, options.pop("response_model", None), cast("CallRequest", options), stream)

    def answered_in(
        self, runtime: Runtime, prompt: str | None, request: Mapping[str, Any]
    ) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        """Returns the response to a request, in sync or in async calls: those of `runtime`."""
        from .running import read_response

        is_sync = runtime is self._pipelines.services.sync_runtime
        pipeline = self._pipelines.sync if is_sync else self._pipelines.asynchronous
        return read_response(pipeline, self.pending(prompt, request))

    def check_open(self) -> None:
        """Raises `ConfigurationError` if it is closed."""
        if self._closed:
            raise ConfigurationError("this LLM is closed.", hint="Create another with create_llm.")


def _location(endpoint: Endpoint) -> str:
    """Returns the URL of the endpoint for the repr, if it has one."""
    if not isinstance(endpoint, KnownUrl):
        return ""
    return " at a URL known after the first call" if endpoint.url is None else f" at {shown_url(endpoint.url)}"
