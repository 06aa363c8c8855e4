"""The options of calls and LLMs: their types, and errors with similar names for unknown ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .. import ports
from ..errors import InvalidInputError, UnknownOptionError
from ..lazy_modules import LazyModule
from ..ports import Middleware
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema import (
    FileStorePolicy,
    JSONObject,
    JSONValue,
    MediaHistory,
    MediaKind,
    MediaPolicy,
    MediaProgress,
    Modality,
    OutputMode,
    ThinkingLevel,
    ToolChoice,
    ToolSearch,
)
from ..schema.quoting import shown
from .foreign_options import OTHER_NAMES, OTHER_WAYS

if TYPE_CHECKING:
    from ..files import loading
    from ..tools import policy, tool_inputs
    from ..transport import clients
    from . import connections, llm, message_inputs
else:
    clients = LazyModule("abstractcore.transport.clients")
    connections = LazyModule("abstractcore.client.connections")
    llm = LazyModule("abstractcore.client.llm")
    loading = LazyModule("abstractcore.files.loading")
    message_inputs = LazyModule("abstractcore.client.message_inputs")
    policy = LazyModule("abstractcore.tools.policy")
    tool_inputs = LazyModule("abstractcore.tools.tool_inputs")

KNOWN_CAPABILITIES = ("audio", "music", "vision", "voice")
"""Capabilities whose options are accepted even if their plugin is not installed."""


class CallOptions(TypedDict, total=False):
    """The options of a call; `create_llm` accepts them too, as defaults for every call.

    None means the provider's own default, and overrides a default of `create_llm`; for `timeout` it means no limit.
    """

    max_output_tokens: int | None
    """Maximum length of the answer in tokens, including reasoning if the provider counts it."""
    temperature: float | None
    """Randomness of the answer, from 0; the highest value depends on the provider."""
    top_p: float | None
    """Nucleus sampling: only the most probable tokens whose probabilities add up to this, between 0 and 1."""
    top_k: int | None
    """Only this many of the most probable tokens, at least 0."""
    seed: int | None
    """Random seed, for answers as deterministic as the provider allows."""
    stop: str | Sequence[str] | None
    """One or several stop sequences: the answer ends before one."""
    presence_penalty: float | None
    """Penalty for tokens that have appeared already, whatever their count."""
    frequency_penalty: float | None
    """Penalty for tokens in proportion to how often they have appeared."""
    top_logprobs: int | None
    """Number of alternatives to report for each token with their log probabilities, at least 0."""
    thinking: ThinkingLevel | int | None
    """Reasoning effort: "off", "minimal", "low", "medium", "high", "xhigh", "max", or a budget in tokens."""
    cache: bool | None
    """Whether to place prompt cache points automatically: after tools, system prompt and last user message."""
    tool_choice: Literal["auto", "none", "required"] | ToolChoice | None
    """Whether the model may, must or must not call tools; `ToolChoice("tool", NAME)` forces one."""
    parallel_tool_calls: bool | None
    """Whether the model may call several tools in one turn."""
    tool_format: str | None
    """How tools are sent: "native", as the provider's own, or in the prompt, in a format such as "hermes", "llama3" or
    "react" (docs/tools.md lists them); default: native, or in the model's own format where it has no native tools."""
    tool_search: ToolSearch | None
    """Where deferred tools are searched: "hosted", by the provider, or "client", in this program with the tool
    `search_tools`; default: by the provider where the model's facts say that it can."""
    rescue: bool | None
    """Whether tool calls that a local server returns as text are read as calls, with a warning; default True."""
    modalities: Sequence[Modality] | None
    """Output modalities to request: "text", "image", "audio". What the model is known not to produce is made of its
    answer by a backend of `llm.voice` or `llm.vision`, if one is installed: `response.made`; not in streams."""
    media_policy: MediaPolicy | Mapping[MediaKind, MediaPolicy] | None
    """How files are handled, for all or by kind: "auto", "native", "fallback_only", "refuse"; or, by kind, the
    name of a fallback, such as "ocr"."""
    media_history: MediaHistory | Mapping[MediaKind, MediaHistory] | None
    """How files are sent after their turn, for all or by kind: "keep" sends them again as before, "text" sends their
    caption, transcript or text instead; default "keep"."""
    file_store: FileStorePolicy | None
    """Which files are uploaded to the provider's file store: "auto", those that make a request too large, "never", or
    "always"; default "auto"."""
    provider_options: Mapping[str, JSONObject] | None
    """Fields for one provider's request, by the provider's name: sent unchanged."""
    headers: Mapping[str, str] | None
    """Extra HTTP headers. They override the provider's own, including that of the key, and add to the headers of
    `create_llm`. They never appear in records, errors or calls as data."""
    tags: Mapping[str, str] | None
    """Labels for call records; never sent. They add to the tags of `create_llm`."""
    parent_id: str | None
    """Id of the parent operation, for call records; never sent."""
    trace_context: Mapping[str, str] | None
    """W3C Trace Context of the caller (`traceparent`, `tracestate`), for call records; never sent."""
    timeout: float | None
    """Timeout in seconds for the whole call including retries; default 600."""
    output_retries: int | None
    """How often the model is asked again if its answer does not match `response_model`, with what is wrong; default
    1."""
    output_mode: OutputMode | None
    """How an answer of a `response_model` is requested: "native", "tool", "grammar" or "prompted"; default: as the
    model supports it."""
    strict: bool | None
    """Whether an unsupported option is an error before anything is sent, instead of a warning."""


