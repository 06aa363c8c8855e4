"""`ModelCall`: a call as serialisable data.

Messages in canonical form: no empty parts, adjacent texts joined, one tool message per turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast, get_args, overload

from .base_error import SchemaError, shown
from .json_values import (
    EMPTY,
    NO_OPTIONS,
    JSONObject,
    ProviderOptions,
    as_float,
    check_choice,
    check_class,
    check_flag,
    check_items,
    check_number,
    check_text,
    checked_provider_options,
    freeze_object,
)
from .parts import (
    ALL_PARTS,
    CONTENT_PARTS,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    MediaKind,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    canonical_parts,
)
from .reprs import Immutable, RichDisplay
from .tools import HostedTool, ToolChoice, ToolSpec, check_tool_names

Role = Literal["system", "user", "assistant", "tool"]
"""Who a message is from."""

_ALLOWED: dict[str, tuple[type, ...]] = {
    "system": (TextPart, OpaquePart),
    "user": (*CONTENT_PARTS, OpaquePart),
    "assistant": (*CONTENT_PARTS, ReasoningPart, ToolCall, HostedToolCall, HostedToolResult, OpaquePart),
    "tool": (ToolResult,),
}
assert {part for allowed in _ALLOWED.values() for part in allowed} == set(ALL_PARTS)


@dataclass(frozen=True, slots=True)
class Message(Immutable, RichDisplay):
    """One turn's content from one role.

    A system message may come at any position; a tool message holds the results of the assistant turn before it.
    `provider_options` are extra fields of the message, by provider. Raises `SchemaError` for a part that the role does
    not allow, and for an empty message.
    """

    role: Role
    parts: tuple[Part, ...]
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        if self.provider_options is not NO_OPTIONS:
            self._freeze_options()
        allowed = _ALLOWED.get(self.role) if isinstance(self.role, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        if allowed is None:
            raise SchemaError(f"unknown role {shown(self.role)}: use {', '.join(_ALLOWED)}", "role")
        if type(self.parts) is tuple and len(self.parts) == 1:
            part = self.parts[0]
            if isinstance(part, TextPart) and part.text and self.role != "tool":
                return
        parts = canonical_parts(self.parts, "parts", allowed)
        if not parts:
            raise SchemaError(f"the {self.role} message is empty: add text or a file", "parts")
        object.__setattr__(self, "parts", parts)

    def _freeze_options(self) -> None:
        options = checked_provider_options(self.provider_options)
        if options and self.role == "tool":
            raise SchemaError(
                "a tool message has no provider options: set them on its ToolResult parts", "provider_options"
            )
        object.__setattr__(self, "provider_options", options)

    def __display__(self) -> tuple[object, ...]:
        return self.parts

    @classmethod
    def system(cls, text: str) -> Message:
        """Returns a system message: instructions to the model."""
        return cls("system", (TextPart(text),))

    @classmethod
    def user(cls, *content: str | ContentPart) -> Message:
        """Returns a user message of texts and media parts in order."""
        return cls("user", _as_parts(content))

    @classmethod
    def assistant(cls, *content: str | Part) -> Message:
        """Returns an assistant message: an earlier answer of the model."""
        return cls("assistant", _as_parts(content))

    @overload
    @classmethod
    def tool(cls, *results: ToolResult) -> Message: ...

    @overload
    @classmethod
    def tool(cls, call_id: str, /, *content: str | ContentPart, is_error: bool = False) -> Message: ...

    @classmethod
    def tool(cls, *results: Any, is_error: bool = False) -> Message:
        """Returns a tool message of results of calls in the assistant message before it.

        For one result, pass the id of its call, then texts and media parts: `Message.tool(call.id, "sunny")`.
        """
        if results and isinstance(results[0], str):
            results = (ToolResult.of(*results, is_error=is_error),)
        elif is_error:
            raise SchemaError("needs a call id as the first argument; set it on the ToolResult instead", "is_error")
        return cls("tool", results)

    @property
    def text(self) -> str:
        """The joined text of all text parts."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of an assistant message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def _as_parts(content: Iterable[str | Part]) -> tuple[Part, ...]:
    return tuple(TextPart(item) if isinstance(item, str) else item for item in content)


