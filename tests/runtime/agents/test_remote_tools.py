"""Agents with tools of MCP servers and remote agents: what they wait for is answered in another process, which connects
to the server anew, and a call that a crash has cut off is asked about.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from abstracta2a import A2AAgent
from abstractcore import ModelCall
from abstractcore.client.services import default_services
from abstractcore.schema import JournalEntry
from abstractcore.testing import ScriptedReply, VirtualClock
from abstractruntime import Run, Runtime
from abstractruntime.agents import Agent, LedgerJournal
from tests.plugins.a2a.agents import Helper, helper_app, helper_card, served
from tests.runtime.agents.banking import BANK, banker
from tests.runtime.agents.treasury import results
from tests.runtime.checks import check

pytestmark = pytest.mark.process
Make = Callable[..., Runtime]


@pytest.fixture(autouse=True)
def _no_server_is_left() -> Iterator[None]:
    """The servers of sync calls live until their event loop ends: it is ended after each test."""
    yield
    default_services().sync_runtime.close()


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    return tmp_path / "payments"


@pytest.fixture(params=["stdio", "HTTP"])
def url(request: pytest.FixtureRequest, payments: Path) -> Iterator[str | None]:
    """The address of a server over HTTP; None for one over stdio, which each process starts for itself."""
    if request.param == "stdio":
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, str(BANK), str(payments), str(port)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.communicate()


def lines(payments: Path) -> list[list[str]]:
    """Returns who was paid, how much, and the key of the call, for each payment."""
    return [line.split() for line in payments.read_text().splitlines()] if payments.exists() else []


def work_elsewhere(payments: Path, url: str | None, name: str = "payer") -> int:
    """Works in a process of its own until nothing is due, or it is killed; returns its exit code."""
    database = payments.with_name("runs.db")
    module = [sys.executable, "-m", "tests.runtime.agents.banking"]
    given = [str(database), str(payments), name, *([] if url is None else [url])]
    return subprocess.run([*module, *given], check=False).returncode


def test_call_of_a_server_waits_for_its_approval_and_runs_in_another_process(
    make_runtime: Make, payments: Path, url: str | None
) -> None:
    agent = banker(payments, url)
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Pay!")
    assert work_elsewhere(payments, url) == 0
    (wait,) = run.waits
    assert (wait.reason, wait.call.arguments) == ("approval", {"to": "Ann", "euros": 80})
    assert lines(payments) == []
    wait.allow(by="ann")
    runtime.work()
    assert run.output == "250 | paid Ann"
    assert [line[:2] for line in lines(payments)] == [["Ann", "80"]]
    check(runtime, run.id, agent)


def test_call_of_a_server_that_was_killed_is_asked_about_and_has_its_key_again(
    make_runtime: Make, clock: VirtualClock, payments: Path, url: str | None
) -> None:
    agent = banker(payments, url)
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Pay!")
    runtime.work()
    run.waits[0].allow()
    Path(f"{payments}.kill").touch()
    assert work_elsewhere(payments, url) == -signal.SIGKILL
    ((to, euros, key),) = lines(payments)
    assert (to, euros) == ("Ann", "80")
    clock.advance(31)
    runtime = make_runtime(agent := banker(payments, url))
    runtime.work()
    (wait,) = run.waits
    assert (run.status, wait.reason) == ("waiting", "interrupted")
    assert len(lines(payments)) == 1
    wait.repeat(by="ann")
    runtime.work()
    assert run.output == "250 | paid Ann"
    assert lines(payments) == [["Ann", "80", key], ["Ann", "80", key]]
    check(runtime, run.id, agent)


def test_question_of_a_server_is_answered_in_another_process(
    make_runtime: Make, payments: Path, url: str | None
) -> None:
    agent = banker(payments, url, "cashier")
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Withdraw!")
    runtime.work()
    run.waits[0].allow()
    assert work_elsewhere(payments, url, "cashier") == 0
    for _ in ("first", "again"):  # a server over stdio that is started anew asks again
        for wait in run.waits:
            assert wait.reason == "input"
            wait.respond({"account": "blue"})
        runtime.work()
    assert run.output == "80 from blue"
    check(runtime, run.id, agent)


def test_server_that_is_down_is_tried_again(make_runtime: Make, clock: VirtualClock, payments: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    agent = banker(payments, f"http://127.0.0.1:{port}/mcp")
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Pay!")
    runtime.work()
    assert run.status == "running"
    assert [record.body["error"]["type"] for record in run.ledger() if record.kind == "retry"] == ["ToolServerError"]


def asks_helper(call: ModelCall) -> ScriptedReply | str:
    """Gives the remote agent a task, and answers with the result."""
    return " | ".join(results(call)) or ScriptedReply.tool_call("Helper_Agent", {"message": "ask"})


@pytest.fixture
def helper() -> Iterator[tuple[str, Helper]]:
    """A remote agent, and its address."""
    helper = Helper()
    with served(lambda url: helper_app(helper_card(url), helper)) as url:
        yield url, helper


def of_helper(url: str) -> Agent:
    return Agent("asker", model="scripted", replies=asks_helper, max_retries=0, tools=[A2AAgent(url)])


def begun(runtime: Runtime, agent: Agent) -> Run:
    """Returns a run whose first call is allowed."""
    run = runtime.start(agent, "Ask!")
    runtime.work()
    assert [wait.reason for wait in run.waits] == ["approval"]
    run.waits[0].allow()
    return run


def test_question_of_a_remote_agent_is_a_wait(make_runtime: Make, helper: tuple[str, Helper]) -> None:
    url, remote = helper
    runtime = make_runtime(first := of_helper(url))
    run = begun(runtime, first)
    runtime.work()
    (wait,) = run.waits
    assert wait.reason == "input"
    default_services().sync_runtime.close()  # and with it the connection
    runtime = make_runtime(agent := of_helper(url))
    wait.respond({"answer": "the red one"})
    runtime.work()
    assert run.output.startswith("You said: the red one")
    assert remote.asked == ["ask", "the red one"]
    check(runtime, run.id, agent)


class Stopped(BaseException):
    """Ends a worker as a crash does."""


def test_task_of_a_remote_agent_that_was_cut_off_is_asked_about(
    make_runtime: Make, clock: VirtualClock, helper: tuple[str, Helper], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, remote = helper
    runtime = make_runtime(agent := of_helper(url))
    run = begun(runtime, agent)

    def dies(journal: LedgerJournal, entry: JournalEntry) -> None:
        if remote.asked:
            raise Stopped
        append(journal, entry)

    append = LedgerJournal.append
    monkeypatch.setattr(LedgerJournal, "append", dies)
    with pytest.raises(Stopped):
        runtime.work()
    monkeypatch.undo()
    clock.advance(31)
    runtime = make_runtime(agent := of_helper(url))
    runtime.work()
    assert ([wait.reason for wait in run.waits], remote.asked) == (["interrupted"], ["ask"])
    run.waits[0].result("the red one")
    runtime.work()
    assert (run.output, remote.asked) == ("the red one", ["ask"])
    check(runtime, run.id, agent)
