"""`ModelReply`: the reply of a model as data.

Token counts of a response, and what the response reports about its price. What was not reported is None, never 0.
`CallWarning`: a difference between what a call requested and what was sent or returned. Makes the ids of a reply's tool
calls unique in its conversation.

A decoder knows one reply only: calls that came without an id have the same numbers in every turn, and so have those of
vendors that count anew. Clients keep results by id for a whole conversation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from operator import attrgetter
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast

from .base_error import SchemaError, shown
from .calls import Message, ModelCall, Role
from .json_values import (
    EMPTY,
    JSONObject,
    JSONValue,
    check_choice,
    check_class,
    check_count,
    check_decimal,
    check_items,
    check_number,
    check_text,
    freeze,
    freeze_checked,
    freeze_object,
    freeze_without_none,
)
from .parts import Part, ReasoningPart, TextPart, ToolCall, canonical_parts
from .reprs import Immutable, RichDisplay

MeterUnit: TypeAlias = Literal["tokens", "calls", "seconds", "units"]

METERS: Final[Mapping[str, MeterUnit]] = MappingProxyType(
    {
        "cache_write_5m": "tokens",
        "cache_write_30m": "tokens",
        "cache_write_1h": "tokens",
        "cache_write_12h": "tokens",
        "cache_read_audio": "tokens",
        "cache_read_image": "tokens",
        "cache_read_video": "tokens",
        "input_image": "tokens",
        "input_video": "tokens",
        "output_image": "tokens",
        "output_video": "tokens",
        "citation": "tokens",
        "billed_input": "tokens",
        "billed_output": "tokens",
        "audio_second": "seconds",
        "web_search": "calls",
        "web_fetch": "calls",
        "maps_search": "calls",
        "x_post": "calls",
        "x_profile": "calls",
        "file_search": "calls",
        "attachment_search": "calls",
        "code_execution": "calls",
        "web_search_preview": "calls",
        "request_low": "calls",
        "request_medium": "calls",
        "request_high": "calls",
        "guideline_violation": "calls",
        "search_unit": "units",
        "character": "units",
        "page": "units",
        "annotated_page": "units",
        "image_input": "units",
        "image_2k_medium": "units",
        "video_second_1080p": "seconds",
        "container_1g": "units",
        "container_4g": "units",
        "container_16g": "units",
        "container_64g": "units",
        "session_hour": "units",
        "cache_storage": "tokens",
    }
)
"""The names of `Billing.counts`, with their units; prices are by the same names.

* `cache_write_*` are parts of `Usage.cache_written`, by how long the cache keeps them.
* `cache_read_*` are parts of `Usage.cached`, `input_*` of `Usage.input` (cached ones included), and `output_*` of
  `Usage.output`; cached audio is also part of `Usage.input_audio`.
* `citation` are tokens of the sources that a search adds to the prompt (Perplexity), apart from the others.
* `billed_input` and `billed_output` are billed instead of `Usage.input` and `Usage.output` (Cohere).
* `audio_second` are seconds of audio in the input (Mistral), `search_unit` Cohere's units of searches.
* The calls are requests or queries of tools that the provider runs; `x_post` and `x_profile` are posts and profiles
  read. `request_*` are requests by the size of the search context (Perplexity), `guideline_violation` refused ones
  (xAI).
* Models that do not chat count characters, pages, pages with annotations, images and seconds of video, by size and
  quality. `container_*` are sessions by memory, `session_hour` hours of an agent's session, `cache_storage` tokens
  times the hours that a cache keeps them.
