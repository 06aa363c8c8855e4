"""Sessions: a call adds its exchange as a whole or not at all, in sync and async code, threads and tasks."""

from __future__ import annotations

import asyncio
import base64
import copy
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Blob,
    CallInterruptedError,
    GenerateResponse,
    ImagePart,
    Interruption,
    InvalidInputError,
    Message,
    ModelReply,
    OverloadedError,
    Price,
    Session,
    SessionBusyError,
    Suspend,
    ToolCall,
    ToolPolicy,
    Usage,
    create_llm,
    tool,
)
from abstractcore.errors import ToolError, UnknownOptionError
from abstractcore.testing import CallStyle

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def scripted(*replies: Any, **options: Any) -> LLM:
    return create_llm("scripted", replies=[*replies], max_retries=0, **options)


def ask(style: CallStyle, session: Session, prompt: str | None = None, **request: Any) -> GenerateResponse[Any]:
    if style.name == "sync":
        return session.ask(prompt, **request)
    return style.run(session.aask(prompt, **request))


def texts(session: Session) -> list[str]:
    return [f"{message.role[0]}:{message.text}" for message in session.messages]


def test_history_is_sent_with_every_question(call_style: CallStyle):
    llm = scripted("one", "two")
    session = llm.session(system_prompt="Be brief.", temperature=0.5)
    ask(call_style, session, "first")
    ask(call_style, session, "second", max_output_tokens=9)
    assert texts(session) == ["u:first", "a:one", "u:second", "a:two"]
    first, second = llm.calls
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert (second.sampling.temperature, second.sampling.max_output_tokens) == (0.5, 9)
    assert second.messages[: len(first.messages)] == first.messages


def test_failed_call_leaves_the_history_as_it_was(call_style: CallStyle):
    session = scripted("one", OverloadedError("no"), "two").session()
    ask(call_style, session, "first")
    with pytest.raises(OverloadedError):
        ask(call_style, session, "second")
    assert texts(session) == ["u:first", "a:one"]
    assert ask(call_style, session, "third").content == "two"


def test_stream_adds_its_exchange_at_its_end_only(call_style: CallStyle):
    session = scripted("one two three", "four").session()
    if call_style.name == "sync":
        with session.stream("left") as left:
            next(iter(left.text()))
        assert session.messages == ()
        with session.stream("first") as whole:
            assert "".join(whole.text()) == "four"
        assert whole.response.content == "four"
    else:
        call_style.run(_read_async(session))
    assert texts(session) == ["u:first", "a:four"]


async def _read_async(session: Session) -> None:
    async with session.astream("left") as left:
        await anext(left.text())
    assert session.messages == ()
    async with session.astream("first") as whole:
        assert "".join([text async for text in whole.text()]) == "four"


def test_partial_answer_is_kept_and_marked_on_request():
    session = scripted("one two three four", "done").session(keep_partial=True)
    with session.stream("left") as left:
        first = next(iter(left.text()))
    assert texts(session) == ["u:left", f"a:{first}"]
    assert session.exchanges[-1].partial
    assert session.exchanges[-1].model == "scripted"
    session.ask("go on")
    assert not session.exchanges[-1].partial


def test_cancelled_task_leaves_the_history_as_it_was():
    async def main() -> None:
        entered = asyncio.Event()

        session = scripted("one").session(tools=[tool(answer_never(entered))], run_tools=True)
        session.add(Message.user("hi"), Message.assistant("ho"))
        llm = scripted(ModelReply((ToolCall("c", "wait"),)), "two")
        waiting = session.with_llm(llm)
        task = asyncio.create_task(waiting.aask("go"))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert texts(session) == ["u:hi", "a:ho"]
        assert (await session.aask("then")).content == "one"

    asyncio.run(main())


def answer_never(entered: asyncio.Event) -> Callable[[], Any]:
    async def wait() -> str:
        """Waits."""
        entered.set()
        await asyncio.Event().wait()
        return ""

    return wait


def test_second_call_at_once_is_refused_in_threads_and_the_first_one_ends():
    inside, go = threading.Event(), threading.Event()

    def reply(call: Any) -> str:
        inside.set()
        assert go.wait(30)
        return "slow"

    session = scripted(reply, "two").session()
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(session.ask("first").content))
    thread.start()
    assert inside.wait(30)
    for attempt in (
        lambda: session.ask("second"),
        lambda: list(session.stream("second")),
        lambda: session.add(Message.user("x")),
        session.undo,
        session.fork,
        session.compact,
        session.clear,
    ):
        with pytest.raises(SessionBusyError, match="a call of this session is running"):
            attempt()
    go.set()
    thread.join()
    assert answers == ["slow"]
    assert texts(session) == ["u:first", "a:slow"]


