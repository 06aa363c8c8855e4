"""Sessions: messages that wait in an inbox, and runs that answer them one after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from abstractcore import ModelCall
from abstractcore.errors import InvalidInputError
from abstractcore.testing import ScriptedReply
from abstractruntime import Runtime
from abstractruntime.agents import Agent, Session, ask_user
from tests.runtime.agents.treasury import results
from tests.runtime.checks import check

Make = Callable[..., Runtime]


def remembers(call: ModelCall) -> str:
    """Answers with all that was said."""
    return " / ".join(message.text for message in call.messages)


def test_wake_answers_one_message_with_those_before_it(make_runtime: Make) -> None:
    agent = Agent("echo", model="scripted", replies=remembers)
    runtime = make_runtime(agent)
    session = Session(runtime, agent, "ann")
    assert session.wake() is None
    assert session.send("one", id="mail-1").state == "kept"
    assert session.send("one", id="mail-1").state == "repeated"
    session.send("two")
    first = session.wake()
    assert first is not None
    again = session.wake()
    assert (again and again.id, first.info.session) == (first.id, "ann")
    runtime.work()
    second = Session(make_runtime(agent), agent, "ann").wake()
    runtime.work()
    assert second is not None
    assert (first.output, second.output) == ("one", "one / one / two")
    assert session.wake() is None
    assert session.messages == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "one / one / two"},
    ]
    check(runtime, second.id, agent)


def test_wake_that_waits_is_the_current_run(make_runtime: Make) -> None:
    def asks(call: ModelCall) -> ScriptedReply | str:
        return results(call)[-1] if results(call) else ScriptedReply.tool_call("ask_user", {"question": "Which day?"})

    agent = Agent("asks", model="scripted", replies=asks, tools=[ask_user])
    runtime = make_runtime(agent)
    session = Session(runtime, agent, "ann")
    session.send("one")
    session.send("two")
    run = session.wake()
    runtime.work()
    again = session.wake()
    assert run is not None
    assert again is not None
    assert (again.id, run.status) == (run.id, "waiting")
    run.waits[0].answer("Friday")
    runtime.work()
    following = session.wake()
    assert following is not None
    assert following.id != run.id


def test_exchange_that_failed_is_left_out(make_runtime: Make) -> None:
    def fails(call: ModelCall) -> str | Exception:
        return InvalidInputError("no") if call.messages[-1].text == "two" else remembers(call)

    agent = Agent("fails", model="scripted", replies=fails)
    runtime = make_runtime(agent)
    session = Session(runtime, agent, "ann")
    for text in ("one", "two", "three"):
        session.send(text)
        session.wake()
        runtime.work()
    run = runtime.run("session:ann/2")
    assert run.output == "one / one / three"


def test_sessions_do_not_hear_each_other(make_runtime: Make) -> None:
    agent = Agent("echo", model="scripted", replies=remembers)
    runtime = make_runtime(agent)
    ann, bob = (Session(runtime, agent, name) for name in ("ann", "bob"))
    ann.send("for Ann")
    assert bob.wake() is None
    runtime.start(agent, "hello", session="ann", id="session:ann/by hand")
    assert ann.wake() is not None
    runtime.work()
    assert [message["content"] for message in ann.messages] == ["for Ann", "for Ann"]


def test_session_that_many_wake_at_once_has_one_run(make_runtime: Make) -> None:
    agent = Agent("echo", model="scripted", replies=remembers)
    sessions = [Session(make_runtime(agent), agent, "ann") for _ in range(6)]
    sessions[0].send("one")
    with ThreadPoolExecutor(len(sessions)) as threads:
        woken = [*threads.map(lambda session: session.wake(), sessions)]
    assert {run.id for run in woken if run is not None} == {"session:ann/0"}