"""

_METERS = frozenset(METERS)
_LARGE = 2**63
_LOW = -_LARGE


@dataclass(frozen=True, slots=True)
class SeparateUsage(Immutable):
    """Tokens of one response that are charged, but not among its token counts: of a summary of the conversation that
    the provider made for it, or of another model that was asked.

    `model` is None for the model of the response. The counts are as in `Usage`, `counts` as in `Billing`.
    """

    model: str | None = None
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    counts: Mapping[str, int] = cast("Mapping[str, int]", EMPTY)

    def __post_init__(self) -> None:
        if self.model is not None and not check_text(self.model, "model"):
            object.__setattr__(self, "model", None)
        for name in ("input", "output", "cached", "cache_written"):
            count = getattr(self, name)
            if count is not None:
                _check_integer(count, name)
        if self.counts is not EMPTY:
            object.__setattr__(self, "counts", _frozen_counts(self.counts))


@dataclass(frozen=True, slots=True)
class Billing(Immutable):
    """What one response reports about its price.

    `cost` is in US dollars, as the vendor reported it: a reported 0 is 0. `tier` is the service tier that served the
    request, in the vendor's word; `region` is where it was processed. `counts` are further counts with prices of their
    own, by the names in `METERS`; `separate` are tokens that are not among the token counts of the response. Trailing
    zeros of `cost` are removed and empty texts become None, so that equal values have equal digests. Raises
    `SchemaError` with the path for an unknown meter, and a cost that is not a `Decimal` of at least 0.
    """

    cost: Decimal | None = None
    tier: str | None = None
    region: str | None = None
    counts: Mapping[str, int] = cast("Mapping[str, int]", EMPTY)
    separate: tuple[SeparateUsage, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "separate", check_items(self.separate, SeparateUsage, "separate"))
        if self.cost is not None:
            object.__setattr__(self, "cost", check_decimal(self.cost, "cost"))
        if self.tier is not None and not check_text(self.tier, "tier"):
            object.__setattr__(self, "tier", None)
        if self.region is not None and not check_text(self.region, "region"):
            object.__setattr__(self, "region", None)
        if self.counts is not EMPTY:
            object.__setattr__(self, "counts", _frozen_counts(self.counts))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was reported."""
        return self.tier is None and self.cost is None and not (self.region or self.counts or self.separate)


def _frozen_counts(counts: object) -> JSONObject:
    if type(counts) is dict and _are_counts(cast("dict[object, object]", counts)):
        return freeze_checked(cast("dict[str, int]", counts))
    frozen = freeze_object(cast(object, counts), "counts")
    for meter, count in frozen.items():
        if meter not in METERS:
            hint = "`abstractcore.schema.METERS` lists the meters."  # too many for a message
            raise SchemaError(f"{shown(meter)} is not a meter", "counts", hint=hint)
        check_count(count, f"counts.{meter}")
    return frozen


def _are_counts(counts: dict[object, object]) -> bool:
    """Whether these are valid counts; for others, the slower checks find what is wrong."""
    for meter, count in counts.items():
        if type(meter) is not str or meter not in _METERS or type(count) is not int or not 0 <= count < _LARGE:
            return False
    return bool(counts)