def test_second_call_at_once_is_refused_in_tasks():
    async def main() -> None:
        entered, go = asyncio.Event(), asyncio.Event()

        async def wait() -> str:
            """Waits."""
            entered.set()
            await go.wait()
            return "done"

        session = scripted(ModelReply((ToolCall("c", "wait"),)), "one").session(tools=[wait], run_tools=True)
        first = asyncio.create_task(session.aask("a"))
        await entered.wait()
        with pytest.raises(SessionBusyError):
            await session.aask("b")
        with pytest.raises(SessionBusyError):
            async with session.astream("b") as stream:
                await stream.read()
        go.set()
        assert (await first).content == "one"
        assert len(session.exchanges) == 1

    asyncio.run(main())


def test_tool_that_asks_its_own_session_is_told_so():
    llm = scripted(ModelReply((ToolCall("c", "again"),)), "done")

    def again() -> str:
        """Asks again."""
        return session.ask("inner").content

    session = llm.session(tools=[again], run_tools=ToolPolicy())
    response = session.ask("outer")
    assert response.tool_steps[0].result.is_error
    assert "a call of this session is running" in response.tool_steps[0].result.as_text


def test_rounds_of_tools_are_one_exchange(call_style: CallStyle):
    llm = scripted(ModelReply((ToolCall("c", "weather", '{"city": "Ulm"}'),)), "sunny in Ulm", "bye")

    def weather(city: str) -> str:
        """Returns the weather."""
        return "sunny"

    session = llm.session(tools=[weather], run_tools=True)
    assert ask(call_style, session, "Ulm?").content == "sunny in Ulm"
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert len(session.exchanges) == 1
    ask(call_style, session, "thanks")
    assert [message.role for message in session.undo()] == ["user", "assistant"]
    assert len(session.undo()) == 4
    with pytest.raises(InvalidInputError, match="no exchange to undo"):
        session.undo()


def test_open_calls_must_have_results_before_the_next_question():
    llm = scripted(ModelReply((ToolCall("c", "weather"),)), "sunny")

    def weather() -> str:
        """Returns the weather."""
        return "sunny"

    session = llm.session(tools=[weather])
    call = session.ask("weather?").tool_calls[0]
    with pytest.raises(InvalidInputError, match="calls of tools have no result yet"):
        session.ask("and?")
    session.add(call.result("sunny"))
    assert session.ask().content == "sunny"
    assert len(session.exchanges) == 1
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]


def test_suspended_loop_is_resumed(call_style: CallStyle):
    llm = scripted(ModelReply((ToolCall("c", "pay"),)), "paid", "later")
    runs: list[str] = []

    def pay() -> str:
        """Pays."""
        runs.append("pay")
        return "done"

    session = llm.session(tools=[pay], run_tools=ToolPolicy(approve=lambda pending: Suspend()))
    response = ask(call_style, session, "pay it")
    assert response.pending
    assert session.loop is not None
    with pytest.raises(InvalidInputError, match="calls of tools wait for an answer"):
        session.ask("hello?")
    answers = [pending.allow() for pending in response.pending]
    done = session.resume(answers) if call_style.name == "sync" else call_style.run(session.aresume(answers))
    assert (done.content, runs, session.loop) == ("paid", ["pay"], None)
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]
    with pytest.raises(InvalidInputError, match="no tool loop"):
        session.resume()


def test_fork_goes_its_own_way_and_other_model_shares_the_history():
    session = scripted("one", "two").session()
    session.ask("first")
    fork = session.fork()
    fork.ask("second")
    assert (len(session.messages), len(fork.messages)) == (2, 4)
    assert fork.id != session.id
    other = session.with_llm(scripted("three"))
    other.ask("third")
    assert session.messages == other.messages
    assert texts(session)[-1] == "a:three"


def test_usage_and_cost_are_sums_and_cached_rate_is_a_share():
    usage = Usage(input=100, output=10, cached=25)
    replies = [ModelReply(Message.assistant("x").parts, usage=usage) for _ in range(2)]
    session = scripted(*replies, price=Price(input=1, output=10)).session()
    session.ask("a")
    session.ask("b")
    assert (session.usage.input, session.usage.total, session.usage.cached_rate) == (200, 220, 0.25)
    assert session.cost.known > 0
    assert session.cost.unknown == 0
    known = session.cost.known
    session.undo()
    assert session.cost.known == known
    assert isinstance(known, Decimal)


def test_typed_answers_and_files_work_as_in_generate(call_style: CallStyle):
    session = scripted("[1, 2]", "ok").session()
    assert ask(call_style, session, "numbers", response_model=list[int]).output == [1, 2]
    ask(call_style, session, "file", media=[Blob.from_bytes(PNG, "image/png")])
    assert isinstance(session.messages[2].parts[0], ImagePart)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"fill": 0}, InvalidInputError, "a share above 0"),
        ({"fill": True}, InvalidInputError, "a share above 0"),
        ({"compact": "shrink"}, InvalidInputError, "is no way to compact"),
        ({"messages": []}, InvalidInputError, "is not an option of every call"),
        ({"system_prompt": 3}, InvalidInputError, "expected a text"),
        ({"temprature": 1}, UnknownOptionError, "temperature"),
    ],
)
def test_bad_options_are_refused_at_once(options: dict[str, Any], error: type[Exception], text: str):
    with pytest.raises(error, match=text):
        scripted("x").session(**options)


