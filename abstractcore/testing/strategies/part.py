"""Hypothesis strategies for texts, JSON values and the parts of messages."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    ContentPart,
    DocumentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    JSONObject,
    JSONValue,
    OpaquePart,
    Part,
    ProviderOptions,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    VideoPart,
)

_MEDIA_TYPES = ("image/png", "audio/wav", "video/mp4", "application/pdf")


def texts(*, min_size: int = 0, max_size: int = 12) -> SearchStrategy[str]:
    """Unicode text without lone surrogates."""
    return st.text(st.characters(codec="utf-8"), min_size=min_size, max_size=max_size)


TEXT, SOME_TEXT = texts(), texts(min_size=1)
FLAG = st.booleans()


def names() -> SearchStrategy[str]:
    """Short names of ASCII letters, digits, underscores and dashes, for models, tools and ids."""
    return NAME


NAME = st.text("abcxyzABC019_-", min_size=1, max_size=10)
TOOL_NAME = NAME | st.sampled_from(["get weather!", "größe", "a.b:c", "a" * 65, "b" * 130])
"""Names of tools, also such as vendors refuse."""


def numbers() -> SearchStrategy[float]:
    """Finite floats."""
    return st.floats(allow_nan=False, allow_infinity=False)


def json_values() -> SearchStrategy[JSONValue]:
    """Any JSON value."""
    return JSON


def json_objects() -> SearchStrategy[JSONObject]:
    """JSON objects without null values."""
    return OBJECT


def _mappings(values: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.dictionaries(texts(max_size=6), values, max_size=3)


def tuples(items: SearchStrategy[Any], max_size: int = 3, min_size: int = 0) -> SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=min_size, max_size=max_size).map(tuple)


_LEAVES = st.none() | FLAG | st.integers(-(2**1000), 2**1000) | numbers() | TEXT
JSON: SearchStrategy[JSONValue] = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | _mappings(inner), max_leaves=6
)
OBJECT: SearchStrategy[JSONObject] = _mappings(JSON.filter(lambda value: value is not None))


def tool_arguments() -> SearchStrategy[str]:
    """Arguments as models write them: JSON objects mostly, sometimes broken or empty."""
    written = st.sampled_from(['{"a": 1}', '{"b":1.10}', "{}", "", "{", "[1]", '{"city": "Zürich"}'])
    return written | TEXT


def blobs(*media_types: str) -> SearchStrategy[Blob]:
    """Binary content in memory, with one of the given types."""
    types = st.sampled_from(media_types or _MEDIA_TYPES)
    return st.builds(Blob.from_bytes, st.binary(max_size=12), types, name=st.none() | NAME)


def blobs_elsewhere(*media_types: str) -> SearchStrategy[Blob]:
    """Content at a URL, at a provider, or in an artifact store."""
    types = st.sampled_from(media_types or _MEDIA_TYPES)
    hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
    return st.one_of(
        st.builds(Blob.from_url, NAME.map("https://example.com/".__add__), types),
        st.builds(Blob.from_provider_file, NAME, NAME, types),
        st.builds(Blob.from_artifact, hashes, types, st.integers(0, 2**40)),
    )


def citations() -> SearchStrategy[Citation]:
    """Sources of a text, with or without the span."""
    offsets, optional = st.none() | st.integers(0, 20), st.none() | SOME_TEXT
    return st.builds(Citation, TEXT, optional, optional, offsets, offsets, OBJECT)


def cache_points() -> SearchStrategy[CachePoint]:
    """Cache points."""
    return st.builds(CachePoint, st.none() | st.integers(1, 86400))


CACHE = st.one_of(st.none(), st.none(), cache_points())


def item_options(provider: str) -> SearchStrategy[ProviderOptions]:
    """Options of a part or message, for `provider` and for another. Their names begin with "x_": a format refuses those
    of its own fields.
    """
    options = OBJECT.filter(bool).map(lambda given: {f"x_{name}": value for name, value in given.items()})
    return st.dictionaries(st.sampled_from([provider, "another"]), options, min_size=1, max_size=2)


def text_parts(*, cited: bool = True) -> SearchStrategy[TextPart]:
    """Text, some of it with a cache point, and with citations unless `cited` is off."""
    plain = st.builds(TextPart, SOME_TEXT, cache=CACHE)
    return plain | st.builds(TextPart, SOME_TEXT, tuples(citations(), 2), CACHE) if cited else plain


def reasoning_parts(origin: str | None = None) -> SearchStrategy[ReasoningPart]:
    """Reasoning of `origin`, plain, signed or redacted."""
    optional = st.none() | NAME
    return st.builds(ReasoningPart, TEXT, optional, optional, st.just(origin))


def image_parts() -> SearchStrategy[ImagePart]:
    """Images."""
    types = ("image/png", "image/jpeg")
    details = st.sampled_from([None, "auto", "low", "high"])
    return st.builds(ImagePart, blobs(*types) | blobs_elsewhere(*types), details, CACHE)


def audio_parts() -> SearchStrategy[AudioPart]:
    """Audio."""
    types = ("audio/wav", "audio/mpeg", "audio/flac")
    return st.builds(AudioPart, blobs(*types) | blobs_elsewhere(*types), st.none() | TEXT, st.none() | NAME, CACHE)


def video_parts() -> SearchStrategy[VideoPart]:
    """Videos."""
    return st.builds(VideoPart, blobs("video/mp4"), CACHE)


def document_parts() -> SearchStrategy[DocumentPart]:
    """Documents."""
    types = ("application/pdf", "text/markdown")
    return st.builds(DocumentPart, blobs(*types) | blobs_elsewhere(*types), CACHE)


def content_parts() -> SearchStrategy[ContentPart]:
    """Text and media parts."""
    return st.one_of(text_parts(), image_parts(), audio_parts(), video_parts(), document_parts())


def tool_calls() -> SearchStrategy[ToolCall]:
    """Tool calls."""
    return st.builds(ToolCall, NAME, TOOL_NAME, tool_arguments(), st.none() | NAME, CACHE)


def tool_results(content: SearchStrategy[ContentPart] | None = None) -> SearchStrategy[ToolResult]:
    """Tool results."""
    return st.builds(ToolResult, NAME, tuples(content_parts() if content is None else content), FLAG, CACHE)


def hosted_parts() -> SearchStrategy[Part]:
    """Calls of hosted tools, and their results."""
    calls = st.builds(HostedToolCall, NAME, NAME, tool_arguments(), OBJECT)
    return calls | st.builds(HostedToolResult, NAME, tuples(content_parts()), OBJECT)


def opaque_parts() -> SearchStrategy[OpaquePart]:
    """Opaque parts."""
    return st.builds(OpaquePart, NAME, NAME, JSON)


def reply_parts() -> SearchStrategy[Part]:
    """Parts of replies except tool calls: mostly text and reasoning."""
    return st.one_of(text_parts(), reasoning_parts(), text_parts() | content_parts(), hosted_parts() | opaque_parts())


def parts() -> SearchStrategy[Part]:
    """Any part."""
    return st.one_of(reply_parts(), tool_calls(), tool_results())
