"""From any format to any other: supported content arrives, and losses have a warning."""

import re
from dataclasses import replace
from itertools import permutations
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.engine import lower
from abstractcore.ports import ModelProfile
from abstractcore.schema import (
    AudioPart,
    Blob,
    ContentPart,
    DocumentPart,
    ImagePart,
    Lowered,
    Message,
    ModelCall,
    Part,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolResult,
    VideoPart,
)
from abstractcore.testing import check_call_losses, check_encode_again, check_laws, strategies
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.findings import REFUSALS, can_encode
from tests.providers.probes import CALL, WEATHER
from tests.providers.published import provider_of
from tests.tiers import smoke

pytestmark = pytest.mark.exhaustive

MODEL, OTHER_MODEL = "model", "other-model"
TAKES_ALL = ModelProfile(frozenset({"image", "audio", "video", "document"}))
PLACE = re.compile(r"messages|tools|sampling|output|thinking|tool_choice|modalities|provider_options")
MEDIA: list[tuple[type[ImagePart | AudioPart | VideoPart | DocumentPart], str]] = [
    (ImagePart, "image/png"),
    (ImagePart, "image/jpeg"),
    (AudioPart, "audio/wav"),
    (AudioPart, "audio/mpeg"),
    (VideoPart, "video/mp4"),
    (DocumentPart, "application/pdf"),
    (DocumentPart, "text/markdown"),
]
PATIENT = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)


def content(format: str, in_result: bool) -> SearchStrategy[ContentPart]:
    """Content that the format can encode in a user's message, or in a tool's result."""
    kinds: list[SearchStrategy[ContentPart]] = [strategies.text_parts()]
    for kind, media_type in MEDIA:
        part = kind(Blob.from_bytes(b"content", media_type))
        if can_encode(format, "tool", ToolResult("c", (part,))) if in_result else can_encode(format, "user", part):
            kinds.append(st.builds(kind, strategies.blobs(media_type)))
    return st.one_of(kinds)


def calls(format: str) -> SearchStrategy[ModelCall]:
    """Calls that the format can send, with reasoning of the model that they are for."""
    provider = provider_of(format)
    options = strategies.item_options(provider)
    made = strategies.calls(provider, content(format, False), content(format, True), options=options)
    return made.map(_owned)


def _owned(call: ModelCall) -> ModelCall:
    origin = f"{call.provider}/{call.model}"
    return call.with_(
        messages=tuple(
            replace(m, parts=tuple(replace(p, origin=origin) if isinstance(p, ReasoningPart) else p for p in m.parts))
            for m in call.messages
        )
    )


def renamed(call: ModelCall, format: str) -> Lowered:
    """The call as a user moves it to another provider, lowered for a model there."""
    return lower(call.with_(provider=provider_of(format), model=OTHER_MODEL), TAKES_ALL, ())


def left_out(call: ModelCall, format: str) -> set[str]:
    """The parts that are warned of as not sent at all, alone or with their whole message."""
    unsent = {warning.path for warning in FORMATS[format]().encode(call).warnings if warning.sent is None}
    return {path for path, _, _ in parts_of(call) if path in unsent or path.partition(".")[0] in unsent}


def is_merged(path: str, call: ModelCall, format: str) -> bool:
    """Whether the reasoning at `path` is named by the warning for its message, which is sent as one with others."""
    warnings = FORMATS[format]().encode(call).warnings
    return any(
        warning.code == "merged" and path.startswith(warning.path) and "reasoning" in warning.message
        for warning in warnings
    )


def is_expressible(part: Part, call: ModelCall, format: str) -> bool:
    """Whether it was moved to another message, because nothing remains between the two."""
    encoded = FORMATS[format]().encode(call)
    read = FORMATS[format]().parse(encoded.request).call
    if isinstance(part, TextPart):
        return any(part.text in message.text for message in read.messages)
    if isinstance(part, ToolCall):
        own = {} if encoded.names is None else encoded.names.tools
        calls = [call for message in read.messages for call in message.tool_calls]
        sent = [(own.get(call.name, call.name), call.arguments or {}) for call in calls]
        return (part.name, part.arguments or {}) in sent  # what cannot be read may be sent as no arguments
    return _plain(part) in [_plain(other) for _, _, other in parts_of(read)]


def _plain(part: Part) -> Part:
    """Without options, which are for one provider only."""
    return replace(cast(Any, part), provider_options={}) if getattr(part, "provider_options", None) else part


def parts_of(call: ModelCall) -> list[tuple[str, str, Part]]:
    """Every part with its path and the role that it belongs to."""
    return [
        (f"messages[{i}].parts[{j}]", message.role, part)
        for i, message in enumerate(call.messages)
        for j, part in enumerate(message.parts)
    ]


