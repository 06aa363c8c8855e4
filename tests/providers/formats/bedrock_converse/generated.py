"""Generated calls and replies of this format."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    AudioPart,
    Blob,
    ContentPart,
    DocumentPart,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    ReasoningPart,
    VideoPart,
)
from abstractcore.testing import strategies
from abstractcore_providers.common.thinking import BINDING_BETA


def _blobs(*types: str) -> SearchStrategy[Blob]:
    here = st.builds(Blob.from_bytes, st.binary(min_size=1, max_size=12), st.sampled_from(types))
    there = st.builds(Blob.from_url, strategies.names().map("s3://bucket/".__add__), st.sampled_from(types))
    return here | there


def shown_content() -> SearchStrategy[ContentPart]:
    """What a tool's result of this format can hold."""
    details = st.sampled_from([None, "auto", "low", "high"])
    cache = st.none() | strategies.cache_points()
    return st.one_of(
        strategies.text_parts(),
        st.builds(ImagePart, _blobs("image/png", "image/webp"), details, cache),
        st.builds(DocumentPart, _blobs("application/pdf", "text/csv", "text/plain"), cache),
        st.builds(VideoPart, _blobs("video/mp4", "video/3gpp"), cache),
    )


def content() -> SearchStrategy[ContentPart]:
    """What a user's message of this format can hold."""
    optional = st.none() | strategies.names()
    return shown_content() | st.builds(AudioPart, _blobs("audio/wav", "audio/mpeg"), optional, optional)


def own_parts(model: str) -> SearchStrategy[Part]:
    """What only this format's providers say: reasoning of `model`, and what the schema has no name for."""
    guarded = strategies.texts().map(lambda text: {"text": {"text": text}})
    opaque = st.builds(OpaquePart, st.just("bedrock"), st.sampled_from(["guardContent", "text", "image"]), guarded)
    redacted = st.builds(
        ReasoningPart, redacted_data=st.sampled_from(["aGk=", "no", "Zm9v"]), origin=st.just(f"bedrock/{model}")
    )
    return strategies.reasoning_parts(f"bedrock/{model}") | redacted | opaque


def calls(model: SearchStrategy[str] | None = None, *, optioned: bool = True) -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option or a hosted tool here and there.

    Unless `optioned`, no part has provider options, which the vendor's own client does not let through.
    """
    kinds = st.sampled_from(["web_search", "code_interpreter", "web_search", "file_search"])
    hosted = st.lists(st.builds(HostedTool, kinds, st.sampled_from([{}, {}, {"a": 1}])), max_size=1)
    models = strategies.names() if model is None else model
    parts = models.flatmap(lambda name: st.tuples(st.just(name), st.lists(own_parts(name), max_size=2)))
    some = strategies.calls(
        "bedrock", content(), shown_content(), options=strategies.item_options("bedrock") if optioned else None
    )
    return st.builds(_with_own, some, parts, hosted.map(tuple))


def calls_with_fields() -> SearchStrategy[ModelCall]:
    """Calls with provider options in the objects for fields of a maker's models."""
    behaviours = st.sampled_from(["drop_block", "error"]).map(lambda behaviour: {"prefix_mismatch_behavior": behaviour})
    thinking: SearchStrategy[Any] = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["adaptive", "disabled"]),
            "display": st.sampled_from(["summarized", "omitted"]),
            "block_binding": behaviours,
        },
    )
    betas: SearchStrategy[Any] = st.lists(
        st.sampled_from([BINDING_BETA, "other-beta"]), min_size=1, max_size=2, unique=True
    )
    level: SearchStrategy[Any] = st.sampled_from(["low", "none"])
    choice: SearchStrategy[Any] = st.sampled_from([{"type": "none"}, {"type": "auto"}])
    fields = st.fixed_dictionaries(
        {},
        optional={
            "thinking": thinking,
            "anthropic_beta": betas,
            "reasoning_effort": level,
            "tool_choice": choice,
            "x": st.just(1),
        },
    )
    output: SearchStrategy[Any] = st.sampled_from([{"effort": "max"}, {"effort": "low"}, {"x": 1}])
    filled = fields.filter(bool)
    some = st.fixed_dictionaries({}, optional={"additionalModelRequestFields": filled, "outputConfig": output})
    return st.builds(lambda call, given: call.with_(provider_options={"bedrock": given}), calls(), some)


def _with_own(call: ModelCall, own: tuple[str, list[Part]], hosted: tuple[HostedTool, ...]) -> ModelCall:
    """The call to another model, begun by the user, with parts of the model's own."""
    model, parts = own
    messages = [*call.messages]
    first = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    if first == len(messages) or messages[first].role != "user":
        messages.insert(first, Message.user("hello"))
    last = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=None)
    if last is not None and parts:
        messages[last] = replace(messages[last], parts=(*parts, *messages[last].parts))
    return call.with_(model=model, messages=tuple(messages), hosted_tools=hosted)


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part."""
    images = st.builds(ImagePart, _blobs("image/png"))
    others = st.one_of(strategies.text_parts(), strategies.reply_parts(), images, strategies.hosted_parts())
    return strategies.replies("bedrock", others, options=strategies.item_options("bedrock"))
