"""Generated calls and replies of this format."""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import ContentPart, ImagePart, ModelCall, ModelReply, ReasoningPart
from abstractcore.testing import strategies

PNG = b"\x89PNG\r\n\x1a\n"


def content() -> SearchStrategy[ContentPart]:
    """What a user's message or a tool's result of this format can hold."""
    details = st.sampled_from([None, "auto", "low", "high"])
    return strategies.text_parts() | st.builds(ImagePart, strategies.blobs("image/png", "image/jpeg"), details)


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there. Some reasoning is the model's own."""
    options = strategies.item_options("ollama")
    return st.builds(_owned, strategies.calls("ollama", content(), content(), options=options), st.booleans())


def _owned(call: ModelCall, owned: bool) -> ModelCall:
    if not owned:
        return call
    origin = f"ollama/{call.model}"
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
    return strategies.replies("ollama", options=strategies.item_options("ollama"))
