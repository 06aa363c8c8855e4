"""Hypothesis strategies for every object of the schema, in canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
    AttemptRecord,
    AudioPart,
    Blob,
    CallWarning,
    Citation,
    ContentPart,
    Delta,
    DocumentPart,
    GenerateResponse,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    JSONObject,
    JSONValue,
    MediaDecision,
    MediaKind,
    MediaRoute,
    MediaSent,
    Message,
    Modality,
    ModelCall,
    ModelReply,
    OpaquePart,
    OutputSchema,
    Part,
    ReasoningDelta,
    ReasoningPart,
    Sampling,
    SchemaError,
    TextDelta,
    TextPart,
    ThinkingLevel,
    ToolCall,
    ToolCallDelta,
    ToolChoice,
    ToolResult,
    ToolSpec,
    Usage,
    VideoPart,
    deltas_of,
    freeze,
)

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
"""The errors a provider can tell of over the wire."""

_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
_ROUTES: tuple[MediaRoute, ...] = get_args(MediaRoute)
_MEDIA_TYPES = ("image/png", "audio/wav", "video/mp4", "application/pdf")
_MODALITIES: tuple[Modality, ...] = get_args(Modality)


def texts(*, min_size: int = 0, max_size: int = 12) -> SearchStrategy[str]:
    """Unicode text without lone surrogates."""
    return st.text(st.characters(codec="utf-8"), min_size=min_size, max_size=max_size)


_TEXT, _SOME_TEXT = texts(), texts(min_size=1)
_FLAG = st.booleans()


def names() -> SearchStrategy[str]:
    """Short names of ASCII letters, digits, underscores and dashes, for models, tools and ids."""
    return _NAME


_NAME = st.text("abcxyzABC019_-", min_size=1, max_size=10)


def numbers() -> SearchStrategy[float]:
    """Finite floats."""
    return st.floats(allow_nan=False, allow_infinity=False)


def json_values() -> SearchStrategy[JSONValue]:
    """Any JSON value."""
    return _JSON


def json_objects() -> SearchStrategy[JSONObject]:
    """JSON objects without entries that are null."""
    return _OBJECT


def _mappings(values: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.dictionaries(texts(max_size=6), values, max_size=3)


def _tuples(items: SearchStrategy[Any], max_size: int = 3, min_size: int = 0) -> SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=min_size, max_size=max_size).map(tuple)


_LEAVES = st.none() | _FLAG | st.integers(-(2**1000), 2**1000) | numbers() | _TEXT
_JSON: SearchStrategy[JSONValue] = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | _mappings(inner), max_leaves=6
)
_OBJECT: SearchStrategy[JSONObject] = _mappings(_JSON.filter(lambda value: value is not None))


def tool_arguments() -> SearchStrategy[str]:
    """Arguments as models write them: JSON objects mostly, sometimes broken or empty."""
    written = st.sampled_from(['{"a": 1}', '{"b":1.10}', "{}", "", "{", "[1]", '{"city": "Zürich"}'])
    return written | _TEXT


def blobs(*media_types: str) -> SearchStrategy[Blob]:
    """Binary content in memory, with one of the types given."""
    types = st.sampled_from(media_types or _MEDIA_TYPES)
    return st.builds(Blob.from_bytes, st.binary(max_size=12), types, name=st.none() | _NAME)


def blobs_elsewhere(*media_types: str) -> SearchStrategy[Blob]:
    """Content at a URL, at a provider, or in an artifact store."""
    types = st.sampled_from(media_types or _MEDIA_TYPES)
    hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
    return st.one_of(
        st.builds(Blob.from_url, _NAME.map("https://example.com/".__add__), types),
        st.builds(Blob.from_provider_file, _NAME, _NAME, types),
        st.builds(Blob.from_artifact, hashes, types, st.integers(0, 2**40)),
    )


def citations() -> SearchStrategy[Citation]:
    """Sources of a text, with or without the span."""
    offsets, optional = st.none() | st.integers(0, 20), st.none() | _SOME_TEXT
    return st.builds(Citation, _TEXT, optional, optional, offsets, offsets, _OBJECT)


def text_parts(*, cited: bool = True) -> SearchStrategy[TextPart]:
    """Text, some of it with citations unless `cited` is off."""
    plain = st.builds(TextPart, _SOME_TEXT)
    return plain | st.builds(TextPart, _SOME_TEXT, _tuples(citations(), 2)) if cited else plain


def reasoning_parts(origin: str | None = None) -> SearchStrategy[ReasoningPart]:
    """Reasoning of `origin`, plain, signed or redacted."""
    optional = st.none() | _NAME
    return st.builds(ReasoningPart, _TEXT, optional, optional, st.just(origin))


def image_parts() -> SearchStrategy[ImagePart]:
    """Images."""
    types = ("image/png", "image/jpeg")
    details = st.sampled_from([None, "auto", "low", "high"])
    return st.builds(ImagePart, blobs(*types) | blobs_elsewhere(*types), details)


def audio_parts() -> SearchStrategy[AudioPart]:
    """Sound."""
    types = ("audio/wav", "audio/mpeg", "audio/flac")
    return st.builds(AudioPart, blobs(*types) | blobs_elsewhere(*types), st.none() | _TEXT, st.none() | _NAME)


def video_parts() -> SearchStrategy[VideoPart]:
    """Moving pictures."""
    return st.builds(VideoPart, blobs("video/mp4"))


def document_parts() -> SearchStrategy[DocumentPart]:
    """Documents."""
    types = ("application/pdf", "text/markdown")
    return st.builds(DocumentPart, blobs(*types) | blobs_elsewhere(*types))


def content_parts() -> SearchStrategy[ContentPart]:
    """What a user or a tool can show."""
    return st.one_of(text_parts(), image_parts(), audio_parts(), video_parts(), document_parts())


def tool_calls() -> SearchStrategy[ToolCall]:
    """Requests to run a tool."""
    return st.builds(ToolCall, _NAME, _NAME, tool_arguments(), st.none() | _NAME)


def tool_results(content: SearchStrategy[ContentPart] | None = None) -> SearchStrategy[ToolResult]:
    """What tools gave."""
    return st.builds(ToolResult, _NAME, _tuples(content_parts() if content is None else content), _FLAG)


def hosted_parts() -> SearchStrategy[Part]:
    """Calls of a provider's own tools, and their results."""
    calls = st.builds(HostedToolCall, _NAME, _NAME, tool_arguments(), _OBJECT)
    return calls | st.builds(HostedToolResult, _NAME, _tuples(content_parts()), _OBJECT)


