"""Generated calls and replies of this format."""

import base64
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    AudioPart,
    Blob,
    Citation,
    ContentPart,
    DocumentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    VideoPart,
)
from abstractcore.testing import strategies
from tests.providers.generated_controls import controls

PROVIDER = "google-interactions"
FILES = "https://generativelanguage.googleapis.com/v1beta/files/"
SIGNATURES = st.binary(min_size=1, max_size=9).map(lambda data: base64.b64encode(data).decode())
CACHE = st.none() | strategies.cache_points()
OFFSET = st.none() | st.integers(0, 20)


def _blobs(*types: str) -> SearchStrategy[Blob]:
    some = st.sampled_from(types)
    files = strategies.names().map(FILES.__add__)
    return st.one_of(
        st.builds(Blob.from_bytes, st.binary(min_size=1, max_size=12), some),
        st.builds(Blob.from_url, strategies.names().map("gs://bucket/".__add__), some),
        st.builds(Blob.from_url, files, some),
        st.builds(Blob.from_provider_file, st.just(PROVIDER), files, some),
    )


def content() -> SearchStrategy[ContentPart]:
    """What a user's message, or a tool's result, of this format can hold."""
    optional = st.none() | strategies.names()
    return st.one_of(
        strategies.text_parts(),
        st.builds(
            ImagePart,
            _blobs("image/png", "image/jpeg"),
            st.sampled_from([None, "auto", "low", "high"]),
            CACHE,
            controls=controls(),
        ),
        st.builds(AudioPart, _blobs("audio/wav", "audio/l16"), optional, optional, controls=controls()),
        st.builds(VideoPart, _blobs("video/mp4"), controls=controls()),
        st.builds(DocumentPart, _blobs("application/pdf", "text/markdown", "image/png"), controls=controls()),
    )


def _metadata(*kinds: str, **rest: SearchStrategy[Any]) -> SearchStrategy[Any]:
    own = st.fixed_dictionaries({"type": st.sampled_from(kinds)}, optional={"signature": SIGNATURES, **rest})
    return own.map(lambda data: {PROVIDER: data}) | strategies.json_objects()


def own_parts() -> SearchStrategy[Part]:
    """What only this format's models write."""
    ids = st.just("") | strategies.names()
    arguments = st.sampled_from(["", '{"queries": ["a"]}', '{"code":"1"}', "{"]) | strategies.tool_arguments()
    data = st.sampled_from([[{"search_suggestions": "<b/>"}], {"a": 1}])
    image: Any = {"type": "image", "mime_type": "image/png", "data": "aWE="}
    own: list[tuple[str, Any]] = [
        ("new", {"type": "new", "signature": "ab=="}),
        ("thought", {"type": "thought", "summary": [image], "signature": "ab=="}),
        ("thought", {"type": "thought", "summary": [{"type": "text", "text": "a"}]}),
        ("model_output", {"type": "model_output", "error": {"code": 13}}),
        ("model_output", {"type": "model_output", "content": []}),
        ("function_call", {"type": "function_call"}),
        ("content.new", {"type": "new", "a": [1]}),
        ("content.image", {"type": "image"}),
        ("content.text", {"type": "text", "text": "a"}),
    ]
    opaque = st.sampled_from(own)
    return st.one_of(
        st.builds(HostedToolCall, ids, st.just("google_search"), arguments, _metadata("google_search_call")),
        st.builds(HostedToolCall, ids, st.just("code_execution"), arguments, _metadata("code_execution_call", "new")),
        st.builds(HostedToolCall, ids, strategies.names(), arguments, _metadata("mcp_server_tool_call")),
        st.builds(HostedToolResult, ids, st.just(()), _metadata("google_search_result", result=data)),
        st.builds(
            HostedToolResult,
            ids,
            st.lists(content(), max_size=2).map(tuple),
            _metadata("code_execution_result", "mcp_server_tool_result", "url_context_result", is_error=st.booleans()),
        ),
        opaque.map(lambda pair: OpaquePart(PROVIDER, *pair)),
        st.builds(OpaquePart, st.just(PROVIDER), strategies.names(), strategies.json_values()),
    )


