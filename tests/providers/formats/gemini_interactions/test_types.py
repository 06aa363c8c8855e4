"""Our requests, responses and events match the vendor's types, which accept unknown fields: there must be none."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

import pytest
from google.genai import interactions as types
from hypothesis import given
from pydantic import TypeAdapter

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    HostedToolCall,
    HostedToolResult,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    deltas_of,
)
from abstractcore_providers.formats.gemini_interactions import ENCODABLE
from tests.properties import examples
from tests.providers.formats.gemini_interactions import generated
from tests.providers.formats.gemini_interactions.vendor_types import unknown_fields
from tests.providers.formats.gemini_interactions.wire import INTERACTIONS, request, response
from tests.providers.published import Fixture, fixtures, frames_of

EVENTS: TypeAdapter[Any] = TypeAdapter(types.InteractionSSEEvent)


def check_request(body: Any) -> None:
    assert list(unknown_fields(types.CreateModelInteraction.model_validate(body))) == []


def check_reply(body: Any) -> None:
    """The class of whole interactions leaves out the field `object`, which that of events has."""
    assert list(unknown_fields(types.Interaction.model_validate(body))) in ([], [".object"])


def check_event(data: Any) -> None:
    assert list(unknown_fields(EVENTS.validate_python(data))) == []


def events_of(reply: ModelReply) -> list[Any]:
    """The events of our stream of a reply, without its end mark."""
    renderer = INTERACTIONS.renderer()
    stream = b"".join(map(renderer.feed, deltas_of(reply))) + renderer.finish()
    *events, end = frames_of(INTERACTIONS, [stream])
    assert (end.event, end.data) == ("done", b"[DONE]")
    data = [json.loads(event.data) for event in events]
    assert [event.event for event in events] == [each["event_type"] for each in data]
    return data


def of(*kinds: str) -> list[Fixture]:
    return [fixture for fixture in fixtures(*kinds) if fixture.format == "gemini_interactions"]


def literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for each in get_args(annotation):
            yield from literals(each)


def test_files_are_those_of_the_vendors_types():
    """Names in use for the same types are added, as for `google`: M4A is MP4 audio, and MOV is QuickTime video."""
    kinds = (types.ImageContent, types.AudioContent, types.VideoContent, types.DocumentContent)
    named = {name for kind in kinds for name in literals(kind.model_fields["mime_type"].annotation)}
    assert len(named) > 30
    assert named | {"audio/mp4", "video/quicktime", "video/x-ms-wmv", "video/x-msvideo"} == ENCODABLE


@pytest.mark.parametrize("fixture", of("request"), ids=str)
def test_published_request_and_ours_match_the_vendors_types(fixture: Fixture):
    check_request(fixture.read())
    call = INTERACTIONS.parse(request(fixture.read())).call
    check_request(json.loads(INTERACTIONS.encode(call).request.body))


@pytest.mark.parametrize("fixture", of("reply"), ids=str)
def test_published_reply_and_ours_match_the_vendors_types(fixture: Fixture):
    check_reply(fixture.read())
    reply = INTERACTIONS.decode(response(fixture.read()))
    check_reply(json.loads(INTERACTIONS.render(reply).body))
    for event in events_of(reply):
        check_event(event)


@pytest.mark.parametrize("fixture", of("stream"), ids=str)
def test_published_events_match_the_vendors_types(fixture: Fixture):
    """The types require a result in every event of its step, but a start has none, and that of a file search none."""
    for event in fixture.read():
        step: Any = event.get("step") or event.get("delta") or {}
        if "result" in step or not step.get("type", "").endswith("_result"):
            check_event(event)


def modelled(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Without parts whose data may be anything."""
    return tuple(part for part in parts if not isinstance(part, HostedToolCall | HostedToolResult | OpaquePart))


@pytest.mark.exhaustive
@examples(60)
@given(generated.calls(options=False))
def test_every_request_matches_the_vendors_types(call: ModelCall):
    kept = [replace(m, parts=modelled(m.parts) or Message.assistant("-").parts) for m in call.messages]
    try:
        encoded = INTERACTIONS.encode(call.with_(messages=tuple(kept), provider_options={}))
    except (InvalidInputError, UnsupportedContentError):
        return
    check_request(json.loads(encoded.request.body))


@examples(60)
@given(generated.replies(options=False))
def test_every_reply_matches_the_vendors_types(reply: ModelReply):
    plain = replace(reply, parts=modelled(reply.parts), provider_metadata={})
    check_reply(json.loads(INTERACTIONS.render(plain).body))
    for event in events_of(plain):
        check_event(event)


@pytest.mark.parametrize(
    "body",
    [
        {"model": "m", "input": "hi", "top_k": 3},
        {"model": "m", "input": [{"type": "user_input", "content": [{"type": "text", "text": "hi", "txt": "x"}]}]},
        {"model": "m", "input": [{"type": "step_of_tomorrow"}]},
        {"model": "m", "input": "hi", "generation_config": {"top_k": 3}},
        {"model": "m", "input": "hi", "tools": [{"type": "function", "strict": True}]},
    ],
)
def test_unknown_fields_are_found(body: Any):
    with pytest.raises(AssertionError):
        check_request(body)