def check_translation(call: ModelCall, format: str) -> None:
    """`call`, read from another format, keeps the laws in `format`, which takes all of it that it can."""
    moved = renamed(call, format).call
    check_call_losses(FORMATS[format](), moved)
    check_encode_again(FORMATS[format](), moved)
    try:
        missing = left_out(moved, format)
    except REFUSALS as error:
        check_refusal(error)
        return
    for path, role, part in parts_of(moved):
        if isinstance(part, ReasoningPart) and part.origin:
            assert path in missing or is_merged(path, moved, format), "reasoning of another model is sent"
        elif path in missing and not is_expressible(part, moved, format):
            assert not can_encode(format, role, part), f"{path} is left out, though it can be sent"


def check_refusal(error: Exception) -> None:
    assert PLACE.search(str(error)), f"the error names no place: {error}"


@pytest.mark.smoke
@pytest.mark.parametrize("format", FORMATS)
def test_laws_hold(format: str):
    provider = provider_of(format)
    replies = strategies.replies(provider, options=strategies.item_options(provider))
    check_laws(FORMATS[format](), provider, calls=calls(format), replies=replies, max_examples=12)


@pytest.mark.parametrize("source", smoke(FORMATS, ["ollama"]))
def test_call_parsed_from_one_format_satisfies_the_laws_in_every_other(source: str):
    transpiler = FORMATS[source]()
    arrived = 0

    @PATIENT
    @given(calls(source))
    def check(call: ModelCall) -> None:
        nonlocal arrived
        try:
            request = transpiler.encode(call).request
        except REFUSALS:
            return
        arrived += 1
        read = transpiler.parse(request).call
        for target in FORMATS:
            if target != source:
                check_translation(read, target)

    check()
    assert arrived > PATIENT.max_examples / 10, "nearly all calls are refused"


CONVERSATION = ModelCall(
    MODEL,
    (
        Message.system("You tell the weather."),
        Message.user("How is it in Ulm and in Bonn?"),
        Message.assistant("Let me look.", CALL, ToolCall("call_2", "weather", '{"city":"Bonn"}')),
        Message.tool(ToolResult.text("call_1", "sunny"), ToolResult.text("call_2", "rain")),
        Message.assistant("Sunny in Ulm, rain in Bonn."),
        Message.user("And tomorrow?"),
    ),
    tools=(WEATHER,),
    sampling=Sampling(max_output_tokens=500),
)


@pytest.mark.parametrize(("source", "target"), list(permutations(FORMATS, 2)))
def test_ordinary_conversation_is_translated_completely(source: str, target: str):
    first, second = FORMATS[source](), FORMATS[target]()
    read = first.parse(first.encode(CONVERSATION.with_(provider=provider_of(source))).request).call
    encoded = second.encode(renamed(read, target).call)
    assert [w for w in encoded.warnings if w.sent is None] == []
    call = second.parse(encoded.request).call
    assert [(m.role, m.text) for m in call.messages] == [(m.role, m.text) for m in CONVERSATION.messages]
    calls = [(c.name, c.arguments) for m in call.messages for c in m.tool_calls]
    assert calls == [(c.name, c.arguments) for m in CONVERSATION.messages for c in m.tool_calls]
    assert [p.content for p in call.messages[3].parts if isinstance(p, ToolResult)] == [
        (TextPart("sunny"),),
        (TextPart("rain"),),
    ]
    assert call.tools == CONVERSATION.tools
    assert call.sampling == CONVERSATION.sampling


@pytest.mark.parametrize("format", FORMATS)
def test_reasoning_of_another_model_is_named_also_where_messages_are_merged(format: str):
    thought = ReasoningPart("A secret thought.", origin="another/model")
    messages = (Message.user("hi"), Message("assistant", (TextPart("ho"), thought)), Message.assistant("and so on"))
    warnings = FORMATS[format]().encode(ModelCall(MODEL, messages, provider_of(format))).warnings
    named = [warning for warning in warnings if "messages[1].parts[1]".startswith(warning.path)]
    assert any("reasoning" in warning.message for warning in named)


@pytest.mark.parametrize("format", FORMATS)
def test_reasoning_of_another_model_is_left_out_with_a_warning(format: str):
    thought = ReasoningPart("A secret thought.", "signature", origin="another/model")
    messages = (Message.user("hi"), Message("assistant", (thought, TextPart("ho"))), Message.user("and?"))
    encoded = FORMATS[format]().encode(ModelCall(MODEL, messages, provider_of(format)))
    assert "messages[1].parts[0]" in {warning.path for warning in encoded.warnings if warning.sent is None}
    assert b"secret" not in encoded.request.body
    assert b"signature" not in encoded.request.body