def test_messages_cannot_be_passed_to_a_call():
    with pytest.raises(InvalidInputError, match="a session has its own messages"):
        scripted("x").session().ask("hi", messages=[])


def test_history_that_vendors_would_refuse_cannot_be_added():
    session = scripted("x").session(system_prompt="s")
    with pytest.raises(InvalidInputError, match="no call 'z' is in the turn before"):
        session.add(Message.tool("z", "what?"))
    with pytest.raises(InvalidInputError, match="system prompt already"):
        session.add(Message.system("two"))
    assert session.messages == ()


def test_greeting_of_the_assistant_gets_a_message_of_the_user_before_it():
    session = scripted("x").session()
    session.add(Message.assistant("How can I help?"))
    assert [message.role for message in session.messages] == ["user", "assistant"]


def test_mappings_and_responses_can_be_added():
    llm = scripted("x")
    session = llm.session()
    session.add({"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"})
    session.add(Message.user("q"), llm.generate("q"))
    assert texts(session) == ["u:hi", "a:ho", "u:q", "a:x"]
    assert len(session.exchanges) == 2


def test_empty_answer_keeps_neither_question_nor_answer():
    session = scripted(ModelReply((), "content_filter"), "x").session()
    assert session.ask("hi").finish_reason == "content_filter"
    assert session.messages == ()


def test_sessions_are_not_copied():
    with pytest.raises(InvalidInputError, match=r"session\.fork"):
        copy.deepcopy(scripted("x").session())


def test_clear_removes_the_history_and_keeps_what_was_used():
    session = scripted("x", "y").session(system_prompt="s")
    session.ask("hi")
    used = session.usage
    session.clear()
    assert (session.messages, session.usage, session.system_prompt) == ((), used, "s")
    session.clear(keep_system=False)
    assert session.system_prompt is None


def test_error_of_a_tool_that_raises_ends_the_call_and_leaves_the_history():
    llm = scripted(ModelReply((ToolCall("c", "boom"),)), "x")

    @tool(on_error="raise")
    def boom() -> str:
        """Fails."""
        raise ValueError("no")

    session = llm.session(tools=[boom], run_tools=True)
    with pytest.raises((ToolError, ValueError)):
        session.ask("go")
    assert session.messages == ()
    assert session.ask("again").content == "x"


def test_interruption_leaves_the_history_as_it_was():
    interruption = Interruption()

    def stop(call: Any) -> str:
        interruption.set()
        return "late"

    session = scripted(ModelReply((ToolCall("c", "look"),)), stop, "next").session()

    def look() -> str:
        """Looks."""
        interruption.set()
        return "seen"

    with pytest.raises(CallInterruptedError):
        session.ask("go", tools=[look], run_tools=True, interruption=interruption)
    assert session.messages == ()


def test_stream_that_was_never_read_blocks_nothing():
    session = scripted("one", "two").session()
    stream = session.stream("never read")
    session.ask("first")
    with stream:
        assert "".join(stream.text()) == "two"
    assert texts(session) == ["u:first", "a:one", "u:never read", "a:two"]


def test_stream_closed_by_another_thread_ends_the_call():
    inside, go = threading.Event(), threading.Event()

    def slow(call: Any) -> str:
        inside.set()
        assert go.wait(30)
        return "late"

    session = scripted(slow, "next").session()
    stream = session.stream("hi")
    failures: list[BaseException] = []

    def read() -> None:
        try:
            stream.read()
        except BaseException as error:
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    assert inside.wait(30)
    stream.close()
    go.set()
    reader.join()
    assert session.messages == ()
    assert session.ask("again").content == "next"


def test_plan_is_that_of_the_whole_conversation():
    session = scripted("one").session(system_prompt="Be brief.")
    session.ask("first")
    short = session.plan("hi").estimated_input_tokens or 0
    session.add(Message.user("long " * 200), Message.assistant("yes"))
    assert (session.plan("hi").estimated_input_tokens or 0) > short + 100


def test_suspended_loop_is_resumed_as_a_stream():
    def pay() -> str:
        """Pays."""
        return "done"

    llm = scripted(ModelReply((ToolCall("c", "pay"),)), "paid")
    session = llm.session(tools=[pay], run_tools=ToolPolicy(approve=lambda pending: Suspend()))
    pending = session.ask("pay it").pending
    with session.resume([each.allow() for each in pending], stream=True) as stream:
        assert "".join(stream.text()) == "paid"
    assert session.loop is None
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]


def test_suspended_loop_is_left_with_results_of_its_calls():
    def pay() -> str:
        """Pays."""
        return "done"

    llm = scripted(ModelReply((ToolCall("c", "pay"),)), "as you like")
    session = llm.session(tools=[pay], run_tools=ToolPolicy(approve=lambda pending: Suspend()))
    (pending,) = session.ask("pay it").pending
    session.add(pending.call.result("the user stopped it", is_error=True))
    assert session.loop is None
    assert session.ask("something else").content == "as you like"