def canonical_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Returns messages with one tool message after each assistant turn, its results in the order of the calls.

    Raises `SchemaError` for a result without a call, two results for one call, or two calls with one id.
    """
    canonical: list[Message] = []
    pending: dict[str, int] = {}
    tool_index = 0
    """The index of the tool message of the last assistant turn."""
    for index, message in enumerate(messages):
        if message.role != "tool":
            canonical.append(message)
            if message.role == "assistant":
                pending, tool_index = _call_order(message, index), len(canonical)
            elif message.role == "user":
                pending = {}
        elif tool_index < len(canonical) and canonical[tool_index].role == "tool" and pending:
            canonical[tool_index] = _in_call_order((*canonical[tool_index].parts, *message.parts), pending, index)
        else:
            canonical.insert(tool_index, _in_call_order(message.parts, pending, index))
    return tuple(canonical)


def _call_order(message: Message, index: int) -> dict[str, int]:
    calls = message.tool_calls
    order = {call.id: position for position, call in enumerate(calls)}
    if len(order) < len(calls):
        raise SchemaError("two tool calls have one id", f"messages[{index}]")
    return order


def _in_call_order(parts: tuple[Part, ...], order: dict[str, int], index: int) -> Message:
    results = [part for part in parts if isinstance(part, ToolResult)]
    seen: set[str] = set()
    for result in results:
        where = f"messages[{index}]"
        if result.call_id not in order:
            raise SchemaError(
                f"tool result for {shown(result.call_id)} has no such call in the assistant turn before", where
            )
        if result.call_id in seen:
            raise SchemaError(f"two results for tool call {shown(result.call_id)}", where)
        seen.add(result.call_id)
    results.sort(key=lambda result: order[result.call_id])
    return Message("tool", tuple(results))


MediaPolicy = Literal[
    "native",
    "auto",
    "fallback_only",
    "refuse",
    "caption",
    "ocr",
    "observe",
    "transcript",
    "frames+transcript",
    "frames",
    "text",
    "pages",
    "glyphs",
]
"""How a file is handled: sent natively; natively, else by a fallback; by a fallback only; refused; or by the fallback
of this name. Plugins may have others."""

MEDIA_RULES: tuple[MediaPolicy, ...] = ("native", "auto", "fallback_only", "refuse")
"""The policies that name no fallback."""
MediaHistory = Literal["keep", "text"]
"""How a file is sent after its turn: again as before, or as its text instead."""
Modality = Literal["text", "image", "audio"]
"""What a model may produce."""
ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Reasoning effort, in rising order."""
EmbedPurpose = Literal["document", "query", "classification", "clustering", "similarity", "code", "question", "fact"]
"""What vectors are for: texts that are searched and queries for them, classes, groups, equal meaning; queries for code,
questions for answers, claims for evidence."""
EMBED_PURPOSES: tuple[EmbedPurpose, ...] = get_args(EmbedPurpose)
OutputMode = Literal["native", "tool", "grammar", "prompted"]
"""How a typed answer is requested: by the provider's structured output, as the arguments of a tool, by a grammar of a
model on this machine, or by instructions alone."""
FileStorePolicy = Literal["auto", "never", "always"]
"""Which files are uploaded to the provider's file store and named by id: those that make a request too large; none; all
that the provider stores."""
ToolSearch = Literal["hosted", "client"]
"""Where deferred tools are searched: by the provider, or in this program, with the tool `search_tools`."""
_HISTORIES = get_args(MediaHistory)
_MODALITIES = get_args(Modality)
_OUTPUT_MODES = get_args(OutputMode)
_TOOL_SEARCHES = get_args(ToolSearch)
_FILE_STORE_POLICIES = get_args(FileStorePolicy)
_LEVELS = get_args(ThinkingLevel)
_KINDS = get_args(MediaKind)