def reasoning(origin: str | None) -> SearchStrategy[ReasoningPart]:
    """Thoughts and signatures, some of them alone."""
    return st.builds(
        ReasoningPart,
        st.sampled_from(["", "", "a thought", "another"]),
        st.none() | SIGNATURES | strategies.names(),
        st.sampled_from([None, None, "redacted"]),
        st.just(origin),
    )


def calls(*, options: bool = True) -> SearchStrategy[ModelCall]:
    """Calls that can be sent, with turns of the model that was asked and of others, and `options` of their parts."""
    some = strategies.item_options(PROVIDER) if options else None
    plain = strategies.calls(PROVIDER, content(), content(), options=some).map(_with_legal_names)
    return st.builds(
        _with_own, plain, st.lists(own_parts(), max_size=3), st.lists(reasoning("here") | cited(), max_size=3)
    )


def _with_legal_names(call: ModelCall) -> ModelCall:
    """The call with names of tools that begin with a letter. What was called before may have any name."""
    choice = call.tool_choice
    if choice is not None and choice.tool is not None:
        choice = replace(choice, tool=f"f{choice.tool}")
    tools = tuple(replace(tool, name=f"f{tool.name}") for tool in call.tools)
    return call.with_(tools=tools, tool_choice=choice)


def _with_own(call: ModelCall, own: list[Part], others: list[Part]) -> ModelCall:
    """The call with thoughts of its own model, and what only that writes, between the parts of its first answer."""
    messages = list(call.messages)
    place = next((i for i, message in enumerate(messages) if message.role == "assistant"), None)
    if place is None:
        return call
    origin = f"{call.provider}/{call.model}"
    extra: list[Any] = [*own, *(replace(p, origin=origin) if isinstance(p, ReasoningPart) else p for p in others)]
    parts = list(messages[place].parts)
    for index, part in enumerate(extra):
        parts.insert(2 * index + 1, part)
    messages[place] = replace(messages[place], parts=tuple(parts))
    return call.with_(messages=tuple(messages))


def replies(*, options: bool = True) -> SearchStrategy[ModelReply]:
    """Replies with every kind of part, and `options` of them."""
    others = st.one_of(strategies.reply_parts(), own_parts(), reasoning(None), cited(), content())
    metadata = st.fixed_dictionaries({}, optional={"usage": EXTRA_USAGE, "created": st.just("2026-09-21T12:01:25Z")})
    made = strategies.replies(PROVIDER, others, strategies.item_options(PROVIDER) if options else None)
    return st.builds(_with_metadata, made, metadata)


def _with_metadata(reply: ModelReply, more: dict[str, Any]) -> ModelReply:
    return replace(reply, provider_metadata={**reply.provider_metadata, **more})


EXTRA_USAGE = st.sampled_from(
    [
        {"input_tokens_by_modality": [{"modality": "text", "tokens": 3}]},
        {"total_tool_use_tokens": 5},
        {"total_tool_use_tokens": 5, "tool_use_tokens_by_modality": [{"modality": "text", "tokens": 5}]},
        {"input_tokens_by_modality": [{"modality": "audio", "tokens": 3}]},
        {"total_tokens": 1},
        {},
        7,
    ]
)


def cited() -> SearchStrategy[TextPart]:
    """Texts with citations of each type."""
    metadata = st.sampled_from(
        [
            {},
            {"type": "file_citation", "page_number": 3},
            {"type": "file_citation", "page_number": 3, "odd": 1, "source": None},
            {"type": "speech_metadata", "style": "calm"},
            {"type": "place_citation", "place_id": "p"},
            {"type": "word_info", "start_offset": "1s"},
            {"type": "url_citation"},
            {"type": 5},
            {"start_index": 5},
            {"odd": [1]},
        ]
    )
    sources = st.builds(
        Citation,
        st.just("") | strategies.names(),
        st.none() | strategies.names(),
        st.none() | strategies.texts(),
        OFFSET,
        OFFSET,
        metadata,
    )
    return st.builds(TextPart, strategies.texts(min_size=1), st.lists(sources, max_size=3).map(tuple))
