"""Accumulation of deltas to a reply."""

import pytest
from hypothesis import given

from abstractcore.schema import (
    Citation,
    Delta,
    ModelReply,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReasoningStart,
    ReplyStart,
    SchemaError,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    Usage,
    UsageDelta,
    accumulate,
    deltas_of,
)
from abstractcore.testing import strategies
from tests.properties import examples


@examples(80)
@given(strategies.replies(options=strategies.item_options("scripted")))
def test_deltas_of_a_reply_accumulate_to_it(reply: ModelReply):
    assert accumulate(deltas_of(reply)) == reply


@examples(80)
@given(strategies.streams(strategies.replies(options=strategies.item_options("scripted"))))
def test_chunked_reply_accumulates_to_the_reply(case: tuple[ModelReply, list[Delta]]):
    reply, deltas = case
    assert accumulate(deltas) == reply
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))


def test_interrupted_stream_accumulates_without_finish_reason():
    deltas = [ReplyStart(0, "m", "p", "r"), TextStart(1, 0), TextDelta(2, 0, "Hel"), ToolCallStart(3, 1, "c", "t")]
    partial = accumulate([*deltas, ToolCallDelta(4, 1, '{"a')])
    assert partial.parts == (TextPart("Hel"), ToolCall("c", "t", '{"a'))
    assert (partial.finish_reason, partial.model, partial.id) == ("unknown", "m", "r")
    assert accumulate([]) == ModelReply()


def test_blocks_are_ordered_by_number():
    deltas: list[Delta] = [
        TextStart(0, 5),
        TextDelta(1, 5, "late"),
        ReasoningStart(2, 1, "p/m"),
        ReasoningDelta(3, 1, "x"),
    ]
    assert accumulate(deltas).parts == (ReasoningPart("x", origin="p/m"), TextPart("late"))


def test_block_that_continues_after_its_end_is_one_part():
    deltas: list[Delta] = [
        ReasoningStart(0, 0),
        ReasoningDelta(1, 0, "a"),
        ReasoningEnd(2, 0, signature="s"),
        TextStart(3, 1),
        TextDelta(4, 1, "b"),
        TextEnd(5, 1, (Citation("s"),)),
        ReasoningStart(6, 0),
        ReasoningDelta(7, 0, "c"),
        ReasoningEnd(8, 0),
    ]
    assert accumulate(deltas).parts == (ReasoningPart("ac", signature="s"), TextPart("b", (Citation("s"),)))


def test_each_usage_replaces_the_previous():
    assert accumulate([UsageDelta(0, Usage(1, 1)), UsageDelta(1, Usage(1, 5))]).usage == Usage(1, 5)


def test_invalid_unicode_text_is_refused():
    with pytest.raises(SchemaError, match="lone surrogate"):
        accumulate([TextStart(0, 0), TextDelta(1, 0, "\ud83d")])


def test_usage_sums_up_and_unreported_counts_stay_none():
    assert Usage(1, 2, cached=3) + Usage(10, None, reasoning=4) == Usage(11, 2, cached=3, reasoning=4)
    assert (Usage(1, 2).total, Usage(1).total) == (3, None)
