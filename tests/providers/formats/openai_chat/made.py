"""Generated calls and replies of this format."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import AudioPart, Blob, ContentPart, DocumentPart, ImagePart, ModelCall, ModelReply
from abstractcore.testing import strategies as made

_PICTURES = made.blobs("image/png", "image/jpeg") | st.builds(
    Blob.from_url, made.names().map("https://example.com/".__add__), st.just("image/png")
)


def content() -> SearchStrategy[ContentPart]:
    """What a user's message of this format can hold."""
    optional = st.none() | made.names()
    details = st.sampled_from([None, "auto", "low", "high"])
    kept = st.builds(Blob.from_provider_file, st.just("openai"), made.names(), st.just("application/pdf"))
    return st.one_of(
        made.text_parts(),
        st.builds(ImagePart, _PICTURES, details),
        st.builds(AudioPart, made.blobs("audio/wav", "audio/mpeg"), optional, optional),
        st.builds(DocumentPart, made.blobs("application/pdf") | kept),
    )


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there."""
    return made.calls("openai", content(), made.text_parts(), options=made.item_options("openai"))


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part."""
    return made.replies("openai", options=made.item_options("openai"))
