"""The options of `create_llm`: their types and descriptions, for `help` and editors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import ports
from ..lazy_modules import LazyModule
from ..ports import Middleware
from ..schema import JSONValue
from .options import CallOptions

if TYPE_CHECKING:
    import os

    from .. import budgets, embeddings, limits, routing
    from ..transport import clients
    from . import llm, services
else:
    budgets = LazyModule("abstractcore.budgets")
    embeddings = LazyModule("abstractcore.embeddings")
    os = LazyModule("os")
    limits = LazyModule("abstractcore.limits")
    clients = LazyModule("abstractcore.transport.clients")
    routing = LazyModule("abstractcore.routing")
    llm = LazyModule("abstractcore.client.llm")
    services = LazyModule("abstractcore.client.services")


class LLMOptions(CallOptions, total=False):
    """The options of `create_llm` for every provider: defaults for every call, and connection settings.

    An `http_client` replaces `transport`, `proxy`, `verify` and `max_connections`: an `httpx2.Client` for sync calls,
    an `httpx2.AsyncClient` for async calls. Its owner configures and closes it; use it for HTTP/2, client certificates
    and event hooks.
    """

    base_url: str | None
    """Base URL of the provider's API; default: from the environment, or the provider's own."""
    api_key: str | Callable[[], str | Awaitable[str]] | None
    """API key, or a sync or async function that returns one: called before the first request, and once more when the
    key is refused; default: from the environment."""
    system_prompt: str | None
    """System prompt of every call that has neither a system prompt nor a system message."""
    accepts: Sequence[str] | None
    """Kinds of files or media types that the model accepts, if the catalogue is wrong: `["image"]`."""
    facts: Mapping[str, Any] | None
    """What the model can do and refuses, if the catalogue is wrong or does not know it: fields of a row of
    docs/catalogue.md, as in `{"context_tokens": 65536, "refused": ["top_k"]}`."""
    price: ports.Price | Mapping[str, JSONValue] | None
    """Price of the model, for a cost where the catalogue has none: `Price(input=2, output=10)`, or a price row."""
    max_retries: int | None
    """Maximum number of retries after transient errors; default 2."""
    middleware: Sequence[Middleware] | None
    """Code around calls and attempts: objects with `around_call` or `around_attempt`."""
    budgets: Sequence[budgets.Budget] | None
    """Limits in US dollars on what the calls of this LLM cost, with the calls made for them, such as captions:
    `[Budget(usd=5, per="day")]`."""
    limits: limits.Limits | Mapping[str, Any] | Literal["learn"] | None
    """Limits that the requests of this LLM wait for: `Limits(requests_per_minute=60, parallel=8)`, its arguments as a
    mapping, or "learn" for those that the provider states or enforces; default: none."""
    embed_cache: bool | str | os.PathLike[str] | embeddings.EmbeddingCache | None
    """Whether vectors of `embed` are kept, so that equal inputs cost nothing: True in the user's cache folder, the path
    of a SQLite file, or `EmbeddingCache(path, max_bytes=...)`; default: they are not."""
    routing: routing.Routing | Mapping[str, Any] | None
    """How a list of models shares its calls: `Routing(order="cheapest")`; default: the first that answers."""
    proxy: str | None
    """URL of an HTTP proxy; default: from the environment when the LLM is created. NO_PROXY has names, addresses and
    networks, such as "localhost,.corp.example,10.0.0.0/8,fd00::/8"."""
    verify: bool | str | None
    """Path of a CA bundle; False turns certificate verification off."""
    max_connections: int | None
    """Size of the connection pool of an event loop, or of all threads, and number of idle connections kept; default
    1000, of which 100 are kept."""
    transport: services.TransportName | None
    """The HTTP stack: "httpx2", or "fast" (the extra `fast`), which needs less CPU time: libcurl for sync calls,
    aiohttp for async calls."""
    http_client: clients.HttpClient | None
    """An `httpx2.Client` or `httpx2.AsyncClient` of your own. Use it with servers you trust: bytes that a server sends
    beyond a response's Content-Length are read as the next response over that connection. The built-in transports
    close such a connection; httpx2 has no public access to a connection's unread bytes."""
    transcription_model: str | llm.LLM | None
    """Speech recognition model for files that are sent as transcripts: "whisper-base" (default), "whisper-tiny.en"
    (English only, three times as fast, more mistakes), or the path of a model in the format of CTranslate2; or the
    model of a provider, an LLM or its name as in "openai/gpt-transcribe"."""
    transcription_language: str | None
    """Language of recordings, as in "en"; default: detected."""
    transcription_terms: Sequence[str] | None
    """Names and terms that may occur in recordings, as they are spelled."""
    transcription_words: bool | None
    """Whether transcripts have the time of each word in `anchors`, instead of each sentence."""
    transcription_speakers: bool | None
    """Whether transcripts say who speaks; Whisper on this machine cannot tell."""
    transcription_isolated: bool | None
    """Whether Whisper on this machine runs in a process of its own, which may crash or hang."""
    video_frames: int | None
    """Maximum number of frames of a video for models that accept no videos; default 16."""
    video_contact_sheets: bool | None
    """Whether frames of videos are sent as sheets of nine."""
    glyphs: bool | None
    """Whether long texts of files are drawn as dense pages for models that accept images, where these have fewer tokens
    by the vendor's published rule; default False. Models read them less reliably than text."""
    voice_backend: str | None
    """The backend of `llm.voice`, by its id or the part of it after the colon; default: the one with the highest
    priority, of these the first by name. Other options that begin with `voice_`, `audio_`, `vision_` or `music_` are
    passed to backends."""
    audio_backend: str | None
    """The backend of `llm.audio`, as in `voice_backend`."""
    vision_backend: str | None
    """The backend of `llm.vision`, as in `voice_backend`."""
    music_backend: str | None
    """The backend of `llm.music`, as in `voice_backend`."""
    vision_model: str | llm.LLM | None
    """A model that describes images for one that accepts none: an LLM, or its name as in "openai/gpt-5.4-mini"."""


