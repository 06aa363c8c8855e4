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

FILES = "https://generativelanguage.googleapis.com/v1beta/files/"
SIGNATURES = st.binary(min_size=1, max_size=9).map(lambda data: base64.b64encode(data).decode())


def _blobs(provider: str, *types: str) -> SearchStrategy[Blob]:
    some = st.sampled_from(types)
    return st.one_of(
        strategies.blobs(*types),
        st.builds(Blob.from_url, strategies.names().map("gs://bucket/".__add__), some),
        st.builds(Blob.from_url, strategies.names().map(FILES.__add__), some),
        st.builds(Blob.from_provider_file, st.just(provider), strategies.names().map(FILES.__add__), some),
    )


def content(provider: str = "google") -> SearchStrategy[ContentPart]:
    """What a user's message, or a tool's result, of this format can hold."""
    optional = st.none() | strategies.names()
    return st.one_of(
        strategies.text_parts(),
        st.builds(
            ImagePart,
            _blobs(provider, "image/png", "image/jpeg"),
            st.sampled_from([None, "high"]),
            CACHE,
            controls=controls(),
        ),
        st.builds(
            AudioPart, _blobs(provider, "audio/wav", "audio/l16;rate=24000"), optional, optional, controls=controls()
        ),
        st.builds(VideoPart, _blobs(provider, "video/mp4"), controls=controls()),
        st.builds(DocumentPart, _blobs(provider, "application/pdf", "text/markdown"), controls=controls()),
    )


CACHE = st.none() | strategies.cache_points()


def own_parts(provider: str = "google") -> SearchStrategy[Part]:
    """What only this format's models say."""
    code = st.builds(lambda text: '{"language": "PYTHON", "code": "' + text + '"}', strategies.names())
    ids = st.just("") | strategies.names()
    answered = st.fixed_dictionaries(
        {"toolType": st.just("URL_CONTEXT")}, optional={"response": strategies.json_objects()}
    )
    return st.one_of(
        st.builds(
            HostedToolCall,
            ids,
            st.just("code_execution"),
            code | strategies.tool_arguments(),
            strategies.json_objects(),
        ),
        st.builds(
            HostedToolCall,
            ids,
            st.just("URL_CONTEXT"),
            strategies.tool_arguments(),
            st.just({"toolType": "URL_CONTEXT"}),
        ),
        st.builds(
            HostedToolResult,
            ids,
            st.lists(content(provider), max_size=2).map(tuple),
            st.sampled_from([{"outcome": "OUTCOME_OK"}, {"outcome": "OUTCOME_FAILED"}]),
        ),
        st.builds(HostedToolResult, ids, st.just(()), answered),
        st.builds(
            OpaquePart, st.just(provider), st.just("new"), st.just({"new": {"a": [1]}, "thoughtSignature": "ab=="})
        ),
        st.builds(OpaquePart, st.just(provider), strategies.names(), strategies.json_values()),
        transcriptions(provider),
    )


def transcriptions(provider: str = "google") -> SearchStrategy[TextPart]:
    """Texts that are transcriptions of audio."""
    word = {"word": "a", "startOffset": "1.200s", "endOffset": "1.5s"}
    fields: SearchStrategy[dict[str, Any]] = st.sampled_from(
        [{}, {"languageCode": "de-DE"}, {"speakerLabel": "spk:0", "words": [word]}]
    )
    beside: SearchStrategy[dict[str, Any]] = st.sampled_from([{}, {"partMetadata": {"n": 1}}])
    return st.builds(
        lambda text, fields, beside: TextPart(
            text, provider_options={provider: {"audioTranscription": fields, **beside}}
        ),
        strategies.texts(min_size=1),
        fields,
        beside,
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


def calls(provider: str = "google", *, options: bool = True) -> SearchStrategy[ModelCall]:
    """Calls that can be sent, with turns of the model that was asked and of others, and `options` of their parts."""
    some = strategies.item_options(provider) if options else None
    plain = strategies.calls(provider, content(provider), content(provider), options=some).map(_with_legal_names)
    return st.builds(
        _with_own, plain, st.lists(own_parts(provider), max_size=3), st.lists(reasoning("here"), max_size=3)
    )


def _with_legal_names(call: ModelCall) -> ModelCall:
    """The call with names of tools that begin with a letter. What was called before may have any name."""
    choice = call.tool_choice
    if choice is not None and choice.tool is not None:
        choice = replace(choice, tool=f"f{choice.tool}")
    tools = tuple(replace(tool, name=f"f{tool.name}") for tool in call.tools)
    return call.with_(tools=tools, tool_choice=choice)


def _with_own(call: ModelCall, own: list[Part], thoughts: list[ReasoningPart]) -> ModelCall:
    """The call with thoughts of its own model, and what only that says, between the parts of its first answer."""
    messages = list(call.messages)
    place = next((i for i, message in enumerate(messages) if message.role == "assistant"), None)
    if place is None:
        return call
    origin = f"{call.provider}/{call.model}"
    extra: list[Any] = [*own, *(replace(thought, origin=origin) for thought in thoughts)]
    parts = list(messages[place].parts)
    for index, part in enumerate(extra):
        parts.insert(2 * index + 1, part)
    messages[place] = replace(messages[place], parts=tuple(parts))
    return call.with_(messages=tuple(messages))


def replies(provider: str = "google", *, options: bool = True) -> SearchStrategy[ModelReply]:
    """Replies with every kind of part, and `options` of them; some begin with thoughts and signatures."""
    others = st.one_of(strategies.reply_parts(), own_parts(provider), reasoning(None), _cited())
    drawn = strategies.replies(provider, others, strategies.item_options(provider) if options else None)
    thoughts = st.lists(reasoning(None), min_size=2, max_size=4)
    return drawn | st.builds(_with_thoughts, drawn, thoughts)


def _with_thoughts(reply: ModelReply, thoughts: list[ReasoningPart]) -> ModelReply:
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    return replace(reply, parts=(*(replace(thought, origin=origin) for thought in thoughts), *reply.parts))


def _cited() -> SearchStrategy[TextPart]:
    metadata = st.sampled_from(
        [
            {},
            {"groundingChunk": {"maps": {"placeId": "p"}}},
            {"confidenceScores": [0.5]},
            {"groundingChunk": {"web": {}}},
        ]
    )
    sources = st.builds(
        Citation,
        strategies.names(),
        st.none() | strategies.names(),
        st.none() | strategies.texts(),
        OFFSET,
        OFFSET,
        metadata,
    )
    return st.builds(TextPart, strategies.texts(min_size=1), st.lists(sources, max_size=3).map(tuple))


OFFSET = st.none() | st.integers(0, 20)
