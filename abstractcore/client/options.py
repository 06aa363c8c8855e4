"""The options of calls: their types and descriptions, for `help` and editors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .. import ports
from ..lazy_modules import LazyModule
from ..schema import (
    FileStorePolicy,
    JSONObject,
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

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ..files import loading
    from ..tools import policy, toolset
    from . import message_inputs

    Output = TypeVar("Output", default=None)
    """The type of the output of a response: None without `response_model`."""
else:
    from typing import TypeVar

    Output = TypeVar("Output")
    loading = LazyModule("abstractcore.files.loading")
    message_inputs = LazyModule("abstractcore.client.message_inputs")
    policy = LazyModule("abstractcore.tools.policy")
    toolset = LazyModule("abstractcore.tools.toolset")


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
    "react" (docs/tool-models.md lists them); default: native, or in the model's own format where it has no native
    tools."""
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
    prompt_name: str | None
    """Name and version of the prompt, as in "refund@3", for call records: their tag "prompt"; never sent."""
    parent_id: str | None
    """Id of the parent operation, for call records; never sent."""
    trace_context: Mapping[str, str] | None
    """W3C Trace Context of the caller (`traceparent`, `tracestate`), for call records. Requests name it only while
    `abstractcore.otel` is in use."""
    timeout: float | None
    """Timeout in seconds for the whole call including retries; default 600."""
    priority: int | None
    """Which calls go first among those that wait for `limits`: the higher one, as if it had waited a minute longer for
    each 1; default 0."""
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
    media: loading.MediaInput | Sequence[loading.MediaInput] | None
    """A file for the prompt, or a list of files: paths, http(s) URLs (for providers that fetch them), data URLs, bytes,
    open files, Pillow images, blobs, media parts."""
    tools: Sequence[toolset.ToolInput] | None
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
    interruption: ports.Interruption | None
    """Ends the call from any thread or task: `interruption.set()`; it then raises `CallInterruptedError`."""


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

    tools: Sequence[toolset.ToolInput] | None
    """The tools of the call, for their functions: what the model is offered is in the loop."""
    run_tools: bool | policy.ToolPolicy | None
    """The limits and the approver from here on; default: those of `ToolPolicy()`."""
    deps: Any
    """An object of your own for tools, given anew."""
    on_media_progress: Callable[[MediaProgress], object] | None
    """A function for the progress of conversions, given anew: see `generate`."""
    interruption: ports.Interruption | None
    """Ends the call from any thread or task: see `generate`."""
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


CALL_OPTIONS = frozenset(CallOptions.__annotations__)
REQUEST_FIELDS = frozenset(CallRequest.__annotations__)
RESUME_FIELDS = frozenset(ResumeRequest.__annotations__)