def opaque_parts() -> SearchStrategy[OpaquePart]:
    """What only its provider understands."""
    return st.builds(OpaquePart, _NAME, _NAME, _JSON)


def reply_parts() -> SearchStrategy[Part]:
    """Everything a model can answer with, tool calls apart: text and reasoning for the most part."""
    return st.one_of(text_parts(), reasoning_parts(), text_parts() | content_parts(), hosted_parts() | opaque_parts())


def parts() -> SearchStrategy[Part]:
    """Any part."""
    return st.one_of(reply_parts(), tool_calls(), tool_results())


def _with_calls(others: SearchStrategy[Any]) -> SearchStrategy[tuple[Part, ...]]:
    """Some parts, and some tool calls with different ids anywhere between them."""
    return st.builds(_mixed, _tuples(others), st.lists(st.tuples(st.integers(0, 3), tool_calls()), max_size=2))


def _mixed(others: tuple[Part, ...], calls: Sequence[tuple[int, ToolCall]]) -> tuple[Part, ...]:
    mixed = list(others)
    for place, call in {call.id: (place, call) for place, call in calls}.values():
        mixed.insert(place, call)
    return tuple(mixed)


def messages(content: SearchStrategy[ContentPart] | None = None) -> SearchStrategy[Message]:
    """One message of any role."""
    shown = content_parts() if content is None else content
    return st.one_of(_said(shown), _assistant(shown), tool_results(shown).map(Message.tool))


def _said(content: SearchStrategy[Any]) -> SearchStrategy[Message]:
    user = st.builds(Message, st.just("user"), _tuples(content | opaque_parts(), min_size=1))
    return user | st.builds(Message, st.just("system"), _tuples(text_parts() | opaque_parts(), min_size=1))


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
    """Messages that follow each other as they do: tool results right after the turn that asks for them."""
    shown = content_parts() if user_content is None else user_content
    turns = st.builds(
        _turn, _said(shown), st.none() | _assistant(shown), st.lists(tool_results(tool_content), max_size=2)
    )
    return st.lists(turns, min_size=1, max_size=3).map(lambda turns: tuple(chain.from_iterable(turns)))


def _turn(said: Message, answer: Message | None, results: Sequence[ToolResult]) -> list[Message]:
    """`results`, as far as the answer has calls, go to the last of them."""
    if answer is None:
        return [said]
    pairs = zip(reversed(answer.tool_calls), results, strict=False)
    given = tuple(ToolResult(call.id, result.content, result.is_error) for call, result in pairs)
    return [said, answer, Message("tool", given)] if given else [said, answer]


def tool_specs() -> SearchStrategy[ToolSpec]:
    """Tools as a model sees them."""
    schemas = st.just({"type": "object", "properties": {"a": {"type": "integer"}}}) | _OBJECT
    return st.builds(ToolSpec, _NAME, _TEXT, schemas, st.sampled_from([None, True, False]), _FLAG, _FLAG, _FLAG)


def samplings() -> SearchStrategy[Sampling]:
    """How tokens are chosen."""
    small, large = st.none() | st.floats(-2, 2), st.none() | st.integers(0, 10**6)
    limits = st.none() | st.integers(1, 10**6)
    return st.builds(Sampling, limits, small, small, large, large, _tuples(_SOME_TEXT, 2), small, small, large)