@dataclass(frozen=True, slots=True)
class OutputSchema(Immutable):
    """The JSON Schema the answer must match. `strict` asks the provider to enforce it. `schema` is the JSON Schema."""

    name: str
    schema: JSONObject
    description: str | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        check_flag(self.strict, "strict")
        if self.description is not None:
            object.__setattr__(self, "description", check_text(self.description, "description") or None)
        object.__setattr__(self, "schema", freeze_object(self.schema, "schema"))


@dataclass(frozen=True, slots=True)
class Sampling(Immutable):
    """Sampling parameters. None means the provider's default."""

    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    top_logprobs: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_output_tokens", "top_k", "seed", "top_logprobs"):
            _check_number(getattr(self, name), name, int)
        for name in ("temperature", "top_p", "presence_penalty", "frequency_penalty"):
            value = getattr(self, name)
            _check_number(value, name, int | float)
            if type(value) is int:
                object.__setattr__(self, name, as_float(value, name))
        for name, lowest, highest in _RANGES:
            value = getattr(self, name)
            if value is not None and not lowest <= value <= highest:
                limit = f"at least {lowest}" if highest == math.inf else f"between {lowest} and {highest}"
                raise SchemaError(f"must be {limit}, got {value}", name)
        stop = check_items(self.stop, str, "stop")
        if "" in stop:
            raise SchemaError("expected non-empty texts", "stop")
        object.__setattr__(self, "stop", tuple(check_text(text, f"stop[{i}]") for i, text in enumerate(stop)))

    def over(self, other: Sampling) -> Sampling:
        """Returns these parameters, with those of `other` for the unset ones."""
        unset = [name for name in _SAMPLING_FIELDS if getattr(self, name) in (None, ())]
        if len(unset) == len(_SAMPLING_FIELDS):
            return other
        return replace(self, **{name: getattr(other, name) for name in unset})


_RANGES = (
    ("max_output_tokens", 1, math.inf),
    ("temperature", 0, math.inf),
    ("top_p", 0, 1),
    ("top_k", 0, math.inf),
    ("top_logprobs", 0, math.inf),
)
"""Every provider rejects values outside these ranges. Penalties have none: some providers accept any value."""

_SAMPLING_FIELDS = tuple(field.name for field in fields(Sampling))


def _check_number(value: object, name: str, kind: type | object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, kind):  # pyright: ignore[reportArgumentType]
        what = "an integer" if kind is int else "a number"
        raise SchemaError(f"expected {what}, got {type(value).__name__}", name)
    check_number(cast(float, value), name)


_DEFAULT_SAMPLING = Sampling()


