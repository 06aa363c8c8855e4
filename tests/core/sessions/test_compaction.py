"""The context of a session never overflows: results and files are set aside, exchanges become a summary."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Blob,
    ConnectionFailedError,
    ContextOverflowError,
    ImagePart,
    InvalidInputError,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionBusyError,
    TextPart,
    TokenCount,
    ToolCall,
    Usage,
    create_llm,
)
from abstractcore.schema import check_pairs, text_tokens
from abstractcore.schema.codec import json_of
from abstractcore.sessions.compaction import CompactMode
from abstractcore.sessions.meter import message_tokens
from abstractcore.testing import CallStyle

WINDOW = 2000
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def answering(call: ModelCall) -> ModelReply:
    """Answers with the tokens of a request, which must fit into the window; summaries are short."""
    tokens = sum(
        text_tokens(part.text) + 4 for each in call.messages for part in each.parts if isinstance(part, TextPart)
    )
    if tokens > WINDOW:
        raise ContextOverflowError("the prompt is too long")
    assert check_pairs(call.messages) == ()
    system = call.messages[0].text if call.messages[0].role == "system" else ""
    text = "They counted sheep." if "summaries" in system else f"answer to {call.messages[-1].text[:12]}"
    return ModelReply((TextPart(text),), "stop", usage=Usage(input=tokens, output=text_tokens(text)))


def model(replies: int = 300, window: int | None = WINDOW, answer: Any = answering) -> LLM:
    facts = {} if window is None else {"context_tokens": window}
    return create_llm("scripted", replies=[answer] * replies, max_retries=0, facts=facts)


def question(number: int) -> str:
    return f"question {number}: " + "how many sheep are on the hill? " * 25


def counted(messages: tuple[Message, ...]) -> str:
    return f"{len(messages)} messages"


@pytest.mark.parametrize("mode", ["summary", "drop", counted])
def test_session_of_forty_times_the_context_never_overflows(call_style: CallStyle, mode: CompactMode):
    llm = model(600)
    session = llm.session(system_prompt="Count.", compact=mode)
    asked, warnings = 0, 0
    while asked < 40 * WINDOW:
        text = question(len(session.exchanges))
        asked += text_tokens(text)
        response = session.ask(text) if call_style.name == "sync" else call_style.run(session.aask(text))
        warnings += len(response.warnings)
        assert {each.code for each in response.warnings} <= {"compacted", "exchanges_left_out"}
    assert 5 < warnings < len(session.exchanges) / 5
    assert len(session.history(full=True)) == 2 * len(session.exchanges)
    assert len(session.messages) < 40
    if mode != "drop":
        assert session.messages[0].text.startswith("[Summary of the conversation before this message]")


def test_prefix_stays_byte_equal_between_compactions():
    llm = model()
    session = llm.session(system_prompt="Count.", compact="drop")
    changes = 0
    before: Sequence[Message] = ()
    for number in range(60):
        response = session.ask(question(number))
        sent = llm.calls[-1].messages[:-1]
        same = [json_of(one) == json_of(other) for one, other in zip(sent, before, strict=False)]
        changes += not all(same[: len(before)]) or len(sent) < len(before)
        assert bool(response.warnings) == (not all(same) or len(sent) < len(before))
        before = llm.calls[-1].messages
    assert 1 <= changes <= 15  # of 60 calls


def test_results_and_files_are_set_aside_first_and_the_model_recalls_them():
    big = "line of the log\n" * 300

    def answer(call: ModelCall) -> ModelReply:
        last = call.messages[-1]
        if last.role == "user" and last.text == "read":
            return ModelReply((ToolCall("r", "read_log"),), usage=tokens(call))
        if last.role == "user" and last.text == "again":
            (note,) = [
                part.text
                for message in call.messages
                if message.role == "tool"
                for result in message.parts
                for part in getattr(result, "content", ())
                if "recall" in part.text
            ]
            handle = note.partition('recall("')[2].partition('"')[0]
            return ModelReply((ToolCall("c", "recall", json.dumps({"handle": handle})),), usage=tokens(call))
        return ModelReply((TextPart("seen"),), usage=tokens(call))

    def tokens(call: ModelCall) -> Usage:
        return Usage(input=message_tokens(call.messages, lambda files: 0), output=5)

    def read_log() -> str:
        """Reads the log."""
        return big

    llm = model(answer=answer, window=4000)
    session = llm.session(tools=[read_log], run_tools=True, compact="drop")
    session.ask("read")
    warnings = next(found for number in range(20) if (found := session.ask(f"{number} " + "word " * 200).warnings))
    assert [each.code for each in warnings] == ["set_aside"]
    assert session.exchanges[0].messages[2].parts[0].as_text == big  # type: ignore[union-attr]
    response = session.ask("again")
    assert response.tool_steps[0].result.as_text == big
    names = [tool.name for tool in llm.calls[0].tools]
    assert "recall" in names


def test_compact_keeps_the_last_exchanges_and_says_what_it_did(tmp_path: Path):
    seen: list[str] = []

    def summary(messages: tuple[Message, ...]) -> str:
        seen.append(messages[0].text)
        return "the sheep"

    path = tmp_path / "talk.session"
    with Session.open(path, model(), compact=summary) as session:
        for number in range(10):
            session.ask(question(number)[:20])
        (warning,) = session.compact(keep=3)
        assert warning.code == "compacted"
        assert "7 exchanges" in warning.message
        assert len(session.messages) == 1 + 2 * 3
        assert seen == ["question 0: how many"]
        assert session.compact(keep=3) == ()
        session.ask("and then?")
        session.undo()
        kept = session.messages
        full = session.history(full=True)
    with Session.open(path, model(), compact=summary) as again:
        assert again.messages == kept
        assert again.history(full=True) == full
        assert len(full) == 20
        for _ in range(3):
            again.undo()
        with pytest.raises(InvalidInputError, match="part of a summary"):
            again.undo()


def test_summary_that_is_longer_than_its_exchanges_is_left_out():
    session = model().session(compact=lambda messages: "blah " * 5000)
    session.ask("one")
    session.ask("two")
    (warning,) = session.compact(keep=1)
    assert warning.code == "exchanges_left_out"
    assert "their summary was not shorter" in warning.message
    assert [message.text for message in session.messages] == ["two", "answer to two"]


def test_empty_summary_leaves_the_exchanges_out():
    session = model().session(compact=lambda messages: None)
    session.ask("one")
    session.ask("two")
    (warning,) = session.compact(keep=1)
    assert "no summary" in warning.message


def test_function_may_return_messages_and_be_async(call_style: CallStyle):
    async def shorter(messages: tuple[Message, ...]) -> list[Message]:
        return [Message.user("short"), Message.assistant(ToolCall("c", "f"))]

    session = model().session(compact=shorter)
    for number in range(4):
        session.ask(question(number))
    if call_style.name == "sync":
        session.compact(keep=1)
    else:
        call_style.run(session.acompact(keep=1))
    assert check_pairs(session.messages) == ()
    assert session.messages[0].text == "short"


def test_function_that_returns_something_else_is_an_error():
    session = model().session(compact=lambda messages: 3)
    session.ask(question(1))
    session.ask(question(2))
    with pytest.raises(InvalidInputError, match="expected a text, messages or None of the function"):
        session.compact(keep=1)


def test_focus_reaches_the_model_and_the_cost_of_summaries_counts():
    llm = model()
    session = llm.session()
    for number in range(5):
        session.ask(question(number))
    before = session.usage
    session.compact(keep=1, focus="black sheep")
    assert "Above all, keep what is about: black sheep." in llm.calls[-1].messages[-1].text
    assert session.usage.input is not None
    assert before.input is not None
    assert session.usage.input > before.input


def test_overflow_that_the_estimate_missed_is_compacted_once():
    llm = model(window=None)
    session = llm.session(compact="drop")
    answers = [session.ask(question(number)) for number in range(40)]
    overflowed = [each for each in answers if each.warnings]
    assert overflowed
    with session.stream(question(1)) as stream:
        for _ in range(60):
            break
        assert "".join(stream.text())


def test_question_that_is_too_long_alone_is_the_error_of_the_provider():
    session = model(window=None).session()
    session.ask("hi")
    with pytest.raises(ContextOverflowError):
        session.ask("word " * 20_000)
    assert len(session.messages) == 2


def test_without_compaction_the_error_of_the_provider_is_raised():
    session = model().session(compact=None)
    with pytest.raises(ContextOverflowError):
        for number in range(60):
            session.ask(question(number))


def test_files_of_a_session_without_tools_are_set_aside_as_names():
    session = model(window=4000).session(compact="drop", fill=0.3)
    for number in range(4):
        picture = ImagePart(Blob.from_bytes(PNG + bytes([number]), "image/png", name=f"{number}.png"))
        session.add(Message.user(f"look {number}", picture), Message.assistant("nice"))
    session.add(Message.user("x"), Message.assistant("y"))
    turn = session.ask("what now?")
    assert "set_aside" in {each.code for each in turn.warnings}
    assert "is set aside" in session.messages[0].text
    handle = session.messages[0].text.partition("file-")[2][:12]
    found = session.recall(f"file-{handle}")
    assert isinstance(found, ImagePart)
    assert found.blob.data == PNG + b"\0"
    assert session.recall("file-nothing") is None


def test_compaction_while_a_call_runs_is_refused():
    session = model().session()
    stream = session.stream("hi")
    next(iter(stream))
    with pytest.raises(SessionBusyError):
        session.compact()
    stream.close()
    assert session.compact() == ()


@pytest.mark.parametrize("keep", [-1, 1.5, True])
def test_bad_number_of_exchanges_is_refused(keep: Any):
    with pytest.raises(InvalidInputError, match="whole number"):
        model().session().compact(keep=keep)


def short(call: ModelCall) -> ModelReply:
    return ModelReply((TextPart("ok"),), usage=Usage(100, 1))


class _Counting:
    """Counts as a provider with an endpoint for it does, or one that fails."""

    def __init__(self, tokens: int | None, estimated: bool = False) -> None:
        self._tokens = tokens
        self._estimated = estimated
        self.asked = 0

    async def __call__(self, *arguments: object) -> TokenCount:
        self.asked += 1
        if self._tokens is None:
            raise ConnectionFailedError("no")
        return TokenCount(self._tokens, estimated=self._estimated)


@pytest.mark.parametrize(
    ("counting", "compacts"),
    [
        (_Counting(1500), False),
        (_Counting(1700), True),
        (_Counting(100, estimated=True), True),
        (_Counting(None), True),
    ],
)
def test_provider_counts_near_the_limit_only(monkeypatch: pytest.MonkeyPatch, counting: _Counting, compacts: bool):
    llm = model(answer=short)
    monkeypatch.setattr(llm, "counted_in", counting)
    session = llm.session(compact="drop")
    session.add(Message.user("short"), Message.assistant("yes"))
    session.ask("hi")
    assert counting.asked == 0
    session = llm.session(compact="drop")
    for number in range(7):
        session.add(Message.user(question(number)), Message.assistant("yes"))
    assert bool(session.ask("hi").warnings) == compacts
    assert counting.asked == 1


def test_answer_has_room_beside_the_context():
    llm = model(answer=short)
    session = llm.session(compact="drop", fill=1.0, max_output_tokens=1500)
    for number in range(3):
        session.add(Message.user(question(number)), Message.assistant("yes"))
    assert session.ask("hi").warnings
    assert not llm.session(compact="drop", fill=1.0).ask("hi").warnings