class CallContent(TypedDict, total=False):
    """The content of a call, except its prompt."""

    messages: Sequence[message_inputs.MessageInput] | None
    """The conversation so far: messages, responses, tool results, mappings in the format of OpenAI's Chat Completions.
    The user message with `media` and the prompt comes after it."""
    system_prompt: str | None
    """Instructions to the model, sent before everything else."""
    media: Sequence[loading.MediaInput] | None
    """Files for the prompt: paths, http(s) URLs (for providers that fetch them), data URLs, bytes, open files,
    Pillow images, blobs, media parts."""
    tools: Sequence[tool_inputs.ToolInput] | None
    """Tools the model may call: functions, methods, `Tool`s, pydantic models; `ToolSpec` for one that runs elsewhere,
    `HostedTool` for one that the provider runs; a tool source or its name."""

    run_tools: bool | policy.ToolPolicy | None
    """Whether tool calls are run, and the model is asked again with the results, until it answers; `ToolPolicy(...)`
    sets limits and who approves. Otherwise `response.tool_calls` has the calls."""
    validation_context: Any
    """The context of pydantic's validators of `response_model`: `info.context`."""
    output_check: Callable[[Any], Awaitable[object] | object] | None
    """A sync or async function of the output. The model corrects its answer if it raises `ValueError` or `ToolRetry`,
    or returns a message."""
    evidence: bool | None
    """Whether `response.evidence` has a quote for each value of the output, checked against the text of the files and
    messages: needs `response_model`."""
    verify: bool | None
    """Whether `response.verification` has the figures, names and dates of a text answer, read back from the files."""
    deps: Any
    """An object of your own for tools, which get it in their `ToolContext`; never sent or stored."""
    on_media_progress: Callable[[MediaProgress], object] | None
    """A function for the progress of long conversions of files, called in their threads; it must return soon."""


class CallRequest(CallContent, CallOptions, total=False):
    """The keyword arguments of `generate` and similar methods: the content of the call, and its options."""

    options: CallOptions | None
    """The options of the call as a mapping."""


class ReplyRequest(CallRequest, total=False):
    """The keyword arguments of `llm.voice.reply`: those of a call, and how its answer is spoken."""

    voice: str | None
    """The voice: an id of `list_voices()`; default: the backend's own."""
    format: str | None
    """The format of the sound, such as "mp3"; default: PCM, samples of 16 bits."""
    speed: float | None
    """The speed of speech; 1 is usual."""
    instructions: str | None
    """How to speak, for voices that follow instructions."""
    language: str | None
    """The language of the answer, as in "en"."""
    idle_timeout: float | None
    """Seconds after which the reply fails if neither text nor sound arrives, once the answer has begun; default 60."""


class ResumeRequest(TypedDict, total=False):
    """The keyword arguments of `resume`, besides the loop and the answers."""

    tools: Sequence[tool_inputs.ToolInput] | None
    """The tools of the call, for their functions: what the model is offered is in the loop."""
    run_tools: bool | policy.ToolPolicy | None
    """The limits and the approver from here on; default: those of `ToolPolicy()`."""
    deps: Any
    """An object of your own for tools, given anew."""
    on_media_progress: Callable[[MediaProgress], object] | None
    """A function for the progress of conversions, given anew: see `generate`."""
    validation_context: Any
    """The context of pydantic's validators of `response_model`, given anew."""
    output_check: Callable[[Any], Awaitable[object] | object] | None
    """A sync or async function of the output, given anew: see `generate`."""
    output_retries: int | None
    """How often the model is asked again if its answer does not match `response_model`, attempts before included;
    default: that of the LLM, or 1."""
    verify: bool | None
    """Whether the answer is verified, given anew: see `generate`."""
    timeout: float | None
    """Timeout in seconds for the whole call including retries; default: that of the LLM, or 600."""


