"""The call's own names in replies to requests with others: deltas of every kind, cut streams, answers in parts."""

from collections.abc import Sequence
from typing import Any

import pytest

from abstractcore.engine.delta_reading import NameRestorer, ReadStream, read_reply
from abstractcore.errors import StreamInterruptedError
from abstractcore.schema import (
    Delta,
    ModelReply,
    ReasoningPart,
    SentNames,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    accumulate,
    deltas_of,
)

NAMES = SentNames({"list_1": "list items"}, {"list_1": {"_top_1": "$top"}}, {"_x_2": "x]"})
REPLY = ModelReply(
    (
        ReasoningPart('call list_1 with {"_top_1": 1}'),
        TextPart('{"_x_2": {"_x_2": "_x_2"}}'),
        ToolCall("a", "list_1", '{"_top_1": 1.0, "_x_2": 2}'),
        ToolCall("b", "other", '{"_top_1": 1}'),
    ),
    "tool_calls",
    model="m",
    provider="p",
)
RESTORED = (
    REPLY.parts[0],
    TextPart('{"x]": {"x]": "_x_2"}}'),
    ToolCall("a", "list items", '{"$top": 1.0, "_x_2": 2}'),
    REPLY.parts[3],
)


def split(deltas: Sequence[Delta]) -> list[Delta]:
    """The deltas with texts of one character each."""
    pieces: list[Delta] = []
    for delta in deltas:
        if isinstance(delta, ToolCallDelta):
            pieces += [ToolCallDelta(0, delta.block, letter) for letter in delta.arguments_text]
        elif isinstance(delta, TextDelta):
            pieces += [TextDelta(0, delta.block, letter) for letter in delta.text]
        else:
            pieces.append(delta)
    return pieces


def test_whole_reply_has_the_own_names() -> None:
    found = read_reply(REPLY, NameRestorer(NAMES))
    assert found.parts == RESTORED
    assert (found.model, found.provider, found.finish_reason, found.usage) == ("m", "p", "tool_calls", REPLY.usage)


def test_deltas_of_one_letter_have_the_own_names_and_none_is_empty() -> None:
    restorer = NameRestorer(NAMES)
    out = [each for delta in split(deltas_of(REPLY)) for each in restorer.feed([delta])] + restorer.finish()
    assert accumulate(out).parts == RESTORED
    assert [delta.sequence for delta in out] == list(range(len(out)))
    assert all(delta.text for delta in out if isinstance(delta, TextDelta))
    assert all(delta.arguments_text for delta in out if isinstance(delta, ToolCallDelta))


def test_block_that_goes_on_after_its_end_keeps_its_place_in_the_json() -> None:
    restorer = NameRestorer(NAMES)
    deltas: list[Delta] = [TextStart(0, 0), TextDelta(0, 0, '{"a": [1'), TextEnd(0, 0)]
    deltas += [TextStart(0, 0), TextDelta(0, 0, '], "_x_2": 3}'), TextEnd(0, 0)]
    assert accumulate(restorer.feed(deltas)).parts == (TextPart('{"a": [1], "x]": 3}'),)


def test_block_without_an_end_loses_nothing() -> None:
    restorer = NameRestorer(NAMES)
    deltas: list[Delta] = [TextStart(0, 0), TextDelta(0, 0, '{"_x'), ToolCallStart(0, 1, "a", "list_1")]
    deltas += [ToolCallDelta(0, 1, '{"_top')]
    found = accumulate([*restorer.feed(deltas), *restorer.finish()])
    assert found.parts == (TextPart('{"_x'), ToolCall("a", "list items", '{"_top'))


class Cut:
    """A stream that breaks after its deltas."""

    def __init__(self, deltas: list[Delta]) -> None:
        self._deltas = deltas

    async def read(self) -> list[Delta]:
        if self._deltas:
            return [self._deltas.pop(0)]
        raise StreamInterruptedError("cut", partial=ModelReply())

    async def close(self) -> None: ...

    def abort(self) -> None: ...


def test_partial_of_a_cut_stream_has_the_own_names() -> None:
    call: list[Delta] = [ToolCallStart(0, 0, "a", "list_1"), ToolCallDelta(0, 0, '{"_top_1": 1}'), ToolCallEnd(0, 0)]
    context: Any = None
    stream = ReadStream(Cut([*call, TextStart(0, 1), TextDelta(0, 1, '{"_x_2": "so')]), NameRestorer(NAMES), context)

    async def read() -> None:
        while await stream.read():
            pass

    with pytest.raises(StreamInterruptedError) as caught:
        read().send(None)
    assert caught.value.partial is not None
    assert caught.value.partial.parts == (ToolCall("a", "list items", '{"$top": 1}'), TextPart('{"x]": "so'))
