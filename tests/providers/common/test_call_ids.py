"""Ids of tool calls: as they are sent, and as they are received."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import Message, ToolCall, ToolResult
from abstractcore_providers.common.call_options import AS_RECEIVED
from abstractcore_providers.common.conversations import ReceivedIds, SentCallIds, numbered_id
from tests.properties import examples


def asked(*ids: str) -> tuple[Message, Message]:
    """A turn in which tools were called, and its results."""
    return (
        Message.assistant(*(ToolCall(id, "f") for id in ids)),
        Message.tool(*(ToolResult.text(id, "done") for id in ids)),
    )


HI = Message.user("hi")
CONVERSATION = (HI, *asked("a", "b!"), *asked("a", "c"))


def anything(turn: int, id: str) -> bool:
    return True


def letters(turn: int, id: str) -> bool:
    return id.isalpha()


def test_valid_ids_are_kept():
    ids = SentCallIds((HI, *asked("a", "b!")), anything)
    assert [ids.of_call(1, "a"), ids.of_call(1, "b!"), ids.of_result(2, "b!")] == ["a", "b!", "b!"]
    assert not ids.renames


def test_invalid_and_duplicate_ids_are_replaced_in_calls_and_results():
    ids = SentCallIds(CONVERSATION, letters)
    assert [ids.of_call(1, "a"), ids.of_call(1, "b!")] == ["a", "call_1_1"]
    assert [ids.of_result(2, "a"), ids.of_result(2, "b!")] == ["a", "call_1_1"]
    assert [ids.of_call(3, "a"), ids.of_call(3, "c")] == ["call_3_0", "c"]
    assert ids.of_result(4, "a") == "call_3_0"
    assert ids.renames


def test_duplicate_id_is_reason_enough_to_rename():
    assert SentCallIds((HI, *asked("a"), *asked("a")), anything).renames


def test_call_outside_a_message_keeps_its_id():
    ids = SentCallIds(CONVERSATION, letters)
    assert ids.of_call(0, "x!") == ids.of_result(9, "x!") == "x!"


def test_valid_ids_are_tracked_per_turn():
    seen: list[tuple[int, str]] = []

    def is_legal(turn: int, id: str) -> bool:
        seen.append((turn, id))
        return True

    SentCallIds(CONVERSATION, is_legal)
    assert seen == [(1, "a"), (1, "b!"), (3, "a"), (3, "c")]


def test_new_id_is_unused():
    assert numbered_id(1, 2, ()) == "call_1_2"
    assert numbered_id(1, 2, {"call_1_2"}) == "call_1_2_1"
    assert numbered_id(1, 2, {"call_1_2", "call_1_2_1"}) == "call_1_2_2"
    ids = SentCallIds((HI, *asked("call_3_0"), *asked("!")), lambda turn, id: id != "!")
    assert ids.of_call(3, "!") == "call_3_0_1"


def test_new_id_is_generated_from_earlier_ids():
    before: list[tuple[int, int, set[str]]] = []

    def new(turn: int, index: int, used: Collection[str]) -> str:
        before.append((turn, index, set(used)))
        return f"new{len(before)}"

    SentCallIds(CONVERSATION, letters, new)
    assert before == [(1, 1, {"a"}), (3, 0, {"a", "new1"})]


def test_longer_conversation_keeps_the_generated_ids():
    short, long = SentCallIds(CONVERSATION[:3], letters), SentCallIds(CONVERSATION, letters)
    assert [short.of_call(1, id) for id in ("a", "b!")] == [long.of_call(1, id) for id in ("a", "b!")]


def test_received_id_is_unchanged():
    ids, options = ReceivedIds(), {"p": {"x": 1}}
    assert ids.give("a", 0, options) == ("a", options)
    call = ToolCall("b", "f")
    assert ids.name(call, 1) is call


def test_call_without_an_id_is_named_by_its_index():
    ids = ReceivedIds()
    assert [ids.give(None, 0), ids.give("", 3)] == [("call_0", {}), ("call_3", {})]


def test_second_call_with_an_id_gets_its_own_and_keeps_the_original_in_options():
    ids = ReceivedIds()
    ids.give("a", 0)
    assert ids.give("a", 1, {"p": {"x": 1}}) == ("call_1", {"p": {"x": 1}, AS_RECEIVED: {"id": "a"}})
    named = ids.name(ToolCall("a", "f", provider_options={"p": {"x": 1}}), 2)
    assert (named.id, named.provider_options) == ("call_2", {"p": {"x": 1}, AS_RECEIVED: {"id": "a"}})


def test_generated_id_never_collides_with_a_vendor_id():
    ids = ReceivedIds()
    assert [ids.give(id, 1)[0] for id in ("call_1", None, None, "call_1_", "call_1")] == [
        "call_1",
        "call_1_",
        "call_1__",
        "call_1___",
        "call_1____",
    ]


@examples(100)
@given(st.lists(st.sampled_from([None, "", "a", "call_0", "call_1", "call_1_", "call_2"]), max_size=8))
def test_ids_in_a_reply_are_unique(received: list[str | None]):
    ids = ReceivedIds()
    given_ = [ids.give(id, number) for number, id in enumerate(received)]
    assert len({id for id, _ in given_}) == len(received)
    for asked_, (id, options) in zip(received, given_, strict=True):
        assert (options == {}) is (not asked_ or id == asked_)