class CreateOptions(LLMOptions, total=False):
    """As `LLMOptions`, with the options of the built-in providers, each with the providers that support it."""

    access_token: str | Callable[[], str | Awaitable[str]] | None
    """`azure`, `vertex`, `vertex-*`: an OAuth token, or a sync or async function that returns one, called for every
    request; default: AZURE_OPENAI_AD_TOKEN; google-auth's default credentials."""
    api_version: str | None
    """`azure`: API version, as in "2024-10-21"; default: OPENAI_API_VERSION, or the v1 API. `anthropic`: the header
    `anthropic-version`; default: "2026-10-21", or "2023-06-01" for models that accept a temperature."""
    azure_endpoint: str | None
    """`azure`: URL of the resource, as in https://RESOURCE.openai.azure.com; default: AZURE_OPENAI_ENDPOINT."""
    context_size: int | None
    """`local`, `ollama`: size of the context window in tokens, prompt and answer together."""
    credentials: Mapping[str, str] | None
    """`bedrock`: `aws_access_key_id`, `aws_secret_access_key` and, if needed, `aws_session_token`."""
    location: str | None
    """`vertex`, `vertex-*`: region of the model, as in "europe-west4"; default: GOOGLE_CLOUD_LOCATION, or global."""
    profile: str | None
    """`bedrock`: name of the profile in ~/.aws with the keys; default: AWS_PROFILE."""
    project: str | None
    """`vertex`, `vertex-*`: Google Cloud project; default: GOOGLE_CLOUD_PROJECT. `vertex` needs none with a key."""
    region: str | None
    """`bedrock`: region of the model, as in "us-east-1"; default: AWS_REGION, or the profile's region."""
    replies: ports.Script
    """`scripted`: the replies in order: texts, `ScriptedReply` and `ModelReply` objects, errors to raise, functions."""
    resource: str | None
    """`azure`: name of the Azure OpenAI resource, as in https://RESOURCE.openai.azure.com."""
    threads: int | None
    """`local`: number of CPU threads; default: the physical cores minus one."""


LLM_OPTIONS = frozenset(LLMOptions.__annotations__)
CREATE_OPTIONS = frozenset(CreateOptions.__annotations__)
