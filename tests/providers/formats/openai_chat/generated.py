"""Generated calls and replies of this format."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    AudioPart,
    Blob,
    ContentPart,
    DocumentPart,
    ImagePart,
    ModelCall,
    ModelReply,
    Part,
    ToolCall,
)
from abstractcore.testing import strategies

_PICTURES = strategies.blobs("image/png", "image/jpeg") | st.builds(
    Blob.from_url, strategies.names().map("https://example.com/".__add__), st.just("image/png")
)


def content() -> SearchStrategy[ContentPart]:
    """What a user's message of this format can hold."""
    optional = st.none() | strategies.names()
    details = st.sampled_from([None, "auto", "low", "high"])
    kept = st.builds(Blob.from_provider_file, st.just("openai"), strategies.names(), st.just("application/pdf"))
    return st.one_of(
        strategies.text_parts(),
        st.builds(ImagePart, _PICTURES, details),
        st.builds(AudioPart, strategies.blobs("audio/wav", "audio/mpeg"), optional, optional),
        st.builds(DocumentPart, strategies.blobs("application/pdf") | kept),
    )


def _with_custom_tools(parts: Iterable[Part], first: bool) -> tuple[Part, ...]:
    """The parts with every other tool call as that of a custom tool."""
    custom, made = first, list[Part]()
    for part in parts:
        if isinstance(part, ToolCall):
            options = {**part.provider_options.get("openai", {}), "type": "custom"}
            part = replace(part, provider_options={"openai": options}) if custom else part
            custom = not custom
        made.append(part)
    return tuple(made)


def _call_with_custom_tools(call: ModelCall, first: bool, offered: bool) -> ModelCall:
    messages = (replace(message, parts=_with_custom_tools(message.parts, first)) for message in call.messages)
    options = {**call.provider_options.get("openai", {}), "tools": [{"type": "custom", "custom": {"name": "c"}}]}
    call = call.with_(provider_options={"openai": options}) if offered else call
    return call.with_(messages=tuple(messages))


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there."""
    drawn = strategies.calls("openai", content(), strategies.text_parts(), options=strategies.item_options("openai"))
    return drawn | st.builds(_call_with_custom_tools, drawn, st.booleans(), st.booleans())


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part."""
    drawn = strategies.replies("openai", options=strategies.item_options("openai"))
    return drawn | st.builds(
        lambda reply, first: replace(reply, parts=_with_custom_tools(reply.parts, first)), drawn, st.booleans()
    )
