"""The options of a call and of an LLM: their types, and an error with the nearest names for any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ..errors import InvalidInputError, UnknownOptionError
from ..ports import Middleware, Script
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema import JSONObject, MediaKind, MediaPolicy, Modality, ThinkingLevel, ToolChoice
from ..schema.quoting import shown
from .foreign_options import OTHER_NAMES, OTHER_WAYS
from .media_loading import MediaInput
from .message_inputs import MessageInput
from .tool_specs import ToolInput

if TYPE_CHECKING:
    from ..transport import HttpClient
    from .connections import TransportName

KNOWN_CAPABILITIES = ("music", "vision", "voice")
"""Their options are no mistake where their plugin is not installed."""


class CallOptions(TypedDict, total=False):
    """The options of a call beside its content; as defaults for every call, `create_llm` takes them too.

    None is the provider's own default, also where `create_llm` was given another; for `timeout` it is no limit.
    """

    max_output_tokens: int | None
    """Longest answer in tokens, reasoning included where the provider counts it."""
    temperature: float | None
    """Randomness of the answer, from 0; the highest value depends on the provider."""
    top_p: float | None
    """Nucleus sampling: only the most probable tokens that add up to this share, between 0 and 1."""
    top_k: int | None
    """Only this many of the most probable tokens, at least 0."""
    seed: int | None
    """Seed of the random choices, for answers that can be repeated as far as the provider allows."""
    stop: str | Sequence[str] | None
    """One text or several that end the answer where they appear; they are not part of it."""
    presence_penalty: float | None
    """Penalty for tokens that have appeared already, whatever their count."""
    frequency_penalty: float | None
    """Penalty for tokens in proportion to how often they have appeared."""
    top_logprobs: int | None
    """How many alternatives to report for each token with their log probabilities, at least 0."""
    thinking: ThinkingLevel | int | None
    """Reasoning effort: "off", "minimal", "low", "medium", "high", or a budget in tokens."""
    cache: bool | None
    """Whether to place prompt cache points where they pay most: after tools, system prompt and last user message."""
    tool_choice: Literal["auto", "none", "required"] | ToolChoice | None
    """Whether the model may, must or must not call tools; `ToolChoice("tool", NAME)` names the one it must call."""
    parallel_tool_calls: bool | None
    """Whether the model may call several tools in one turn."""
    modalities: Sequence[Modality] | None
    """Kinds of output to ask for: "text", "image", "audio"."""
    media_policy: MediaPolicy | Mapping[MediaKind, MediaPolicy] | None
    """What may happen to files, for all or by kind: "auto", "native", "fallback_only", "refuse"."""
    provider_options: Mapping[str, JSONObject] | None
    """Fields for one provider's request, by the provider's name: sent as they are."""
    headers: Mapping[str, str] | None
    """Extra HTTP headers. They replace the provider's own of the same name, the key's too, and add to the headers of
    `create_llm`. They are in no record, error or call as data."""
    tags: Mapping[str, str] | None
    """Labels for call records; never sent. They add to the tags of `create_llm`."""
    parent_id: str | None
    """Id of what the call is part of, for call records; never sent."""
    trace_context: Mapping[str, str] | None
    """W3C Trace Context of the caller (`traceparent`, `tracestate`), for call records; never sent."""
    timeout: float | None
    """Seconds for the whole call with its retries, 600 unless given."""
    strict: bool | None
    """Whether an option that cannot be granted is an error before anything is sent, instead of a warning."""


class CallContent(TypedDict, total=False):
    """The content of a call beside its prompt."""

    messages: Sequence[MessageInput] | None
    """The conversation so far: messages, responses, results of tool calls, mappings as of OpenAI's chat completions.
    It comes before the user message that is made of `media` and the prompt."""
    system_prompt: str | None
    """Instructions to the model, put before everything else."""
    media: Sequence[MediaInput] | None
    """Files for the prompt: paths, http(s) URLs (for providers that fetch them), data URLs, bytes, open files,
    pictures of Pillow, blobs, media parts."""
    tools: Sequence[ToolInput] | None
    """Tools the model may call: `ToolSpec`, `HostedTool` for one that the provider runs, or a tool source's name."""


class CallRequest(CallContent, CallOptions, total=False):
    """What `generate` and its kin take beside the prompt: the content of the call, and its options."""

    options: CallOptions | None
    """The options of the call as a mapping, for those who have them as one."""


class LLMOptions(CallOptions, total=False):
    """What `create_llm` takes for every provider: defaults for every call, and how the provider is reached.

    An `http_client` carries the calls in place of `transport`, `proxy`, `verify` and `max_connections`: an
    `httpx2.Client` those of plain code, an `httpx2.AsyncClient` those of an event loop. It is set up and closed by its
    owner; HTTP/2, client certificates and event hooks are to be had this way.
    """

    base_url: str | None
    """Address of the provider's API; its own, or the environment's, unless given."""
    api_key: str | None
    """API key; read from the environment unless given."""
    system_prompt: str | None
    """Instructions to the model for every call that has neither a system prompt nor a system message of its own."""
    accepts: Sequence[str] | None
    """Kinds of files or media types that the model takes, where its own list is not right: `["image"]`."""
    max_retries: int | None
    """How often a request that may succeed later is sent again: 2 unless given."""
    middleware: Sequence[Middleware] | None
    """Code around calls and requests: objects with `around_call` or `around_attempt`."""
    proxy: str | None
    """URL of an HTTP proxy; the environment's, as it is when the LLM is made, unless given."""
    verify: bool | str | None
    """Path of a file with certificate authorities; False turns the check of certificates off."""
    max_connections: int | None
    """How many calls of an event loop, or of all threads, run at once: 1000, of which 100 stay open between calls,
    unless given; given, as many stay open."""
    transport: TransportName | None
    """What carries calls: "httpx2", or "fast" (the extra `fast`), which needs less processor time: libcurl in plain
    code, aiohttp in event loops."""
    http_client: HttpClient | None
    """An `httpx2.Client` or `httpx2.AsyncClient` of your own that carries the calls. Use it with servers you trust:
    bytes that one sends beyond a response's Content-Length are read as the next response over that connection. The
    built-in transports close such a connection; httpx2 has no public access to what is left in a connection."""
    transcription_model: str | None
    """Speech recognition model for files that are sent as transcripts."""