class LLMOptions(CallOptions, total=False):
    """The options of `create_llm` for every provider: defaults for every call, and connection settings.

    An `http_client` replaces `transport`, `proxy`, `verify` and `max_connections`: an `httpx2.Client` for sync calls,
    an `httpx2.AsyncClient` for async calls. Its owner configures and closes it; use it for HTTP/2, client certificates
    and event hooks.
    """

    base_url: str | None
    """Base URL of the provider's API; default: from the environment, or the provider's own."""
    api_key: str | None
    """API key; default: from the environment."""
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
    proxy: str | None
    """URL of an HTTP proxy; default: from the environment when the LLM is created. NO_PROXY has names, addresses and
    networks, such as "localhost,.corp.example,10.0.0.0/8,fd00::/8"."""
    verify: bool | str | None
    """Path of a CA bundle; False turns certificate verification off."""
    max_connections: int | None
    """Size of the connection pool of an event loop, or of all threads, and number of idle connections kept; default
    1000, of which 100 are kept."""
    transport: connections.TransportName | None
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


CALL_OPTIONS = frozenset(CallOptions.__annotations__)
REQUEST_FIELDS = frozenset(CallRequest.__annotations__)
RESUME_FIELDS = frozenset(ResumeRequest.__annotations__)
LLM_OPTIONS = frozenset(LLMOptions.__annotations__)
_CREATE_OPTIONS = frozenset(CreateOptions.__annotations__)
_KEPT_BY_LOOPS = REQUEST_FIELDS - RESUME_FIELDS - {"headers"}
"""Fields of a call that `resume` does not take, since they are in the state of the loop."""
_CERTIFICATES = "verify"
"""An option of `create_llm`; on a call, it is another one."""
_PARAMETERS = frozenset({"response_model"})
"""Parameters of `generate` that are options in other libraries."""


def check_names(
    options: Mapping[str, Any],
    known: Collection[str],
    where: str,
    capabilities: Collection[str] = (),
    *,
    provider: str = "PROVIDER",
) -> None:
    """Raises `UnknownOptionError` with similar names for an option that is neither known nor a capability's.

    `provider` is the name to show in hints about `provider_options`.
    """
    if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping, got {type(options).__name__}", path="options")
    for name in options:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"{shown(name)} is not an option name", path="options")
        if name not in known and not _is_capability_option(name, capabilities):
            raise UnknownOptionError(f"{where} has no option {name!r}.", hint=_hint(name, known, provider))


def _policy_fields() -> Collection[str]:
    from ..tools.policy import ToolPolicy

    return ToolPolicy.__dataclass_fields__


def _hint(name: str, known: Collection[str], provider: str) -> str:
    """Returns what to write instead: our name, the function that takes it, an alternative, or similar names."""
    ours = OTHER_NAMES.get(name, name)
    if known is RESUME_FIELDS and ours not in known and ours in _KEPT_BY_LOOPS:
        return f"The loop keeps that of its first call: llm.generate(..., {ours}=...)."
    on_a_call = REQUEST_FIELDS.issuperset(known)
    if on_a_call and ours == _CERTIFICATES:
        return f"It is an option of create_llm: create_llm(..., {ours}=...)."
    if ours in known or (on_a_call and ours in _PARAMETERS):
        return f"Here it is named {ours}: {ours}=..."
    if on_a_call and ours in _CREATE_OPTIONS:
        return f"It is an option of create_llm: create_llm(..., {ours}=...)."
    if ours in REQUEST_FIELDS | _PARAMETERS:
        return f"It is an option of each call: llm.generate(..., {ours}=...)."
    if name in OTHER_WAYS:
        return f"Use {OTHER_WAYS[name].replace('PROVIDER_NAME', provider)}."
    if name in _policy_fields():
        return f"It is a field of ToolPolicy: run_tools=ToolPolicy({name}=...)."
    if ours in _CREATE_OPTIONS:
        return f"Only other providers support {ours}: see help(create_llm)."
    near = nearest_names(name, known)
    if near:
        return did_you_mean(near)
    of_policy = nearest_names(name, _policy_fields()) if on_a_call else []
    if of_policy:
        return did_you_mean([f"run_tools=ToolPolicy({field}=...)" for field in of_policy])
    where = "llm.resume" if known is RESUME_FIELDS else "llm.generate" if on_a_call else "create_llm"
    return f"help({where}) lists the options."


def _is_capability_option(name: str, capabilities: Collection[str]) -> bool:
    capability, underscore, _ = name.partition("_")
    return bool(underscore) and (capability in capabilities or capability in KNOWN_CAPABILITIES)


def merged(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call's options merged over an LLM's defaults; None resets an option to the provider's own default.

    Tags are merged too, and policies and histories for kinds of files.
    """
    both = {**defaults, **options}
    for name in ("media_policy", "media_history"):
        if name in defaults and isinstance(options.get(name), Mapping):
            from . import option_values

            by_kind = option_values.media_policy if name == "media_policy" else option_values.media_history
            both[name] = {**by_kind(defaults[name]), **options[name]}
    if "tags" in defaults and isinstance(options.get("tags"), Mapping):
        both["tags"] = {**defaults["tags"], **options["tags"]}
    return {name: value for name, value in both.items() if value is not None or name == "timeout"}
