"""Calls of a session that end at an unlucky moment: cancelled, overflowing, or begun on an older history."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    ContextOverflowError,
    InvalidInputError,
    Message,
    ModelReply,
    Session,
    Suspend,
    ToolCall,
    ToolPolicy,
    create_llm,
)
from abstractcore.schema import check_pairs
from abstractcore.sessions.file import SessionFile
from abstractcore.sessions.handles import with_handles
from tests.chaos_server import PATIENCE_SECONDS


def scripted(*replies: Any, **options: Any) -> LLM:
    return create_llm("scripted", replies=[*replies], max_retries=0, **options)


def calls(name: str) -> ModelReply:
    return ModelReply((ToolCall("c", name),))


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


class Payments:
    """A tool that counts its runs."""

    def __init__(self) -> None:
        self.runs = 0

    def pay(self) -> str:
        """Pays."""
        self.runs += 1
        return "done"


@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_overflow_after_tools_have_run_runs_none_again(tmp_path: Path, is_stored: bool, is_streamed: bool):
    payments = Payments()
    llm = scripted("hi", calls("pay"), ContextOverflowError("too long"), "next")
    options: dict[str, Any] = {"tools": [payments.pay], "run_tools": True}
    session = Session.open(tmp_path / "talk.session", llm, **options) if is_stored else llm.session(**options)
    with session:
        session.ask("hello")
        with pytest.raises(ContextOverflowError) as failed:
            list(session.stream("pay")) if is_streamed else session.ask("pay")
        assert failed.value.loop is not None
        assert payments.runs == 1
        assert texts(session) == ["hello", "hi"]
        assert session.ask("again").content == "next"


def test_overflow_of_the_first_round_is_compacted_in_a_file_too(tmp_path: Path):
    llm = scripted("hi", "hi", ContextOverflowError("too long"), calls("pay"), "paid")
    payments = Payments()
    path = tmp_path / "talk.session"
    with Session.open(path, llm, tools=[payments.pay], run_tools=True, compact="drop") as session:
        session.ask("one " * 100)
        session.ask("two " * 100)
        response = session.ask("pay")
        assert (response.content, payments.runs) == ("paid", 1)
        assert [each.code for each in response.warnings] == ["exchanges_left_out"]


def test_stream_is_read_on_the_history_of_its_first_read():
    llm = scripted(calls("pay"), "one", "two")
    session = llm.session(tools=[Payments().pay])
    early, late = session.stream("early"), session.stream("late")
    call = session.ask("go").tool_calls[0]
    with pytest.raises(InvalidInputError, match="calls of tools have no result yet"):
        early.read()
    session.add(call.result("done"))
    session.ask()
    with late:
        assert "".join(late.text()) == "two"
    assert [check_pairs(each.messages) for each in llm.calls] == [()] * 3
    assert texts(session)[-2:] == ["late", "two"]


def test_resumed_stream_replaces_no_other_exchange():
    llm = scripted("first", calls("pay"), "paid")
    session = llm.session(tools=[Payments().pay], run_tools=ToolPolicy(approve=lambda pending: Suspend()))
    session.ask("keep me")
    stream = session.resume([each.allow() for each in session.ask("pay").pending], stream=True)
    session.undo()
    with pytest.raises(InvalidInputError, match="no tool loop"):
        stream.read()
    assert texts(session) == ["keep me", "first"]


def test_call_that_is_cancelled_while_its_answer_is_written_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    entered, go, is_cancelled = threading.Event(), threading.Event(), threading.Event()
    write = SessionFile.write

    def slow(file: SessionFile, *arguments: Any, **options: Any) -> None:
        entered.set()
        assert go.wait(PATIENCE_SECONDS)
        write(file, *arguments, **options)

    def release() -> None:
        assert is_cancelled.wait(PATIENCE_SECONDS)
        go.set()

    async def main() -> None:
        task = asyncio.create_task(session.aask("first"))
        assert await asyncio.to_thread(entered.wait, PATIENCE_SECONDS)
        task.cancel()
        is_cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await session.aask("second")).content == "two"

    path = tmp_path / "talk.session"
    monkeypatch.setattr(SessionFile, "write", slow)
    thread = threading.Thread(target=release)
    thread.start()
    with Session.open(path, scripted("one", "two")) as session:
        asyncio.run(main())
    thread.join()
    with Session.open(path, scripted()) as again:
        assert texts(again) == ["first", "one", "second", "two"]


def test_fork_learns_nothing_from_the_calls_of_the_original():
    session = scripted("one", "two").session()
    fork = session.fork()
    before = fork.estimated_tokens
    session.ask("a question of the original " * 20)
    assert fork.estimated_tokens == before == 0


def test_other_model_of_a_session_must_be_an_llm():
    session: Any = scripted("one").session()
    with pytest.raises(InvalidInputError, match="expected an LLM, got 'openai'"):
        session.with_llm("openai")


@pytest.mark.parametrize("prompt", ["", "\ud800"])
def test_system_prompt_that_no_call_can_send_is_refused_at_once(prompt: str):
    with pytest.raises(InvalidInputError, match="system_prompt"):
        scripted("one").session(system_prompt=prompt)


def test_session_that_is_not_to_be_compacted_is_not():
    session = scripted("one", "two").session(compact=None)
    session.ask("a")
    session.ask("b")
    with pytest.raises(InvalidInputError, match="leaves all messages as they are"):
        session.compact(keep=1)
    assert len(session.messages) == 4


def test_compaction_waits_for_the_end_of_a_tool_loop(tmp_path: Path):
    payments = Payments()
    llm = scripted("hello", calls("pay"), "paid")
    policy = ToolPolicy(approve=lambda pending: Suspend())
    with Session.open(tmp_path / "x", llm, tools=[payments.pay], run_tools=policy, compact="drop") as session:
        session.ask("hi")
        pending = session.ask("pay").pending
        with pytest.raises(InvalidInputError, match="calls of tools wait for an answer"):
            session.compact(keep=0)
        assert session.resume([each.allow() for each in pending]).content == "paid"
        assert session.compact(keep=0) != ()
        assert session.messages == ()


def test_compaction_keeps_calls_without_results():
    llm = scripted("hello", calls("pay"))
    session = llm.session(tools=[Payments().pay], compact="drop")
    session.ask("hi")
    session.ask("pay")
    session.compact(keep=0)
    assert texts(session) == ["pay", ""]


def test_tool_of_the_user_may_be_named_recall():
    def recall(what: str) -> str:
        """Recalls."""
        return what

    llm = scripted("yes", facts={"context_tokens": 1000})
    assert llm.session(tools=[recall], run_tools=True).ask("hi").content == "yes"
    assert [tool.name for tool in llm.calls[0].tools] == ["recall"]


def test_summary_may_be_a_system_message():
    llm = scripted("one", "two", "three")
    session = llm.session(system_prompt="Be brief.", compact=lambda messages: [Message.system("They talked.")])
    session.ask("a " * 50)
    session.ask("b " * 50)
    session.compact(keep=1)
    session.ask("c")
    assert [each.text for each in llm.calls[-1].messages if each.role == "system"] == ["Be brief.", "They talked."]


def test_result_that_looks_like_a_handle_is_set_aside_all_the_same():
    (message,) = with_handles([Message.tool("c", "this is set aside: " + "x" * 5000)], can_recall=True)
    assert "recall(" in getattr(message.parts[0], "as_text", "")


@pytest.mark.parametrize("place", ["llm", "session", "call", "options"])
def test_room_for_the_answer_is_kept_wherever_it_was_asked_for(place: str):
    answer: dict[str, Any] = {"max_output_tokens": 900}
    llm = scripted(*["one"] * 4, facts={"context_tokens": 1000}, **(answer if place == "llm" else {}))
    session = llm.session(compact="drop", **(answer if place == "session" else {}))
    request = answer if place == "call" else {"options": answer} if place == "options" else {}
    found = [session.ask("word " * 60, **request).warnings for _ in range(4)]
    assert any(found)
