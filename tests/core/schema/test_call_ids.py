"""Ids of tool calls: unique in a conversation, also where the vendor sends none, or the same ones in every turn."""

from __future__ import annotations

import pytest

from abstractcore import Message, ModelCall, ToolCall, ToolResult
from abstractcore.engine.decoding import StreamedIds
from abstractcore.schema import ModelReply, accumulate, deltas_of
from abstractcore.schema.replies import CallIds, with_unique_ids


def conversation(*ids: str) -> ModelCall:
    """A call whose conversation has a turn for each id, with one tool call each."""
    messages = [Message.user("hi")]
    for id in ids:
        messages += [Message("assistant", (ToolCall(id, "f", "{}"),)), Message.tool(ToolResult.text(id, "1"))]
    return ModelCall("m", tuple(messages))


def reply(*ids: str) -> ModelReply:
    """A reply with tool calls of these ids."""
    return ModelReply(tuple(ToolCall(id, "f", "{}") for id in ids), finish_reason="tool_calls")


@pytest.mark.parametrize(
    ("before", "received", "made"),
    [
        ((), ("call_0", "call_1"), ["call_0", "call_1"]),
        (("call_0",), ("call_0", "call_1"), ["call_1_0", "call_1"]),
        (("call_0", "call_1_0"), ("call_0", "call_1"), ["call_2_0", "call_2_1"]),
        (("call_0", "call_2_0"), ("call_0",), ["call_2_0_1"]),
        (("a", "b"), ("a", "call_2_0", "c"), ["call_2_0", "call_2_1", "c"]),
    ],
)
def test_an_id_that_is_in_use_is_replaced_whole_and_streamed(
    before: tuple[str, ...], received: tuple[str, ...], made: list[str]
):
    call = conversation(*before)
    for _ in range(2):
        assert [each.id for each in with_unique_ids(reply(*received), call).tool_calls] == made
    streamed = deltas_of(reply(*received))
    StreamedIds(call).set_in(streamed)
    assert [each.id for each in accumulate(streamed).tool_calls] == made


def test_new_ids_are_none_that_a_reply_has_already():
    ids = CallIds(conversation("call_0").messages)
    assert [ids.unique("call_1_1"), ids.new(), ids.new()] == ["call_1_1", "call_1_1_1", "call_1_2"]
