"""Generated calls and replies of this format."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import AudioPart, Blob, ContentPart, DocumentPart, ImagePart, ModelCall, ModelReply
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


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there."""
    return strategies.calls("openai", content(), strategies.text_parts(), options=strategies.item_options("openai"))


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part."""
    return strategies.replies("openai", options=strategies.item_options("openai"))