class CreateOptions(LLMOptions, total=False):
    """As `LLMOptions`, with the options of the built-in providers; each is taken by the providers that it names."""

    access_token: str | Callable[[], str | Awaitable[str]] | None
    """`azure`, `vertex`: an OAuth token, or a function that returns one, plain or async, called for every request.
    Unless given, AZURE_OPENAI_AD_TOKEN; google-auth's default credentials."""
    api_version: str | None
    """`azure`: version of the API, as in "2024-10-21"; OPENAI_API_VERSION, or the v1 API, unless given."""
    azure_endpoint: str | None
    """`azure`: address of the resource, as in https://RESOURCE.openai.azure.com; AZURE_OPENAI_ENDPOINT unless given."""
    context_size: int | None
    """`local`, `ollama`: size of the context window in tokens, prompt and answer together."""
    credentials: Mapping[str, str] | None
    """`bedrock`: `aws_access_key_id`, `aws_secret_access_key` and, where there is one, `aws_session_token`."""
    location: str | None
    """`vertex`: where the model runs, as in "europe-west4"; GOOGLE_CLOUD_LOCATION, or global, unless given."""
    profile: str | None
    """`bedrock`: name of the profile in ~/.aws that has the keys; AWS_PROFILE unless given."""
    project: str | None
    """`vertex`: Google Cloud project; GOOGLE_CLOUD_PROJECT unless given. Not needed with an API key."""
    region: str | None
    """`bedrock`: where the model runs, as in "us-east-1"; AWS_REGION or the profile's unless given."""
    replies: Script
    """`scripted`: the replies in order: texts, `ScriptedReply` and `ModelReply` objects, errors to raise, functions."""
    resource: str | None
    """`azure`: name of the Azure OpenAI resource, as in https://RESOURCE.openai.azure.com."""
    threads: int | None
    """`local`: processor threads; the physical cores less one unless given."""


CALL_OPTIONS = frozenset(CallOptions.__annotations__)
REQUEST_FIELDS = frozenset(CallRequest.__annotations__)
LLM_OPTIONS = frozenset(LLMOptions.__annotations__)
_CREATE_OPTIONS = frozenset(CreateOptions.__annotations__)
_PARAMETERS = frozenset({"response_model"})
"""What `generate` takes under a name of its own, of what others have as an option."""


def check_names(
    options: Mapping[str, Any],
    known: Collection[str],
    where: str,
    capabilities: Collection[str] = (),
    *,
    provider: str = "PROVIDER",
) -> None:
    """Raise `UnknownOptionError` with the nearest names for an option that is neither known nor a capability's.

    `provider` is named where the option is to be given as one of the provider's own.
    """
    if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping, got {type(options).__name__}", path="options")
    for name in options:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"{shown(name)} is not the name of an option", path="options")
        if name not in known and not _is_capability_option(name, capabilities):
            raise UnknownOptionError(f"{where} has no option {name!r}.", hint=_hint(name, known, provider))


def _hint(name: str, known: Collection[str], provider: str) -> str:
    """What to write instead: our name, where the option belongs, another way, or the nearest names."""
    ours = OTHER_NAMES.get(name, name)
    on_a_call = REQUEST_FIELDS.issuperset(known)
    if ours in known or (on_a_call and ours in _PARAMETERS):
        return f"It is called {ours} here: {ours}=..."
    if on_a_call and ours in _CREATE_OPTIONS:
        return f"It is for all calls of an LLM: create_llm(..., {ours}=...)."
    if ours in REQUEST_FIELDS | _PARAMETERS:
        return f"It goes with each call: llm.generate(..., {ours}=...)."
    if name in OTHER_WAYS:
        return f"Use {OTHER_WAYS[name].replace('PROVIDER_NAME', provider)}."
    if ours in _CREATE_OPTIONS:
        return f"Only other providers take {ours}: help(create_llm) says which."
    near = nearest_names(name, known)
    where = "llm.generate" if on_a_call else "create_llm"
    return did_you_mean(near) if near else f"help({where}) lists the options."


def _is_capability_option(name: str, capabilities: Collection[str]) -> bool:
    capability, underscore, _ = name.partition("_")
    return bool(underscore) and (capability in capabilities or capability in KNOWN_CAPABILITIES)


def merged(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """A call's options over an LLM's defaults; an option given as None falls back to the provider's own default.

    Tags add up.
    """
    both = {**defaults, **options}
    if "tags" in defaults and isinstance(options.get("tags"), Mapping):
        both["tags"] = {**defaults["tags"], **options["tags"]}
    return {name: value for name, value in both.items() if value is not None or name == "timeout"}
