"""Replies that a loop must not take at their word, tools with its own names, and what `resume` refuses."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    FinishReason,
    InvalidInputError,
    Message,
    Part,
    Services,
    Suspend,
    TextPart,
    ToolCall,
    ToolContext,
    ToolEvent,
    ToolPolicy,
    ToolSpec,
    create_llm,
    tool,
)
from abstractcore.ports.scripts import Piece
from abstractcore.stores.artifacts import FileArtifactStore
from abstractcore.testing import ScriptedReply
from tests.core.tools.loops import Way, calls, scripted


@tool
def echo(text: str = "nothing") -> str:
    """Repeats a text."""
    return text


def reply(*parts: Part, ended: FinishReason | None = None) -> ScriptedReply:
    return ScriptedReply(tuple(map(Piece, parts)), finish_reason=ended)


def echoed(text: str, id: str = "") -> ToolCall:
    return ToolCall.of(id, "echo", {"text": text})


def outcomes(response: Any) -> list[str]:
    return [step.outcome for step in response.tool_steps]


def texts(response: Any) -> list[str]:
    return [step.result.as_text for step in response.tool_steps]


def test_the_last_call_of_a_reply_that_was_cut_off_is_not_run(way: Way):
    llm = scripted(reply(echoed("whole"), echoed("cut"), ended="length"), "Done.")
    response = way.generate(llm, tools=[echo], run_tools=True)
    assert outcomes(response) == ["done", "not_run"]
    assert texts(response)[1] == "not run: the reply ended at its limit of tokens, so that the call may be incomplete"


def test_a_call_before_the_text_that_was_cut_off_is_run(way: Way):
    llm = scripted(reply(echoed("whole"), TextPart("And so"), ended="length"), "Done.")
    assert outcomes(way.generate(llm, tools=[echo], run_tools=True)) == ["done"]


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "error"])
def test_calls_of_a_reply_that_was_stopped_are_not_run(way: Way, reason: FinishReason):
    llm = scripted(reply(echoed("no"), ended=reason), "Done.")
    response = way.generate(llm, tools=[echo], run_tools=True)
    assert outcomes(response) == ["not_run"]
    assert (response.finish_reason, len(llm.calls)) == (reason, 1)
    assert [message.role for message in response.messages] == ["assistant", "tool"]


def test_calls_are_not_run_where_the_tool_choice_forbids_them(way: Way):
    llm = scripted(calls(("echo", {})), "Done.")
    response = way.generate(llm, tools=[echo], run_tools=True, tool_choice="none")
    assert texts(response) == ["not run: this conversation does not allow tool calls"]


def test_calls_with_equal_ids_get_their_own_results(way: Way):
    first = reply(echoed("one", "same"), echoed("two", "same"))
    llm = scripted(first, reply(echoed("three", "same")), "Done.")
    response = way.generate(llm, tools=[echo], run_tools=True)
    assert texts(response) == ["one", "two", "three"]
    sent = [part for message in llm.calls[-1].messages for part in message.parts]
    ids = [part.id for part in sent if isinstance(part, ToolCall)]
    assert ids == ["same", "call_0_1", "call_1_0"]
    assert [step.result.call_id for step in response.tool_steps] == ids


def test_a_tool_of_the_user_named_as_one_of_the_loop_is_called_and_asks_for_approval(way: Way):
    asked: list[str] = []

    def approve(pending: Any) -> bool:
        asked.append(pending.call.name)
        return True

    mine = tool(name="search_tools")(echo.function)
    llm = scripted(calls(("search_tools", {"text": "mine"})), "Done.")
    response = way.generate(llm, tools=[mine], run_tools=ToolPolicy(approve=approve))
    assert (texts(response), asked) == (["mine"], ["search_tools"])


@pytest.mark.parametrize(("name", "defer"), [("read_result", False), ("search_tools", True)])
def test_names_of_tools_that_the_loop_may_add_are_refused_before_the_call(name: str, defer: bool):
    llm = scripted("Done.")
    mine, other = tool(name=name)(echo.function), tool(name="other", defer=defer)(echo.function)
    with pytest.raises(InvalidInputError, match="is the name of a tool of the loop itself") as caught:
        llm.generate("Go.", tools=[mine, other], run_tools=True)
    assert caught.value.path == "tools[0].name"
    assert list(llm.calls) == []


def test_a_response_among_messages_stands_for_all_its_rounds(way: Way):
    llm = scripted(calls(("echo", {"text": "Oslo"})), "Rain.", "Yes.")
    question = Message.user("Umbrella?")
    first = way.generate(llm, messages=[question], tools=[echo], run_tools=True)
    way.generate(llm, "Sure?", messages=[question, Message.user("Go."), first], tools=[echo])
    expected = [question, Message.user("Go."), *first.messages, Message.user("Sure?")]
    assert list(llm.calls[-1].messages) == expected
    assert [message.role for message in expected] == ["user", "user", "assistant", "tool", "assistant", "user"]


def test_a_long_result_from_elsewhere_is_shortened(way: Way, tmp_path: Path):
    spec = ToolSpec("elsewhere", "Runs elsewhere.", {"type": "object", "properties": {}})
    services = Services(artifacts=FileArtifactStore(tmp_path))
    llm = create_llm("scripted", replies=[calls(("elsewhere", {})), "Done."], services=services)
    loop: Any = way.generate(llm, tools=[spec], run_tools=True).loop
    policy = ToolPolicy(max_result=1000)
    response = way.resume(llm, loop, [loop.pending[0].result("x" * 5000)], tools=[spec], run_tools=policy)
    assert len(texts(response)[0]) < 1300
    assert response.tool_steps[0].artifact is not None


def test_a_long_result_that_cannot_be_stored_is_shortened_with_a_warning(way: Way, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")

    @tool
    def read() -> str:
        """Reads."""
        return "x" * 5000

    services = Services(artifacts=FileArtifactStore(tmp_path / "file"))
    llm = create_llm("scripted", replies=[calls(("read", {})), "Done."], services=services)
    response = way.generate(llm, tools=[read], run_tools=ToolPolicy(max_result=1000))
    (step,) = response.tool_steps
    assert (step.outcome, step.artifact) == ("done", None)
    assert [warning.code for warning in step.warnings] == ["result_not_stored"]
    assert "4,000 of 5,000 characters left out here.]" in step.result.as_text
    assert [spec.name for spec in llm.calls[1].tools] == ["read"]


def test_progress_after_the_time_limit_of_a_tool_is_no_event(way: Way):
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    @tool(timeout=0.05)
    def slow(context: ToolContext[None]) -> str:
        """Runs on after its time limit."""
        started.set()
        release.wait(30)
        context.progress(1)
        ended.set()
        return "late"

    events: list[ToolEvent] = []
    llm = scripted(calls(("slow", {})), "Done.")
    response = way.generate(llm, tools=[slow], run_tools=ToolPolicy(on_event=events.append))
    release.set()
    # On a busy machine the limit can pass before a thread is free: the function is not called then.
    assert not started.is_set() or ended.wait(30)
    assert outcomes(response) == ["timed_out"]
    assert [event.type for event in events] == ["tool_started", "tool_ended"]


def test_the_repr_of_a_context_does_not_show_deps(way: Way):
    @tool
    def careless(context: ToolContext[str]) -> str:
        """Shows its context to the model."""
        return repr(context)

    llm = scripted(calls(("careless", {})), "Done.")
    response = way.generate(llm, tools=[careless], run_tools=True, deps="the caller's own")
    assert "the caller's own" not in texts(response)[0]


@pytest.mark.parametrize("run_tools", [False, None, 0])
def test_resume_needs_a_policy(way: Way, run_tools: Any):
    llm = scripted(calls(("echo", {})), "Done.")
    loop: Any = way.generate(llm, tools=[echo], run_tools=ToolPolicy(approve=lambda pending: Suspend())).loop
    with pytest.raises(InvalidInputError, match="a ToolPolicy") as caught:
        way.resume(llm, loop, [loop.pending[0].allow()], tools=[echo], run_tools=run_tools)
    assert caught.value.path == "run_tools"


def test_on_event_must_not_be_async():
    async def note(event: ToolEvent) -> None:
        """Would never be awaited."""

    with pytest.raises(InvalidInputError, match="a function that is not async"):
        ToolPolicy(on_event=note)