def output_schemas() -> SearchStrategy[OutputSchema]:
    """Schemas an answer must match."""
    return st.builds(OutputSchema, _NAME, _OBJECT, st.none() | _TEXT, _FLAG)


def calls(
    provider: str = "scripted",
    user_content: SearchStrategy[ContentPart] | None = None,
    tool_content: SearchStrategy[ContentPart] | None = None,
) -> SearchStrategy[ModelCall]:
    """Calls to `provider`, lowered: with content it may be sent, which `user_content` and `tool_content` can narrow."""
    choices = st.sampled_from([None, *map(ToolChoice, ("auto", "none", "required"))]) | st.builds(
        ToolChoice, st.just("tool"), _NAME
    )
    labels = st.dictionaries(_NAME, _TEXT, max_size=1)
    return st.builds(
        ModelCall,
        model=_NAME,
        messages=conversations(user_content, tool_content),
        provider=st.just(provider),
        tools=st.lists(tool_specs(), max_size=2, unique_by=lambda tool: tool.name),
        tool_choice=choices,
        parallel_tool_calls=st.none() | _FLAG,
        sampling=st.just(Sampling()) | samplings(),
        output=st.none() | output_schemas(),
        thinking=st.none() | st.sampled_from(_LEVELS) | st.integers(0, 9999),
        modalities=st.lists(st.sampled_from(_MODALITIES), max_size=2, unique=True),
        stream=_FLAG,
        strict=_FLAG,
        media_policy=st.dictionaries(st.sampled_from(_KINDS), st.sampled_from(MEDIA_POLICIES), max_size=1),
        provider_options=st.dictionaries(st.sampled_from([provider, "another"]), _OBJECT, max_size=2),
        tags=labels,
        parent_id=st.none() | _NAME,
        trace_context=labels,
    )


def usages() -> SearchStrategy[Usage]:
    """Token counts, some not reported."""
    count = st.none() | st.integers(0, 10**9)
    return st.builds(Usage, count, count, count, count, count, count, count)


def call_warnings() -> SearchStrategy[CallWarning]:
    """Warnings."""
    return st.builds(CallWarning, _NAME, _NAME, _TEXT, _JSON, _JSON)


def replies(provider: str = "scripted", others: SearchStrategy[Part] | None = None) -> SearchStrategy[ModelReply]:
    """Replies of `provider`, whose reasoning is its own. `others` are the parts beside tool calls."""
    made = st.builds(
        ModelReply,
        parts=_with_calls(reply_parts() if others is None else others),
        finish_reason=st.sampled_from(FINISH_REASONS),
        raw_finish_reason=st.none() | _NAME,
        usage=usages(),
        model=st.none() | _NAME,
        provider=st.just(provider),
        id=st.none() | _NAME,
        provider_metadata=_OBJECT,
    )
    return made.map(_with_origin)


def _with_origin(reply: ModelReply) -> ModelReply:
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    owned = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(owned))


def responses() -> SearchStrategy[GenerateResponse[JSONValue]]:
    """What users get."""
    counts, sizes = st.integers(0, 10**6), st.none() | st.integers(0, 2**40)
    attempts = st.builds(AttemptRecord, counts, numbers(), numbers(), st.none() | counts, st.none() | _NAME)
    decisions = st.builds(
        MediaDecision,
        part_path=_NAME,
        source=_TEXT,
        type=_NAME,
        kind=st.sampled_from(_KINDS),
        route=st.sampled_from(_ROUTES),
        reason=_TEXT,
        handler=st.none() | _NAME,
        sent=st.none() | st.builds(MediaSent, _NAME, sizes),
        usage=st.none() | usages(),
    )
    return st.builds(
        cast("type[GenerateResponse[JSONValue]]", GenerateResponse),
        reply=replies(),
        output=_JSON.map(freeze),
        steps=_tuples(replies(), 1),
        attempts=_tuples(attempts, 2),
        usage=usages(),
        warnings=_tuples(call_warnings(), 2),
        media=_tuples(decisions, 2),
        provider=_NAME,
        model=_NAME,
        cost=st.none() | numbers(),
        trace_id=_NAME,
        seconds=numbers(),
    )


_SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def deltas(reply: ModelReply) -> SearchStrategy[list[Delta]]:
    """Streams that add up to `reply`, with its texts in pieces."""
    return _SIZES.map(lambda sizes: _in_pieces(reply, sizes))


def streams(replies: SearchStrategy[ModelReply]) -> SearchStrategy[tuple[ModelReply, list[Delta]]]:
    """Replies, each with a stream that adds up to it."""
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
        if not text:
            return pieces
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def errors() -> SearchStrategy[ProviderError]:
    """Failures a provider can tell of, with and without a time to wait."""
    waits = st.none() | st.integers(0, 3600).map(float) | st.floats(0, 3600)
    return st.builds(_failure, st.sampled_from(PROVIDER_ERRORS), _SOME_TEXT, waits)


def _failure(kind: type[ProviderError], message: str, wait: float | None) -> ProviderError:
    return kind(message, retry_after=wait)
