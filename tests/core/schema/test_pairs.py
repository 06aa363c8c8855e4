"""The invariant of conversations: what breaks it is found and repaired, whatever was cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import (
    Blob,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    check_pairs,
    repair_pairs,
)
from abstractcore.testing.strategies.call import conversations
from abstractcore.testing.strategies.call import messages as any_messages

HI = Message.user("hi")
CALL, OTHER = ToolCall("a", "weather"), ToolCall("b", "weather")
SIGNED = ReasoningPart("so", signature="s", origin="x/y")


def codes(*messages: Message) -> list[str]:
    return [fault.code for fault in check_pairs(messages)]


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ((HI, Message.assistant(CALL), Message.tool("a", "sunny"), Message.assistant("ok")), []),
        ((HI, Message.assistant(CALL)), []),
        ((HI, Message.assistant(CALL, OTHER), Message.tool("a", "sunny")), []),
        ((HI, Message.assistant(CALL), Message.system("now"), Message.tool("a", "sunny")), []),
        ((HI, Message.assistant(CALL, OTHER), Message.tool("b", "x"), Message.tool("a", "y")), []),
        ((HI, Message.assistant(SIGNED, CALL)), []),
        ((HI, Message.assistant(ReasoningPart("only plain")), HI), []),
        ((HI, Message.assistant(HostedToolCall("h", "web_search"), HostedToolResult("h"), TextPart("ok"))), []),
        ((HI, Message.assistant(HostedToolCall("h", "s")), Message.assistant(HostedToolResult("h"))), []),
        ((Message.system("s"), Message.assistant("How can I help?"), HI), ["begins_with_answer"]),
        ((HI, Message.assistant(HostedToolCall("h", "s")), Message.assistant(HostedToolResult("h"), CALL)), []),
        ((HI, Message.assistant("x"), Message.assistant("y")), []),
        ((HI, Message.assistant("x"), Message.assistant(CALL)), ["answer_after_answer"]),
        ((HI, Message.assistant(CALL), HI), ["call_without_result"]),
        ((HI, Message.assistant(CALL, OTHER), Message.tool("a", "sunny"), HI), ["call_without_result"]),
        ((HI, Message.assistant(CALL), Message.assistant("x")), ["call_without_result"]),
        ((Message.tool("a", "sunny"), HI), ["result_without_call"]),
        ((HI, Message.assistant(CALL), Message.tool("a", "1"), Message.tool("a", "2")), ["second_result"]),
        ((HI, Message.assistant(CALL), HI, Message.tool("a", "1")), ["call_without_result", "result_without_call"]),
        ((HI, Message.assistant(CALL, ToolCall("a", "other"))), ["repeated_call_id"]),
        ((HI, Message.assistant(HostedToolResult("h"))), ["hosted_result_without_call"]),
        ((HI, Message.assistant("x", SIGNED), HI), ["reasoning_without_item"]),
        ((Message.assistant(CALL), Message.tool("a", "1"), HI), ["begins_with_answer"]),
    ],
)
def test_faults_are_found(messages: tuple[Message, ...], found: list[str]):
    assert codes(*messages) == found


def test_fault_has_the_path_of_its_part_and_names_the_call():
    (fault,) = check_pairs((HI, Message.assistant(CALL), Message.tool(ToolResult.text("z", "x"))))
    assert str(fault) == "messages[2].parts[0]: no call 'z' is in the turn before [result_without_call]"


def test_valid_conversation_is_returned_as_it_is():
    messages = (HI, Message.assistant(CALL), Message.tool("a", "sunny"))
    repaired, notes = repair_pairs(messages)
    assert (repaired, notes) == (messages, ())
    assert all(one is other for one, other in zip(repaired, messages, strict=True))


def test_answer_at_the_beginning_gets_a_message_before_it():
    messages = (Message.system("s"), Message.assistant(CALL), Message.tool("a", "1"), HI)
    repaired, notes = repair_pairs(messages)
    assert [message.role for message in repaired] == ["system", "user", "assistant", "tool", "user"]
    assert [note.code for note in notes] == ["question_added"]


def test_missing_result_becomes_an_error_that_the_model_reads():
    repaired, notes = repair_pairs((HI, Message.assistant(CALL, OTHER), Message.tool("b", "rain"), HI))
    results = repaired[2].parts
    assert [(part.call_id, part.is_error) for part in results if isinstance(part, ToolResult)] == [
        ("a", True),
        ("b", False),
    ]
    assert [(note.code, note.path) for note in notes] == [("result_added", "messages[1]")]


def test_calls_of_one_id_get_ids_of_their_own_and_their_results_in_order():
    messages = (HI, Message.assistant(CALL, ToolCall("a", "other")), Message("tool", (ToolResult.text("a", "1"),)))
    repaired, _ = repair_pairs((*messages, Message("tool", (ToolResult.text("a", "2"),))))
    assert [call.id for call in repaired[1].tool_calls] == ["a", "a_2"]
    assert [part.as_text for part in repaired[2].parts if isinstance(part, ToolResult)] == ["1", "2"]


def test_turn_of_torn_items_alone_is_left_out():
    repaired, notes = repair_pairs((HI, Message.assistant(SIGNED), HI, Message.assistant("ok")))
    assert repaired == (HI, HI, Message.assistant("ok"))
    assert [note.code for note in notes] == ["reasoning_left_out"]


@given(conversations(), st.data())
def test_conversation_cut_anywhere_is_repaired(messages: tuple[Message, ...], data: st.DataObject):
    begin = data.draw(st.integers(0, len(messages)))
    end = data.draw(st.integers(begin, len(messages)))
    repaired, _ = repair_pairs((*messages[begin:end], *messages[data.draw(st.integers(0, len(messages))) :]))
    assert check_pairs(repaired) == ()
    assert repair_pairs(repaired) == (repaired, ())
    if repaired:
        ModelCall("m", repaired)


@given(st.lists(any_messages(), max_size=8))
def test_any_sequence_of_messages_is_repaired_with_a_note_for_each_change(messages: list[Message]):
    repaired, notes = repair_pairs(messages)
    assert check_pairs(repaired) == ()
    assert (repaired == tuple(messages)) == (notes == ()) or not check_pairs(messages)
    if repaired:
        ModelCall("m", repaired)


def test_files_stay_where_they_are():
    photo = ImagePart(Blob.from_bytes(b"x", "image/png"))
    repaired, _ = repair_pairs((Message.user("look", photo), Message.assistant(CALL), HI))
    assert repaired[0] == Message.user("look", photo)
