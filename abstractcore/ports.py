"""The interfaces between the kernel and everything that plugs into it. No behaviour, no imports but the data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from .errors import AbstractCoreError, ProviderError
from .schema import (
    EMPTY,
    AttemptRecord,
    CallWarning,
    Delta,
    Encoded,
    JSONObject,
    MediaDecision,
    MediaKind,
    MediaPart,
    ModelCall,
    ModelReply,
    Parsed,
    Rendered,
    Sampling,
    Usage,
    WireRequest,
    WireResponse,
)

T = TypeVar("T")


class Runtime(Protocol):
    """What differs between the two colours. The sync one never suspends, the async one never blocks."""

    def now(self) -> float:
        """Seconds on a clock that only goes forward, for durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    async def gather(self, *thunks: Callable[[], Awaitable[T]]) -> list[T]:
        """Run several at once; the first failure ends the others and is raised."""
        ...

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function that blocks, where it does no harm."""
        ...

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """End what runs inside after `seconds` with the builtin `TimeoutError`, where the colour can interrupt."""
        ...

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Call `ring` after `seconds`, where the colour can interrupt; gives the function that calls the alarm off.

        One alarm for a whole stream costs less than a `timeout` around each of its reads.
        """
        ...


class Body(Protocol):
    """An HTTP response whose content is read piece by piece."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header fields, names in lower case."""
        ...

    async def read(self) -> bytes:
        """The next piece, decompressed; empty at the end. Raises `ConnectionFailedError` or `RequestTimeoutError`."""
        ...

    async def close(self) -> None:
        """Release the connection, and cut it if there is more to come. May be called again."""
        ...

    def abort(self) -> None:
        """Cut the connection from another thread, so that a read in progress ends."""
        ...


