"""Generated calls and replies of this format."""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    Blob,
    ContentPart,
    DocumentPart,
    ImagePart,
    ModelCall,
    ModelReply,
    ReasoningPart,
)
from abstractcore.testing import strategies

DOCUMENT = DocumentPart(Blob.from_bytes(b'{"data":{"title":"A"},"id":"d1"}', "application/json"))


def content() -> SearchStrategy[ContentPart]:
    """What a user's message of this format can hold."""
    details = st.sampled_from([None, "auto", "low", "high"])
    kept = st.builds(Blob.from_url, strategies.names().map("https://example.com/".__add__), st.just("image/png"))
    return strategies.text_parts() | st.builds(ImagePart, strategies.blobs("image/png", "image/jpeg") | kept, details)


def tool_content() -> SearchStrategy[ContentPart]:
    """What a tool's result of this format can hold."""
    return strategies.text_parts() | st.just(DOCUMENT)


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there. Some reasoning is the model's own."""
    return st.builds(
        _owned,
        strategies.calls("cohere", content(), tool_content(), options=strategies.item_options("cohere")),
        st.booleans(),
    )


def _owned(call: ModelCall, owned: bool) -> ModelCall:
    if not owned:
        return call
    origin = f"cohere/{call.model}"
    messages = (
        replace(
            message,
            parts=tuple(
                replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in message.parts
            ),
        )
        for message in call.messages
    )
    return call.with_(messages=tuple(messages))


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part."""
    return strategies.replies("cohere", options=strategies.item_options("cohere"))
