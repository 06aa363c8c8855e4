"""The options of a call and of an LLM: their types, and an error with the nearest names for any other."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from .building import MessageInput
from .errors import UnknownOptionError
from .media_loading import MediaInput
from .ports import Middleware
from .schema import (
    JSONObject,
    MediaKind,
    MediaPolicy,
    Modality,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
)

PLUGIN_PREFIXES = ("voice_", "vision_", "music_")


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
    tools: Sequence[ToolSpec]
    options: CallOptions | None


class LLMOptions(CallOptions, total=False):
    """What `create_llm` may be given: defaults for every call, and how the provider is reached."""

    base_url: str
    api_key: str
    accepts: Sequence[str]
    max_retries: int
    middleware: Sequence[Middleware]
    proxy: str
    verify: bool | str
    transcription_model: str


class CreateOptions(LLMOptions, total=False):
    """As `LLMOptions`, with the options that the built-in providers add; each is taken by its provider only."""

    context_size: int
    threads: int
    replies: Sequence[Any]


CALL_OPTIONS = frozenset(CallOptions.__annotations__)
REQUEST_FIELDS = frozenset(CallRequest.__annotations__)
LLM_OPTIONS = frozenset(LLMOptions.__annotations__)


def check_names(options: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Raise `UnknownOptionError` with the nearest names for an option that is not known."""
    known = set(known)
    for name in options:
        if name not in known and not name.startswith(PLUGIN_PREFIXES):
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"Did you mean {', '.join(near)}?" if near else f"It takes: {', '.join(sorted(known))}."
            raise UnknownOptionError(f"{where} has no option {name!r}.", hint=hint)


def merged(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """A call's options over an LLM's defaults; an option given as None falls back to the provider's own default."""
    return {name: value for name, value in {**defaults, **options}.items() if value is not None or name == "timeout"}