class Transport(Protocol):
    """Sends a request. `timeout` is the longest wait for one step (connect, one read), in seconds.

    `open` raises `ConnectionFailedError` and `RequestTimeoutError`, and no exception of an HTTP library.
    """

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request`; the body is not read yet."""
        ...

    async def close(self) -> None:
        """Close idle connections; a transport can be used again after it."""
        ...


class Auth(Protocol):
    """Puts credentials on a request; `now` is the time of day in seconds since the epoch."""

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """The request with its credentials."""
        ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: the URL that paths are put behind, and how they are signed."""

    url: str
    auth: Auth


class Endpoint(Protocol):
    """A place that answers. Opening may start a process or fetch a token; it is asked before every attempt."""

    async def open(self, runtime: Runtime) -> Address:
        """Where to send the next request."""
        ...

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """A better error for a failed exchange, if this end knows the cause, else `error` itself."""
        ...


class Framer(Protocol):
    """Cuts a stream of bytes into frames, however the bytes are split."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """The frames that are complete with `data`."""
        ...

    def finish(self) -> Sequence[Any]:
        """The frames that the end of the stream completes; raises `ServerError` if it cuts one in the middle."""
        ...


class StreamDecoder(Protocol):
    """Turns frames into deltas."""

    def feed(self, frame: Any) -> list[Delta]:
        """The deltas of one frame; raises `ProviderError` for an error event."""
        ...

    def finish(self) -> list[Delta]:
        """The deltas the end of the stream adds; raises `StreamInterruptedError` if the reply is not complete."""
        ...


class StreamRenderer(Protocol):
    """Turns deltas into the bytes of a stream (server side)."""

    def feed(self, delta: Delta) -> bytes:
        """The bytes one delta gives, maybe none."""
        ...

    def finish(self) -> bytes:
        """The bytes that end the stream."""
        ...

    def error(self, error: AbstractCoreError) -> bytes:
        """The bytes of an error in the middle of the stream."""
        ...


class Transpiler(Protocol):
    """One wire format, both sides. Pure: no await, client, clock, logger or environment."""

    def encode(self, call: ModelCall) -> Encoded:
        """The request for a lowered call. Raises `UnsupportedContentError` for content the format cannot carry."""
        ...

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply in a successful response; raises `ServerError` for what is not one."""
        ...

    def framer(self) -> Framer:
        """How this format's streams are cut into frames."""
        ...

    def decoder(self) -> StreamDecoder:
        """A decoder for one stream."""
        ...

    def error(self, response: WireResponse) -> ProviderError:
        """The error that a response with a failure status stands for."""
        ...

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request; raises `InvalidInputError` with the path of what is wrong."""
        ...

    def render(self, reply: ModelReply) -> Rendered:
        """The response body for a reply."""
        ...

    def renderer(self) -> StreamRenderer:
        """A renderer for one stream."""
        ...

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """The response that tells a client of an error."""
        ...


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; None where the kind has no price of its own."""

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a model can do, apart from how it is reached.

    `accepts` holds media types or their first half ("image", "application/pdf"); text is always taken.
    """

    accepts: frozenset[str] = frozenset()
    context_tokens: int | None = None
    price: Price | None = None
    sampling: Sampling | None = None
    """What the model's makers recommend: it stands where a call says nothing."""
    known: bool = True
    """False if nothing is known of this model and the provider's common ground is assumed."""

    def takes(self, kind: str, media_type: str) -> bool:
        """Whether the model takes content of this kind and type natively."""
        return kind in self.accepts or media_type in self.accepts


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model in the store: its name, its folder or file, and its size in bytes."""

    name: str
    path: Path
    size: int


class ModelStore(Protocol):
    """Keeps model weights on this machine. All of it blocks; raises `ModelStoreError`."""

    def path(self, name: str) -> Path:
        """The weights of `name`, fetched and checked first if they are not there."""
        ...

    def list(self) -> Sequence[StoredModel]:
        """What is kept."""
        ...

    def pull(self, name: str) -> StoredModel:
        """Fetch and check `name` unless it is there already."""
        ...

    def remove(self, name: str) -> bool:
        """Delete `name`; False if it was not there."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """What the user said of a provider: model, address, key and options of the provider's own."""

    provider: str
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = EMPTY


class ProviderServices(Protocol):
    """What a provider may use from above."""

    @property
    def models(self) -> ModelStore:
        """The weights on this machine."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables, for keys and addresses."""
        ...

    @property
    def spare_cores(self) -> int:
        """Processor cores that a model on this machine may use, at least one. May read files."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """A provider made ready for one model. Making it does no I/O.

    `transport` replaces the HTTP transport, for providers that are not reached over a network.
    """

    model: str
    transpiler: Transpiler
    endpoint: Endpoint
    profile: ModelProfile
    transport: Transport | None = None
    calls: Sequence[ModelCall] | None = None
    """The calls made so far, for providers that keep them: scripted models."""


class Provider(Protocol):
    """A provider: its name, what it may be called with, and how a session with it is made."""

    @property
    def name(self) -> str:
        """As in `create_llm(name)`."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Options of its own for `create_llm`, each with a line of help."""
        ...

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session for `config.model`; raises `ConfigurationError` for what cannot work. No I/O."""
        ...


@dataclass(frozen=True, slots=True)
class MediaContext:
    """What a media handler may use from above: model weights, and the bytes of blobs kept elsewhere."""

    models: ModelStore
    options: JSONObject = EMPTY
    spare_cores: int = 1
    """Processor cores that a conversion may use."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a handler made of a file: text that stands in its place, what kind of text it is, what it took.

    `label` is a word or two for the model and the report, such as "transcript" or "text of 3 pages".
    """

    text: str
    label: str
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()


class MediaHandler(Protocol):
    """Everything about one kind of file: knowing it, checking it, and making text of it. All of it may block.

    `check` and `convert` raise `MediaError` for a file that is broken, locked or without content, and
    `MissingExtraError` where an optional package is needed.
    """

    @property
    def name(self) -> str:
        """As in `MediaDecision.handler`."""
        ...

    @property
    def kind(self) -> MediaKind:
        """The kind of part its files become; "text" for files that are text by themselves."""
        ...

    @property
    def converts(self) -> bool:
        """Whether `convert` can make text of its files."""
        ...

    def recognise(self, head: bytes, name: str) -> str | None:
        """The media type of a file that begins with `head` (8 KiB at most) and is called `name`; None if not ours."""
        ...

    def handles(self, part: MediaPart) -> bool:
        """Whether `part` is one of its files. Pure."""
        ...

    def check(self, part: MediaPart) -> None:
        """Look whether a file that is sent as it is can be read at all."""
        ...

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Text to stand in the file's place."""
        ...


class DeltaStream(Protocol):
    """A streamed reply, pulled one network chunk at a time."""

    async def read(self) -> list[Delta]:
        """The next deltas; an empty list is the end."""
        ...

    async def close(self) -> None:
        """Let go of the connection. May be called again."""
        ...

    def abort(self) -> None:
        """Cut the connection from another thread."""
        ...


Answer: TypeAlias = ModelReply | DeltaStream
"""What a call gives: a whole reply, or a stream whose first deltas have arrived, if `call.stream` is set."""


@dataclass(slots=True)
class CallContext:
    """One logical call on its way through the rings. A middleware may put another call in `call`.

    `deadline` is on the runtime's clock. `attempts` and `warnings` grow as the call goes on.
    """

    call: ModelCall
    runtime: Runtime
    deadline: float | None
    trace_id: str
    attempts: list[AttemptRecord] = field(default_factory=list[AttemptRecord])
    decisions: tuple[MediaDecision, ...] = ()
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])


@dataclass(slots=True)
class Attempt:
    """One request on its way to the provider."""

    context: CallContext
    request: WireRequest
    number: int = 1


class CallMiddleware(Protocol):
    """Code around every logical call. It may answer without going on, change what goes on, or fail.

    For a stream, `next` returns when the first deltas are there; what happens later is seen by returning a
    `DeltaStream` of one's own.
    """

    async def around_call(self, context: CallContext, next: CallNext) -> Answer:
        """Once per call, before files are handled and the request is made."""
        ...


class AttemptMiddleware(Protocol):
    """Code around every request. It may also try again."""

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Once per request, before its bytes leave."""
        ...


Middleware: TypeAlias = CallMiddleware | AttemptMiddleware
CallNext: TypeAlias = Callable[[CallContext], Awaitable[Answer]]
AttemptNext: TypeAlias = Callable[[Attempt], Awaitable[Answer]]
