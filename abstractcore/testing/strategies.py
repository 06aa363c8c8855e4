"""Hypothesis strategies for every object of the schema, in canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain, cycle
from typing import Any, cast, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from ..schema import (
    FINISH_REASONS,
    MEDIA_POLICIES,
    METERS,
    TOOL_OUTCOMES,
    AllowedCall,
    AttemptRecord,
    Billing,
    CallRecord,
    CallWarning,
    ContentPart,
    CostSource,
    Delta,
    ErrorRecord,
    GenerateResponse,
    HostedTool,
    HostedToolKind,
    InputRequest,
    InputResponse,
    JournalEntry,
    JSONValue,
    LoopStatus,
    MediaDecision,
    MediaKind,
    MediaRoute,
    MediaSent,
    Message,
    Modality,
    ModelCall,
    ModelReply,
    Outcome,
    OutputAttempt,
    OutputSchema,
    Part,
    PendingCall,
    PendingReason,
    ProviderOptions,
    Question,
    ReasoningDelta,
    ReasoningPart,
    Sampling,
    SchemaError,
    SeparateUsage,
    TextDelta,
    ThinkingLevel,
    ToolAnswer,
    ToolCall,
    ToolCallDelta,
    ToolChoice,
    ToolLabel,
    ToolLoop,
    ToolResult,
    ToolSpec,
    ToolStep,
    Usage,
    deltas_of,
    freeze,
)
from .part_strategies import (
    CACHE,
    FLAG,
    JSON,
    NAME,
    OBJECT,
    SOME_TEXT,
    TEXT,
    audio_parts,
    blobs,
    blobs_elsewhere,
    cache_points,
    citations,
    content_parts,
    document_parts,
    hosted_parts,
    image_parts,
    item_options,
    json_objects,
    json_values,
    names,
    numbers,
    opaque_parts,
    parts,
    reasoning_parts,
    reply_parts,
    text_parts,
    texts,
    tool_arguments,
    tool_calls,
    tool_results,
    tuples,
    video_parts,
)

__all__ = [
    "PROVIDER_ERRORS",
    "attempt_records",
    "audio_parts",
    "billings",
    "blobs",
    "blobs_elsewhere",
    "cache_points",
    "call_records",
    "call_warnings",
    "calls",
    "citations",
    "content_parts",
    "conversations",
    "deltas",
    "document_parts",
    "errors",
    "hosted_parts",
    "image_parts",
    "item_options",
    "json_objects",
    "json_values",
    "media_decisions",
    "messages",
    "names",
    "numbers",
    "opaque_parts",
    "output_schemas",
    "parts",
    "reasoning_parts",
    "replies",
    "reply_parts",
    "responses",
    "samplings",
    "streams",
    "text_parts",
    "texts",
    "tool_arguments",
    "tool_calls",
    "tool_results",
    "tool_specs",
    "usages",
    "video_parts",
]

PROVIDER_ERRORS: tuple[type[ProviderError], ...] = (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
"""The errors that a provider can report in a response."""

_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
_HOSTED = get_args(HostedToolKind)
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_ROUTES: tuple[MediaRoute, ...] = get_args(MediaRoute)
_COST_SOURCES: tuple[CostSource, ...] = get_args(CostSource)
_MODALITIES: tuple[Modality, ...] = get_args(Modality)
_MOST_CALLS = 2
"""The maximum number of tool calls in one reply."""


def _with_calls(others: SearchStrategy[Any]) -> SearchStrategy[tuple[Part, ...]]:
    """Parts and tool calls with distinct ids, in any order."""
    return st.builds(_mixed, tuples(others), st.lists(st.tuples(st.integers(0, 3), tool_calls()), max_size=_MOST_CALLS))


def _mixed(others: tuple[Part, ...], calls: Sequence[tuple[int, ToolCall]]) -> tuple[Part, ...]:
    mixed = list(others)
    for index, call in {call.id: (index, call) for index, call in calls}.values():
        mixed.insert(index, call)
    return tuple(mixed)


def messages(content: SearchStrategy[ContentPart] | None = None) -> SearchStrategy[Message]:
    """One message of any role."""
    shown = content_parts() if content is None else content
    return st.one_of(_system_or_user(shown), _assistant(shown), tool_results(shown).map(Message.tool))


def _system_or_user(content: SearchStrategy[Any]) -> SearchStrategy[Message]:
    user = st.builds(Message, st.just("user"), tuples(content | opaque_parts(), min_size=1))
    return user | st.builds(Message, st.just("system"), tuples(text_parts() | opaque_parts(), min_size=1))


def _assistant(content: SearchStrategy[Any]) -> SearchStrategy[Message]:
    others = st.one_of(content, reasoning_parts(), hosted_parts(), opaque_parts())
    return st.builds(_answer, _with_calls(others))


def _answer(some: tuple[Part, ...]) -> Message:
    try:
        return Message("assistant", some)
    except SchemaError:
        return Message.assistant("nothing else is left")


def conversations(
    user_content: SearchStrategy[ContentPart] | None = None, tool_content: SearchStrategy[ContentPart] | None = None
) -> SearchStrategy[tuple[Message, ...]]:
    """Conversations: tools are called after a user message, and every call has a result right after its turn."""
    shown = content_parts() if user_content is None else user_content
    results = st.lists(tool_results(tool_content), min_size=_MOST_CALLS, max_size=_MOST_CALLS)
    turns = st.builds(_turn, _system_or_user(shown), st.none() | _assistant(shown), results)
    return st.lists(turns, min_size=1, max_size=3).map(lambda turns: tuple(chain.from_iterable(turns)))


def _turn(message: Message, answer: Message | None, results: Sequence[ToolResult]) -> list[Message]:
    """Returns a turn with one of `results` for each call of the answer."""
    if answer is None:
        return [message]
    if not answer.tool_calls:
        return [message, answer]
    first = [message] if message.role == "user" else [message, Message.user("Go on.")]
    pairs = zip(answer.tool_calls, results, strict=False)
    return [*first, answer, Message("tool", tuple(replace(result, call_id=call.id) for call, result in pairs))]


def tool_specs() -> SearchStrategy[ToolSpec]:
    """Tool specs."""
    schemas = st.just({"type": "object", "properties": {"a": {"type": "integer"}}}) | OBJECT
    strict = st.sampled_from([None, True, False])
    return st.builds(ToolSpec, NAME, TEXT, schemas, strict, FLAG, FLAG, FLAG, CACHE, FLAG)


def samplings() -> SearchStrategy[Sampling]:
    """Sampling parameters."""
    large, limits = st.none() | st.integers(0, 10**6), st.none() | st.integers(1, 10**6)
    temperature, top_p, penalty = (st.none() | st.floats(*ends) for ends in ((0, 2), (0, 1), (-2, 2)))
    return st.builds(Sampling, limits, temperature, top_p, large, large, tuples(SOME_TEXT, 2), penalty, penalty, large)


def output_schemas() -> SearchStrategy[OutputSchema]:
    """Output schemas."""
    return st.builds(OutputSchema, NAME, OBJECT, st.none() | TEXT, FLAG)


def hosted_tools() -> SearchStrategy[HostedTool]:
    """Hosted tools."""
    return st.builds(HostedTool, st.sampled_from(_HOSTED), OBJECT)


def calls(
    provider: str = "scripted",
    user_content: SearchStrategy[ContentPart] | None = None,
    tool_content: SearchStrategy[ContentPart] | None = None,
    hosted: SearchStrategy[HostedTool] | None = None,
    options: SearchStrategy[ProviderOptions] | None = None,
) -> SearchStrategy[ModelCall]:
    """Lowered calls of `provider`, with content that `user_content` and `tool_content` can restrict.

    Without `hosted`, calls have no hosted tools; without `options`, parts and messages have no provider options.
    """
    choices = st.sampled_from([None, *map(ToolChoice, ("auto", "none", "required"))]) | st.builds(
        ToolChoice, st.just("tool"), NAME
    )
    labels = st.dictionaries(NAME, TEXT, max_size=1)
    drawn = st.builds(
        ModelCall,
        model=NAME,
        messages=conversations(user_content, tool_content),
        provider=st.just(provider),
        tools=st.lists(tool_specs(), max_size=2, unique_by=lambda tool: tool.name),
        hosted_tools=st.just([]) if hosted is None else st.lists(hosted, max_size=2),
        tool_choice=choices,
        parallel_tool_calls=st.none() | FLAG,
        sampling=st.just(Sampling()) | samplings(),
        output=st.none() | output_schemas(),
        thinking=st.none() | st.sampled_from(_LEVELS) | st.integers(0, 9999),
        modalities=st.lists(st.sampled_from(_MODALITIES), max_size=2, unique=True),
        stream=FLAG,
        strict=FLAG,
        media_policy=st.dictionaries(st.sampled_from(_KINDS), st.sampled_from(MEDIA_POLICIES), max_size=1),
        provider_options=st.dictionaries(st.sampled_from([provider, "another"]), OBJECT, max_size=2),
        tags=labels,
        parent_id=st.none() | NAME,
        trace_context=labels,
    )
    return drawn if options is None else st.builds(_with_options, drawn, _placed(options))


def _placed(options: SearchStrategy[ProviderOptions]) -> SearchStrategy[list[tuple[int, ProviderOptions]]]:
    return st.lists(st.tuples(st.integers(0, 9), options), max_size=3)


def _with_options(call: ModelCall, placed: Sequence[tuple[int, ProviderOptions]]) -> ModelCall:
    """Returns `call` with provider options on some messages and parts, also in tool results."""
    messages = list(call.messages)
    for number, options in placed:
        index = number % len(messages)
        messages[index] = _message_with_options(messages[index], number // len(messages), options)
    return call.with_(messages=tuple(messages))


def _message_with_options(message: Message, number: int, options: ProviderOptions) -> Message:
    index = number % (len(message.parts) + 1) - 1
    if index < 0:
        return message if message.role == "tool" else replace(message, provider_options=options)
    return replace(message, parts=_parts_with_options(message.parts, index, options))


def _parts_with_options(some: tuple[Part, ...], index: int, options: ProviderOptions) -> tuple[Part, ...]:
    part = some[index]
    if isinstance(part, ToolResult) and part.content:
        content = cast("tuple[ContentPart, ...]", _parts_with_options(part.content, 0, options))
        part = replace(part, content=content)
    if not hasattr(part, "provider_options"):
        return some
    return (*some[:index], replace(cast(Any, part), provider_options=options), *some[index + 1 :])


def _dollars() -> SearchStrategy[Decimal]:
    """Costs, in millionths of a dollar."""
    return st.integers(0, 10**9).map(lambda number: Decimal(number).scaleb(-6))


def billings() -> SearchStrategy[Billing]:
    """What responses report about their price."""
    word = st.none() | NAME
    counts = st.dictionaries(st.sampled_from(sorted(METERS)), st.integers(0, 10**9), max_size=3)
    count = st.none() | st.integers(0, 10**9)
    separate = st.builds(SeparateUsage, word, count, count, count, count, counts)
    return st.builds(Billing, st.none() | _dollars(), word, word, counts, tuples(separate, 2))


def usages() -> SearchStrategy[Usage]:
    """Token counts, some not reported."""
    count = st.none() | st.integers(0, 10**9)
    return st.builds(Usage, count, count, count, count, count, count, count, st.none() | billings())


def call_warnings() -> SearchStrategy[CallWarning]:
    """Warnings."""
    return st.builds(CallWarning, NAME, NAME, TEXT, JSON, JSON)


def replies(
    provider: str = "scripted",
    others: SearchStrategy[Part] | None = None,
    options: SearchStrategy[ProviderOptions] | None = None,
) -> SearchStrategy[ModelReply]:
    """Replies of `provider` with reasoning of that provider. `others` are the parts besides tool calls.

    Without `options`, the parts have no provider options.
    """
    drawn = st.builds(
        ModelReply,
        parts=_with_calls(reply_parts() if others is None else others).map(_uncached),
        finish_reason=st.sampled_from(FINISH_REASONS),
        raw_finish_reason=st.none() | NAME,
        usage=usages(),
        model=st.none() | NAME,
        provider=st.just(provider),
        id=st.none() | NAME,
        provider_metadata=OBJECT,
    )
    owned = drawn.map(_with_origin)
    return owned if options is None else st.builds(_reply_with_options, owned, _placed(options))


def _reply_with_options(reply: ModelReply, placed: Sequence[tuple[int, ProviderOptions]]) -> ModelReply:
    some = reply.parts
    for number, options in placed:
        some = _parts_with_options(some, number % len(some), options) if some else some
    return replace(reply, parts=some)


def _uncached(some: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, cache=None) if getattr(part, "cache", None) else part for part in some)


def _with_origin(reply: ModelReply) -> ModelReply:
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    owned = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(owned))


def attempt_records() -> SearchStrategy[AttemptRecord]:
    """Attempt records."""
    counts = st.integers(0, 10**6)
    return st.builds(AttemptRecord, counts, numbers(), numbers(), st.none() | counts, st.none() | NAME)


def media_decisions() -> SearchStrategy[MediaDecision]:
    """Media decisions."""
    sizes = st.none() | st.integers(0, 2**40)
    return st.builds(
        MediaDecision,
        part_path=NAME,
        source=TEXT,
        type=NAME,
        kind=st.sampled_from(_KINDS),
        route=st.sampled_from(_ROUTES),
        reason=TEXT,
        handler=st.none() | NAME,
        sent=st.none()
        | st.builds(MediaSent, NAME, sizes, st.none() | TEXT, tuples(st.builds(MediaSent, NAME, sizes), 2)),
        usage=st.none() | usages(),
        outputs=tuples(NAME, 2),
    )


def responses() -> SearchStrategy[GenerateResponse[JSONValue]]:
    """Responses."""
    return st.builds(
        cast("type[GenerateResponse[JSONValue]]", GenerateResponse),
        reply=replies(),
        output=JSON.map(freeze),
        steps=tuples(replies(), 1),
        attempts=tuples(attempt_records(), 2),
        usage=usages(),
        warnings=tuples(call_warnings(), 2),
        media=tuples(media_decisions(), 2),
        provider=NAME,
        model=NAME,
        cost=st.none() | _dollars(),
        trace_id=NAME,
        seconds=numbers(),
        cost_source=st.sampled_from((None, *_COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
    )


def call_records() -> SearchStrategy[CallRecord]:
    """Call records."""
    errors = st.builds(ErrorRecord, NAME, TEXT, st.none() | st.integers(100, 599), st.none() | NAME, FLAG)
    return st.builds(
        CallRecord,
        trace_id=NAME,
        parent_id=st.none() | NAME,
        provider=NAME,
        model=NAME,
        outcome=st.sampled_from(_OUTCOMES),
        streamed=FLAG,
        started_at=numbers(),
        seconds=numbers(),
        seconds_to_first=st.none() | numbers(),
        call_digest=NAME,
        reply_digest=st.none() | NAME,
        call=st.none() | calls(),
        reply=st.none() | replies(),
        attempts=tuples(attempt_records(), 2),
        usage=usages(),
        cost=st.none() | _dollars(),
        media=tuples(media_decisions(), 1),
        warnings=tuples(call_warnings(), 1),
        error=st.none() | errors,
        tags=st.dictionaries(NAME, TEXT, max_size=1),
        cost_source=st.sampled_from((None, *_COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
    )


def tool_steps() -> SearchStrategy[ToolStep]:
    """Handled tool calls."""
    return st.builds(
        ToolStep,
        call=tool_calls(),
        result=tool_results(),
        round=st.integers(0, 3),
        outcome=st.sampled_from(TOOL_OUTCOMES),
        started_at=numbers(),
        seconds=numbers(),
        data=json_values(),
        error=st.none() | st.builds(ErrorRecord, NAME, TEXT),
        traceback=st.none() | TEXT,
        labels=_labels(),
        artifact=st.none() | NAME,
        requested=st.none() | tool_calls(),
        warnings=tuples(call_warnings(), 1),
        final=FLAG,
    )


def tool_answers() -> SearchStrategy[ToolAnswer]:
    """Answers to pending calls."""
    pending = _pending_calls()
    return st.one_of(
        pending.map(PendingCall.allow),
        st.builds(lambda response: ToolAnswer("c", "d", "input", input=response), _input_responses()),
        st.builds(PendingCall.deny, pending, TEXT),
        st.builds(PendingCall.edit, pending, json_objects()),
        st.builds(PendingCall.result, pending, SOME_TEXT, is_error=FLAG),
    )


def _pending_calls() -> SearchStrategy[PendingCall]:
    reasons = st.sampled_from([reason for reason in get_args(PendingReason) if reason != "input"])
    given = {
        "note": st.none() | TEXT,
        "labels": _labels(),
        "tool": st.none() | tool_specs(),
        "loop": TEXT,
        "round": st.integers(0, 3),
        "attempts": st.integers(0, 3),
        "requested": st.none() | tool_calls(),
    }
    asking = st.builds(PendingCall, tool_calls(), st.just("input"), input=_input_requests(), **given)
    return asking | st.builds(PendingCall, tool_calls(), reasons, **given)


def _input_requests() -> SearchStrategy[InputRequest]:
    question = st.builds(Question, NAME, TEXT, json_objects(), st.none() | TEXT)
    questions = st.lists(question, max_size=2, unique_by=lambda question: question.key)
    return st.builds(InputRequest, questions, json_values())


def _input_responses() -> SearchStrategy[InputResponse]:
    return _input_requests().flatmap(
        lambda request: st.builds(
            InputResponse, st.just(request), st.tuples(*[st.none() | json_objects() for _ in request.questions])
        )
    )


def _allowed_calls() -> SearchStrategy[AllowedCall]:
    return st.builds(AllowedCall, tool_calls(), st.none() | tool_calls(), st.none() | _input_responses())


def _labels() -> SearchStrategy[tuple[ToolLabel, ...]]:
    return tuples(st.sampled_from(get_args(ToolLabel)), 2)


def _output_attempts() -> SearchStrategy[OutputAttempt]:
    """Answers that were not valid, as text and as calls of the output tool."""
    call = st.none() | tool_calls()
    return st.builds(OutputAttempt, st.integers(0, 3), TEXT, TEXT, TEXT, usages(), call)


def tool_loops() -> SearchStrategy[ToolLoop]:
    """States of tool loops."""
    return st.builds(
        ToolLoop,
        id=NAME,
        call=calls(),
        replies=tuples(replies(), 1),
        steps=tuples(tool_steps(), 2),
        output_attempts=tuples(_output_attempts(), 1),
        pending=tuples(_pending_calls(), 1),
        status=st.sampled_from(get_args(LoopStatus)),
        found=tuples(NAME, 1),
        usage=usages(),
        cost=st.none() | _dollars(),
        cost_source=st.sampled_from((None, *_COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
        allowed=tuples(_allowed_calls(), 1),
        content_labels=_labels(),
        needs_approval=FLAG,
    )


def journal_entries() -> SearchStrategy[JournalEntry]:
    """Events of tool loops."""
    attempts = st.none() | _output_attempts()
    return st.one_of(
        st.builds(JournalEntry, st.just("start"), loop=tool_loops()),
        st.builds(
            JournalEntry,
            st.just("reply"),
            reply=replies(),
            usage=usages(),
            attempt=attempts,
            cost=st.none() | _dollars(),
            cost_source=st.sampled_from((None, *_COST_SOURCES)),
            cost_reason=st.none() | TEXT,
            price_rows=tuples(NAME, 1),
        ),
        st.builds(
            JournalEntry,
            st.just("decision"),
            allowed=tuples(_allowed_calls(), 2),
            pending=tuples(_pending_calls(), 2),
        ),
        st.builds(JournalEntry, st.just("intent"), call=tool_calls()),
        st.builds(JournalEntry, st.just("step"), step=tool_steps()),
        st.builds(JournalEntry, st.just("end"), status=st.sampled_from(get_args(LoopStatus))),
    )


_SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)
"""Sizes of the pieces of a text, in turn. A size of 0 is a piece without text, which streams may have anywhere."""


def deltas(reply: ModelReply) -> SearchStrategy[list[Delta]]:
    """Streams that accumulate to `reply`, with its texts in pieces."""
    return _SIZES.map(lambda sizes: _in_pieces(reply, sizes))


def streams(replies: SearchStrategy[ModelReply]) -> SearchStrategy[tuple[ModelReply, list[Delta]]]:
    """Replies, each with a stream that accumulates to it."""
    return st.builds(_streamed, replies, _SIZES)


def _streamed(reply: ModelReply, sizes: Sequence[int]) -> tuple[ModelReply, list[Delta]]:
    return reply, _in_pieces(reply, sizes)


def _in_pieces(reply: ModelReply, sizes: Sequence[int]) -> list[Delta]:
    stream: list[Delta] = []
    for delta in deltas_of(reply):
        if isinstance(delta, TextDelta | ReasoningDelta):
            stream += [type(delta)(0, delta.block, piece) for piece in _pieces(delta.text, sizes)]
        elif isinstance(delta, ToolCallDelta):
            stream += [ToolCallDelta(0, delta.block, piece) for piece in _pieces(delta.arguments_text, sizes)]
        else:
            stream.append(delta)
    for sequence, delta in enumerate(stream):
        delta.sequence = sequence
    return stream


def _pieces(text: str, sizes: Sequence[int]) -> list[str]:
    pieces: list[str] = []
    for size in cycle(sizes):
        if not text and size:
            return pieces
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def errors() -> SearchStrategy[ProviderError]:
    """Errors of a provider, with and without `retry_after`."""
    waits = st.none() | st.integers(0, 3600).map(float) | st.floats(0, 3600)
    return st.builds(_failure, st.sampled_from(PROVIDER_ERRORS), SOME_TEXT, waits)


def _failure(kind: type[ProviderError], message: str, wait: float | None) -> ProviderError:
    return kind(message, retry_after=wait)
