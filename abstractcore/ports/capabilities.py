"""Backends of `llm.voice`, `llm.audio`, `llm.vision` and `llm.music`: what a plugin registers, gets and returns.

The entry points of a package in the group `abstractcore.capabilities_plugins` name functions `register(registry)`,
which call the methods of `BackendRegistry`. A backend is what a `factory(owner)` returns: an object with some of the
methods in `BACKEND_METHODS`. docs/plugins.md has their arguments and an example.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..errors import ProviderError
from ..schema import (
    EMPTY,
    AudioPart,
    Blob,
    CallWarning,
    GenerateResponse,
    ImagePart,
    JSONObject,
    MediaPart,
    Transcript,
    Usage,
    VideoPart,
    WireRequest,
    WireResponse,
)
from ..schema.parts import MEDIA_PART_BY_KIND, media_kind_of
from .conversions import Transcriber
from .plugins import CAPABILITIES as CAPABILITIES
from .plugins import CapabilityName as CapabilityName
from .runtimes import Isolation, Runtime
from .stores import ArtifactStore, MachineServices
from .transports import Body

if TYPE_CHECKING:
    pass

BACKEND_METHODS: Mapping[CapabilityName, Sequence[str]] = {
    "voice": ("tts", "tts_stream", "stt", "list_voices"),
    "audio": ("transcribe",),
    "vision": ("t2i", "i2i", "upscale_image", "t2v", "i2v", "list_models"),
    "music": ("t2m",),
}
"""The methods of backends, by capability. A backend has one or more of them, sync or `async def`."""


class MediaBytes(bytes):
    """The content of a file that is given to a backend, as bytes, with what is known of it: `part` has its media type
    and name.
    """

    part: MediaPart

    def __new__(cls, content: bytes, part: MediaPart) -> MediaBytes:
        """Returns the content of `part`."""
        new = super().__new__(cls, content)
        new.part = part
        return new

    @property
    def media_type(self) -> str:
        """The media type, such as "audio/wav"."""
        return self.part.blob.media_type

    @property
    def name(self) -> str | None:
        """The name of the file, if it has one."""
        return self.part.blob.name


@dataclass(frozen=True, slots=True)
class Made:
    """What a backend made, where there is more to say of it than its content.

    `content` is one or several parts, a transcript, or a list of JSON objects (of voices or models). `model` is the
    model that made it, as "provider/model" where the catalogue has its price. `usage` has the counts that are charged:
    `Usage(billing=Billing(counts={"character": 120}))`, or the `cost` that the vendor reports; without those of calls
    of an LLM, as by `owner.generate` and `owner.transcriber`, whose cost is added to that of the result by itself.
    `warnings` name what was asked for and not done. `metadata` is JSON: the seed, what was said, times of words.
    """

    content: MediaPart | Sequence[MediaPart] | Transcript | Sequence[JSONObject]
    model: str | None = None
    usage: Usage | None = None
    warnings: Sequence[CallWarning] = ()
    metadata: JSONObject = EMPTY

    @classmethod
    def of(
        cls,
        data: bytes,
        media_type: str,
        *,
        transcript: str | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        warnings: Sequence[CallWarning] = (),
        metadata: JSONObject = EMPTY,
    ) -> Made:
        """Returns a sound, an image or a video; `transcript` is what is said in a sound."""
        blob = Blob.from_bytes(data, media_type)
        part = MEDIA_PART_BY_KIND[media_kind_of(media_type)](blob)
        if isinstance(part, AudioPart):
            part = AudioPart(blob, transcript=transcript)
        return cls(part, model, usage, warnings, metadata)


BackendResult: TypeAlias = (
    "Made | bytes | AudioPart | ImagePart | VideoPart | Transcript | str | Mapping[str, Any] | Sequence[Any]"
)
"""What methods of backends may return, besides an awaitable of it: bytes of the requested format; a part, or several; a
transcript, or its text; a mapping with the bytes in "content", "bytes", "data" or "audio" and their "content_type";
a list of texts or mappings of voices and models; `Made` with more about any of these. `tts_stream` yields or
async-yields bytes, parts and such mappings; the last may be `Made` with no parts in `content`.
"""

ErrorReader: TypeAlias = Callable[[WireResponse], ProviderError]
"""Returns the error that a response with a status other than 2xx reports."""


class BackendHttp(Protocol):
    """HTTP for async backends, on the runtime of the current call: in sync calls it blocks, and needs no event loop.

    URLs are absolute. `credentials` are headers that are added last: their values are removed from errors, records and
    logs. Requests end at the time limit of the call, and when it is cancelled. Transient failures (408, 409, 429, 5xx,
    no connection) are retried as for chats, unless `may_repeat` is False: set that for requests that start something
    that costs money, if the server cannot tell a repeated one. `error` reads the vendor's own errors.
    """

    async def send(
        self,
        request: WireRequest,
        *,
        credentials: Mapping[str, str] = EMPTY,  # pyright: ignore[reportArgumentType]
        error: ErrorReader | None = None,
        may_repeat: bool = True,
    ) -> WireResponse:
        """Returns the complete response with a status of 2xx; raises `ProviderError` for others."""
        ...

    def stream(
        self,
        request: WireRequest,
        *,
        credentials: Mapping[str, str] = EMPTY,  # pyright: ignore[reportArgumentType]
        error: ErrorReader | None = None,
        may_repeat: bool = True,
    ) -> AbstractAsyncContextManager[Body]:
        """Opens a response of 2xx whose content is read in chunks: `async with ... as body: await body.read()`.

        Not retried once it is open. Raises as `send` does.
        """
        ...


class BackendOwner(MachineServices, Protocol):
    """What a backend gets from the LLM that it belongs to. One backend is made for each LLM, at first use.

    An async method may await what is here and nothing else: then it works in sync calls too, without an event loop. For
    functions of asyncio use `await owner.runtime.invoke(function)`.
    """

    @property
    def config(self) -> dict[str, Any]:
        """A copy of the options of `create_llm` that begin with `voice_`, `audio_`, `vision_`, `music_` or
        `transcription_`, without `vision_model`, which is the model that describes images.
        """
        ...

    @property
    def artifacts(self) -> ArtifactStore:
        """The store of artifacts; blocks."""
        ...

    @property
    def isolation(self) -> Isolation:
        """Runs functions in processes of their own, which may crash or hang; blocks."""
        ...

    @property
    def http(self) -> BackendHttp:
        """HTTP for async methods."""
        ...

    @property
    def runtime(self) -> Runtime:
        """What differs between sync and async calls: `sleep`, `gather`, `call` of blocking functions, `invoke`."""
        ...

    @property
    def time_left(self) -> float | None:
        """The seconds until the time limit of the current call; None without one."""
        ...

    @property
    def strict(self) -> bool:
        """Whether the current call is strict: what it asks for and is not done is an error, not a warning."""
        ...

    @property
    def llm(self) -> Any:
        """The LLM, for sync methods that ask the model: `owner.llm.generate(...)`."""
        ...

    @property
    def trace_id(self) -> str:
        """The id of the current call, for the records of requests that belong to it."""
        ...

    def transcriber(self, model: str | None = None) -> Transcriber | None:
        """Returns the transcriber of a provider: `model`, as "openai/gpt-transcribe", or the model of the
        option `transcription_model`; None for weights on this machine. Raises the errors of `create_llm`.
        """
        ...

    def generate(self, prompt: str, *, model: str | None = None, **request: Any) -> Awaitable[GenerateResponse[Any]]:
        """Asks the model, or another one by its name, as in "openai/gpt-5.4-mini", from async methods: as
        `LLM.agenerate`, also in sync calls.
        """
        ...

    def progress(self, done: float, total: float | None, what: str, part: MediaPart | None = None) -> None:
        """Reports progress to the user's `on_progress`: `done` of `total` steps, seconds or whatever `what` says, and
        what is made so far. Call it as often as you like, from any thread.
        """
        ...


BackendFactory: TypeAlias = Callable[[Any], object]
"""Makes a backend for its `BackendOwner`. No I/O: models are loaded by the first call that needs them.

Threads that use a backend first at the same moment may each make one; all get the same.
"""


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A registered backend. `distribution` is the package, with its version, that registered it."""

    capability: CapabilityName
    backend_id: str
    factory: BackendFactory
    priority: float = 0
    description: str = ""
    install_hint: str | None = None
    config_hint: str | None = None
    distribution: str = ""


class BackendRegistry(Protocol):
    """What `register(registry)` is given. Of several backends of a capability the option `voice_backend` (and so on)
    names the one to use, else it is the one with the highest priority, of these the first by name.

    `backend_id` is a name such as "mypackage:tiny". `install_hint` is what to install, `config_hint` what to set if the
    backend cannot work: both are shown in errors.
    """

    def register_backend(
        self,
        *,
        capability: str,
        backend_id: str,
        factory: BackendFactory,
        priority: float = 0,
        description: str = "",
        install_hint: str | None = None,
        config_hint: str | None = None,
    ) -> None:
        """Registers a backend."""
        ...

    def register_voice_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.voice`; `about` is as in `register_backend`."""
        ...

    def register_audio_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.audio`."""
        ...

    def register_vision_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.vision`."""
        ...

    def register_music_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.music`."""
        ...