@dataclass(frozen=True, slots=True)
class ModelCall(Immutable):
    """One call of a model, complete and serialisable. `with_` returns a changed copy.

    `media_policy` has a `MediaPolicy`, or the name of a plugin's fallback, by kind of media; `media_history` says, by
    kind, how files of earlier turns are sent, `file_store` which files are uploaded to the provider's file store.
    The keys of `provider_options` are providers. `tags`, `parent_id` and `trace_context` are for records and never
    sent. With `strict`, an option that the model does not support is an error, not a warning. `cache` sets cache points
    after the tools, the system message and the last user message. `tool_format` is the format in which tools are
    written into the prompt, "native" for the provider's own tools; with `rescue`, a native call that a local server
    returns as text is read as a call; `output_mode` is how `output` is requested; `tool_search` is where deferred tools
    are searched. None means that the model decides. A lowered call has none of these four. `messages` and `tools` are
    brought into canonical form. A provider option of None, or an empty mapping of them, counts as not given.
    """

    model: str
    messages: tuple[Message, ...]
    provider: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    hosted_tools: tuple[HostedTool, ...] = ()
    sampling: Sampling = _DEFAULT_SAMPLING
    output: OutputSchema | None = None
    thinking: ThinkingLevel | int | None = None
    cache: bool = False
    modalities: tuple[Modality, ...] = ()
    stream: bool = False
    strict: bool = False
    media_policy: Mapping[MediaKind, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    provider_options: ProviderOptions = NO_OPTIONS
    tags: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    parent_id: str | None = None
    trace_context: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    tool_format: str | None = None
    rescue: bool = True
    output_mode: OutputMode | None = None
    tool_search: ToolSearch | None = None
    media_history: Mapping[MediaKind, MediaHistory] = EMPTY  # pyright: ignore[reportAssignmentType]
    file_store: FileStorePolicy = "auto"

    def __post_init__(self) -> None:
        messages = check_items(self.messages, Message, "messages")
        if not messages:
            raise SchemaError("the call is empty: pass a prompt, messages or media", "messages")
        object.__setattr__(self, "messages", canonical_messages(messages))
        object.__setattr__(self, "tools", check_items(self.tools, ToolSpec, "tools"))
        object.__setattr__(self, "hosted_tools", check_items(self.hosted_tools, HostedTool, "hosted_tools"))
        object.__setattr__(self, "modalities", check_items(self.modalities, object, "modalities"))
        if self.tools:
            check_tool_names(self.tools)
        for name in ("media_policy", "media_history", "tags", "trace_context"):
            value = getattr(self, name)
            if value is not EMPTY:
                object.__setattr__(self, name, labels(value, name))
        if self.provider_options is not NO_OPTIONS:
            object.__setattr__(self, "provider_options", checked_provider_options(self.provider_options))
        _check_choices(self)

    def with_(self, **changes: object) -> ModelCall:
        """Returns a copy with changed fields, validated like a new call; raises `TypeError` for an unknown field."""
        values = {name: getattr(self, name) for name in _FIELD_NAMES}
        return ModelCall(**{**values, **changes})  # pyright: ignore[reportArgumentType]


_FIELD_NAMES = tuple(field.name for field in fields(ModelCall))


def labels(given: object, path: str) -> JSONObject:
    """Returns a mapping of texts, frozen; raises `SchemaError` with the path of another value."""
    frozen = freeze_object(given, path)
    for name, label in frozen.items():
        check_text(label, f"{path}.{name}")
    return frozen


def _check_choices(call: ModelCall) -> None:
    check_text(call.model, "model")
    check_text(call.provider, "provider")
    for name in ("stream", "strict", "cache", "rescue"):
        check_flag(getattr(call, name), name)
    check_class(call.sampling, Sampling, "sampling")
    if call.tool_choice is not None:
        check_class(call.tool_choice, ToolChoice, "tool_choice")
    if call.output is not None:
        check_class(call.output, OutputSchema, "output")
    if call.parallel_tool_calls is not None:
        check_flag(call.parallel_tool_calls, "parallel_tool_calls")
    if call.tool_format is not None:
        check_text(call.tool_format, "tool_format")
    if call.output_mode is not None:
        check_choice(call.output_mode, _OUTPUT_MODES, "output_mode")
    if call.tool_search is not None:
        check_choice(call.tool_search, _TOOL_SEARCHES, "tool_search")
    check_choice(call.file_store, _FILE_STORE_POLICIES, "file_store")
    if call.parent_id is not None:
        check_text(call.parent_id, "parent_id")
    for index, modality in enumerate(call.modalities):
        check_choice(modality, _MODALITIES, f"modalities[{index}]")
    thinking = call.thinking
    if type(thinking) is int and thinking >= 0:
        check_number(thinking, "thinking")
    elif thinking is not None and not (isinstance(thinking, str) and thinking in _LEVELS):
        raise SchemaError(
            f"{shown(thinking)} is neither a number of tokens nor one of {', '.join(_LEVELS)}", "thinking"
        )
    for kind, policy in call.media_policy.items():
        if kind not in _KINDS:
            raise SchemaError(f"unknown kind {shown(kind)}: use {', '.join(_KINDS)}", "media_policy")
        if not isinstance(policy, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a name, got {type(policy).__name__}", f"media_policy.{kind}")
    for kind, history in call.media_history.items():
        if kind not in _KINDS:
            raise SchemaError(f"unknown kind {shown(kind)}: use {', '.join(_KINDS)}", "media_history")
        check_choice(history, _HISTORIES, f"media_history.{kind}")
