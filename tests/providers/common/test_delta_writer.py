"""Deltas of a stream are numbered, their texts whole, and blocks begin and end in order."""

import pytest

from abstractcore.errors import ServerError
from abstractcore.schema import (
    Citation,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    SchemaError,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from abstractcore_providers.common.delta_writer import DeltaWriter
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.formats.test_fuzz import with_payload
from tests.providers.published import fixtures, frames_of, stream_of

HALVES = "\ud83d", "\ude00"


def test_deltas_are_numbered_across_batches():
    out = DeltaWriter("p/m")
    out.start_reply("m", "p", "r-1")
    out.start_reasoning(0)
    assert out.take() == [ReplyStart(0, "m", "p", "r-1"), ReasoningStart(1, 0, "p/m")]
    out.add(0, "hm")
    out.end_reasoning(0, "sig")
    out.end_reply("stop", "stop", {"a": 1})
    assert out.take() == [ReasoningDelta(2, 0, "hm"), ReasoningEnd(3, 0, "sig"), ReplyEnd(4, "stop", "stop", {"a": 1})]
    assert out.take() == []


def test_open_blocks_are_ordered_by_start():
    out = DeltaWriter()
    out.start_call(7, "a", "f")
    out.start_text(3)
    assert list(out.open) == [7, 3]
    out.add(7, "{}")
    for block in list(out.open):
        out.end(block)
    assert out.take() == [
        ToolCallStart(0, 7, "a", "f"),
        TextStart(1, 3),
        ToolCallDelta(2, 7, "{}"),
        ToolCallEnd(3, 7),
        TextEnd(4, 3),
    ]


def test_surrogate_halves_are_joined_within_their_block():
    out = DeltaWriter()
    out.start_text(0)
    out.start_text(1)
    out.add(0, "a" + HALVES[0])
    out.add(1, "b")
    out.add(0, HALVES[1])
    out.add(1, HALVES[0])
    out.flush(1)
    assert out.take()[2:] == [TextDelta(2, 0, "a"), TextDelta(3, 1, "b"), TextDelta(4, 0, "😀"), TextDelta(5, 1, "�")]


def test_text_after_the_end_of_its_block_is_kept():
    out = DeltaWriter()
    out.start_text(0)
    out.end_text(0)
    out.add(0, "more")
    assert out.take()[-1] == TextDelta(2, 0, "more")


def test_current_block_ends_when_another_starts():
    out = DeltaWriter()
    out.add_current(0, ReasoningDelta, "hm")
    out.add_current(1, TextDelta, HALVES[0])
    assert out.current == 0
    out.add_current(1, TextDelta, HALVES[1])
    out.end_current()
    out.end_current()
    assert out.take() == [
        ReasoningStart(0, 0),
        ReasoningDelta(1, 0, "hm"),
        ReasoningEnd(2, 0),
        TextStart(3, 1),
        TextDelta(4, 1, "😀"),
        TextEnd(5, 1),
    ]


def test_citations_follow_an_ended_text():
    out = DeltaWriter()
    cited = (Citation("https://example.com"),)
    out.cite(2, cited)
    assert (out.take(), out.open) == ([TextStart(0, 2), TextEnd(1, 2, cited)], {})


def test_invalid_metadata_is_an_error():
    with pytest.raises(SchemaError, match="lone surrogate"):
        DeltaWriter().end_reply("stop", None, {"a": HALVES[0]})


@pytest.mark.parametrize("format", FORMATS)
def test_stream_that_does_not_start_with_json_hints_at_base_url(format: str):
    transpiler = FORMATS[format]()
    fixture = next(fixture for fixture in fixtures("stream") if fixture.format == format)
    first, second, *_ = frames_of(transpiler, [stream_of(transpiler, fixture.read())])
    with pytest.raises(ServerError, match=" 1 of the stream is not JSON") as caught:
        transpiler.decoder().feed(with_payload(first, b"{"))
    assert caught.value.hint is not None
    decoder = transpiler.decoder()
    decoder.feed(first)
    with pytest.raises(ServerError, match=" 2 of the stream is not JSON") as caught:
        decoder.feed(with_payload(second, b"{"))
    assert caught.value.hint is None
