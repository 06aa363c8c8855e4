"""The options of a call and of an LLM: their types, and an error with the nearest names for any other."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .building import MessageInput
from .errors import InvalidInputError, UnknownOptionError
from .media_loading import MediaInput
from .ports import Middleware, Script
from .schema import (
    JSONObject,
    MediaKind,
    MediaPolicy,
    Modality,
    ThinkingLevel,
    ToolChoice,
)
from .schema.json_values import shown
from .tool_specs import ToolInput

if TYPE_CHECKING:
    from .connections import AsyncLibrary
    from .transport import HttpClient

KNOWN_CAPABILITIES = ("music", "vision", "voice")
"""Their options are no mistake where their plugin is not installed."""


class CallOptions(TypedDict, total=False):
    """What a call may be given beside its content; as defaults, what `create_llm` may be given too."""

    max_output_tokens: int
    temperature: float
    top_p: float
    top_k: int
    seed: int
    stop: str | Sequence[str]
    presence_penalty: float
    frequency_penalty: float
    top_logprobs: int
    thinking: ThinkingLevel | int
    cache: bool
    tool_choice: Literal["auto", "none", "required"] | ToolChoice
    parallel_tool_calls: bool
    modalities: Sequence[Modality]
    media_policy: MediaPolicy | Mapping[MediaKind, MediaPolicy]
    provider_options: Mapping[str, JSONObject]
    tags: Mapping[str, str]
    parent_id: str
    trace_context: Mapping[str, str]
    timeout: float | None
    strict: bool


class CallRequest(CallOptions, total=False):
    """What `generate` and its kin take beside the prompt: the content of the call, and its options.

    `messages` come first, then one user message of `media` and the prompt; `system_prompt` stands before all.
    `options` holds options as a mapping, for those who have them as one.
    """

    messages: Sequence[MessageInput]
    system_prompt: str | None
    media: Sequence[MediaInput]
    tools: Sequence[ToolInput]
    options: CallOptions | None


class LLMOptions(CallOptions, total=False):
    """What `create_llm` may be given: defaults for every call, and how the provider is reached.

    `transport` is the library that carries the calls of event loops: "httpx2", or "aiohttp" (to be installed), which
    needs less processor time where many run at once. Calls from plain code always use httpx2. `max_connections` (1000,
    of which 100 are kept open between calls) is how many calls of an event loop or of all threads run at once; given,
    as many are kept open. `proxy` is a URL, and `verify` the path of a file with certificate authorities.

    `http_client` carries the calls in place of all this: an `httpx2.Client` those of plain code, an
    `httpx2.AsyncClient` those of an event loop. It is set up and closed by its owner; HTTP/2, client certificates and
    event hooks are to be had this way.
    """

    base_url: str
    api_key: str
    accepts: Sequence[str]
    max_retries: int
    middleware: Sequence[Middleware]
    proxy: str
    verify: bool | str
    max_connections: int
    transport: AsyncLibrary
    http_client: HttpClient
    transcription_model: str


class CreateOptions(LLMOptions, total=False):
    """As `LLMOptions`, with the options that the built-in providers add; each is taken by its provider only."""

    context_size: int
    threads: int
    replies: Script


CALL_OPTIONS = frozenset(CallOptions.__annotations__)
REQUEST_FIELDS = frozenset(CallRequest.__annotations__)
LLM_OPTIONS = frozenset(LLMOptions.__annotations__)


def check_names(
    options: Mapping[str, Any], known: Iterable[str], where: str, capabilities: Collection[str] = ()
) -> None:
    """Raise `UnknownOptionError` with the nearest names for an option that is neither known nor a capability's."""
    if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping, got {type(options).__name__}", path="options")
    known = set(known)
    for name in options:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"{shown(name)} is not the name of an option", path="options")
        if name not in known and not _is_capability_option(name, capabilities):
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"Did you mean {', '.join(near)}?" if near else f"It takes: {', '.join(sorted(known))}."
            raise UnknownOptionError(f"{where} has no option {name!r}.", hint=hint)


def _is_capability_option(name: str, capabilities: Collection[str]) -> bool:
    capability, underscore, _ = name.partition("_")
    return bool(underscore) and (capability in capabilities or capability in KNOWN_CAPABILITIES)


def merged(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """A call's options over an LLM's defaults; an option given as None falls back to the provider's own default.

    Tags add up.
    """
    both = {**defaults, **options}
    if isinstance(options.get("tags"), Mapping) and "tags" in defaults:
        both["tags"] = {**defaults["tags"], **options["tags"]}
    return {name: value for name, value in both.items() if value is not None or name == "timeout"}