@dataclass(frozen=True, slots=True)
class Usage(Immutable):
    """Token counts. `input` includes tokens read from and written to a cache, `output` includes reasoning.

    `billing` belongs to one response: a sum of usages has none, since the price of a token depends on its response.
    An empty `Billing` becomes None.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    reasoning: int | None = None
    input_audio: int | None = None
    output_audio: int | None = None
    billing: Billing | None = None

    def __post_init__(self) -> None:
        for name, count in zip(TOKEN_COUNTS, _token_counts(self), strict=True):
            if count is not None and (type(count) is not int or not _LOW < count < _LARGE):
                _check_integer(count, name)
        if self.billing is not None:
            check_class(self.billing, Billing, "billing")
            if self.billing.is_empty:
                object.__setattr__(self, "billing", None)

    @property
    def total(self) -> int | None:
        """The sum of input and output; None unless both were reported."""
        return None if self.input is None or self.output is None else self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        """Returns the counts of both, without `billing`."""
        return Usage(
            _add(self.input, other.input),
            _add(self.output, other.output),
            _add(self.cached, other.cached),
            _add(self.cache_written, other.cache_written),
            _add(self.reasoning, other.reasoning),
            _add(self.input_audio, other.input_audio),
            _add(self.output_audio, other.output_audio),
        )


TOKEN_COUNTS: Final = tuple(field.name for field in fields(Usage) if field.name != "billing")
"""The names of the token counts in `Usage`."""
_token_counts = attrgetter(*TOKEN_COUNTS)


def _check_integer(count: object, name: str) -> None:
    if type(count) is not int:
        raise SchemaError(f"expected an integer, got {type(count).__name__}", name)
    check_number(count, name)


def _add(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right


@dataclass(frozen=True, slots=True)
class CallWarning(Immutable):
    """One difference between what was requested and what was done.

    `code` is a stable short name (`unsupported_option`, `media_type_mismatch`); `path` is a path in the `ModelCall`
    or the reply; `requested` and `sent` are the two values where they are small. `sent` is None if nothing was sent.
    For code "reordered" the values are positions: of the part in the call, and among the parts that were sent.
    """

    code: str
    path: str
    message: str
    requested: JSONValue = None
    sent: JSONValue = None

    def __post_init__(self) -> None:
        for name in ("code", "path", "message"):
            check_text(getattr(self, name), name)
        for name in ("requested", "sent"):
            object.__setattr__(self, name, freeze(getattr(self, name), name))

    def __str__(self) -> str:
        return f"{self.message} [{self.code} at {self.path}]"


FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "refusal", "paused", "error", "unknown"]
"""Why a reply ended. "error" is that of a reply that the provider could not use: a malformed call, a missing image."""
FINISH_REASONS: tuple[FinishReason, ...] = (
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "refusal",
    "paused",
    "error",
    "unknown",
)
_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class ModelReply(Immutable, RichDisplay):
    """The reply of a model. `raw_finish_reason` is the vendor's value; `id` the vendor's id of the reply.

    `provider_metadata` holds fields of the response that the schema has none for. Empty names become None.
    """

    parts: tuple[Part, ...] = ()
    finish_reason: FinishReason = "unknown"
    raw_finish_reason: str | None = None
    usage: Usage = _NO_USAGE
    model: str | None = None
    provider: str | None = None
    id: str | None = None
    warnings: tuple[CallWarning, ...] = ()
    provider_metadata: JSONObject = EMPTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", canonical_parts(self.parts, "parts"))
        for index, part in enumerate(self.parts):
            if getattr(part, "cache", None) is not None:
                raise SchemaError("a cache point is not allowed in a reply", f"parts[{index}].cache")
        check_choice(self.finish_reason, FINISH_REASONS, "finish_reason")
        for name in ("raw_finish_reason", "model", "provider", "id"):
            value = getattr(self, name)
            if value is not None and not check_text(value, name):
                object.__setattr__(self, name, None)
        check_class(self.usage, Usage, "usage")
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))
        if self.provider_metadata is not EMPTY:
            object.__setattr__(
                self, "provider_metadata", freeze_without_none(self.provider_metadata, "provider_metadata")
            )

    @property
    def text(self) -> str:
        """The text of the answer, without reasoning."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        """The text of the reasoning, if the provider returns it."""
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the model, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    def __display__(self) -> tuple[object, ...]:
        return self.parts

    def message(self) -> Message | None:
        """The reply as the assistant's message of a conversation; None if it is empty."""
        role: Role = "assistant"
        return Message(role, self.parts) if self.parts else None


_MADE = re.compile(r"call_\d+_\d+(_\d+)?")
"""Ids that `CallIds` makes, and those that are made for calls which a client returns without theirs."""


class CallIds:
    """The ids of the tool calls of a conversation, and of the reply that continues it: those of its `messages`, and of
    further `replies`. New ids depend on nothing else, so that a request that is sent again gets the same ones.

    Once a conversation has ids that were made for it, all further ones are: it may come from a client that returns no
    ids, and has the vendor's nevertheless, which a vendor may repeat.
    """

    def __init__(self, messages: Sequence[Message], replies: Sequence[ModelReply] = ()) -> None:
        self._used = {call.id for each in (*messages, *replies) for call in each.tool_calls}
        self._turn = sum(message.role == "assistant" for message in messages) + len(replies)
        self._count = 0
        self._makes_all = any(map(_MADE.fullmatch, self._used))

    def new(self) -> str:
        """Returns an id for the next call of the reply: `call_{turn}_{index}`, with a number appended if it is in
        use.
        """
        base = id = f"call_{self._turn}_{self._count}"
        number = 1
        while id in self._used:
            id, number = f"{base}_{number}", number + 1
        return self._add(id)

    def unique(self, id: str) -> str:
        """Returns the id of the next call of the reply: a new one if `id` is in use, empty, or may be of an earlier
        turn.
        """
        return self._add(id) if id and id not in self._used and not self._makes_all else self.new()

    def in_reply(self, reply: ModelReply) -> ModelReply:
        """Returns the reply, each of whose calls has an id of its own."""
        parts = tuple(self._in_part(part) for part in reply.parts)
        return reply if parts == reply.parts else replace(reply, parts=parts)

    def _in_part(self, part: Part) -> Part:
        return replace(part, id=self.unique(part.id)) if isinstance(part, ToolCall) else part

    def _add(self, id: str) -> str:
        self._used.add(id)
        self._count += 1
        return id


def with_unique_ids(reply: ModelReply, call: ModelCall) -> ModelReply:
    """Returns `reply` without ids of tool calls that are in use in the conversation of `call`."""
    return CallIds(call.messages).in_reply(reply) if reply.tool_calls else reply
