"""`kill -9` at any moment: the file opens, the last whole exchange is there, and no tool runs twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from abstractcore import Message, ModelReply, OverloadedError, Session, ToolCall, create_llm
from tests.documents import ROOT

pytestmark = pytest.mark.process


@pytest.mark.parametrize("kills", [pytest.param(20, marks=pytest.mark.smoke), 200])
def test_killed_processes_lose_no_exchange_and_repeat_no_tool(tmp_path: Path, kills: int):
    run = subprocess.run(
        [sys.executable, "-m", "tests.core.sessions.crashing_sessions", str(tmp_path), str(kills), str(kills)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == kills
    assert [each for each in found if each["problems"]] == []
    assert found[-1]["exchanges"] > 0
    assert any(each["cut"] for each in found if "cut" in each)


def cut_off(path: Path, log: Path, idempotent: bool = False) -> None:
    """Leaves a session as a crash does whose tool had run, and its result was noted."""
    code = f"""
import os
from pathlib import Path
from abstractcore import Session, create_llm, ModelReply, ToolCall, ScriptExhaustedError

def pay(amount: int) -> str:
    "Pays."
    with open({str(log)!r}, "a") as file:
        file.write("paid\\n")
    return "receipt"

def die(call):
    os._exit(9)

llm = create_llm("scripted", replies=["hi", ModelReply((ToolCall("c", "pay", '{{"amount": 3}}'),)), die])
session = Session.open({str(path)!r}, llm, tools=[pay], run_tools=True)
session.ask("hello")
session.ask("pay 3")
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert run.returncode == 9


def pay(amount: int) -> str:
    """Pays."""
    raise AssertionError("it ran already")


def test_same_question_goes_on_where_the_crash_was(tmp_path: Path):
    path, log = tmp_path / "talk.session", tmp_path / "log"
    cut_off(path, log)
    with Session.open(path, create_llm("scripted", replies=["done"]), tools=[pay], run_tools=True) as session:
        assert session.loop is not None
        assert [message.role for message in session.messages] == ["user", "assistant", "user", "assistant", "tool"]
        assert session.ask("pay 3").content == "done"
        assert [message.role for message in session.messages][-4:] == ["user", "assistant", "tool", "assistant"]
        assert session.loop is None
    with Session.open(path, create_llm("scripted", replies=[]), tools=[pay], run_tools=True) as session:
        assert len(session.exchanges) == 2
        assert session.loop is None
    assert log.read_text() == "paid\n"


def test_other_question_leaves_the_cut_off_one_out(tmp_path: Path):
    path, log = tmp_path / "talk.session", tmp_path / "log"
    cut_off(path, log)
    llm = create_llm("scripted", replies=["other"])
    with Session.open(path, llm, tools=[pay], run_tools=True) as session:
        session.ask("something else")
        assert [message.text for message in session.messages] == ["hello", "hi", "something else", "other"]
        assert [message.text for message in llm.calls[0].messages] == ["hello", "hi", "something else"]
    with Session.open(path, llm, tools=[pay], run_tools=True) as session:
        assert session.loop is None
        assert len(session.messages) == 4


def test_cut_off_question_can_be_undone(tmp_path: Path):
    path, log = tmp_path / "talk.session", tmp_path / "log"
    cut_off(path, log)
    with Session.open(path, create_llm("scripted", replies=[]), tools=[pay], run_tools=True) as session:
        assert session.undo()[0] == Message.user("pay 3")
        assert (session.loop, len(session.messages)) == (None, 2)
    with Session.open(path, create_llm("scripted", replies=[]), tools=[pay], run_tools=True) as session:
        assert session.loop is None


def test_failed_call_with_tools_leaves_no_loop_in_the_file(tmp_path: Path):
    path = tmp_path / "talk.session"

    def look() -> str:
        """Looks."""
        return "seen"

    llm = create_llm("scripted", replies=[ModelReply((ToolCall("c", "look"),)), OverloadedError("no")], max_retries=0)
    with Session.open(path, llm, tools=[look], run_tools=True) as session, pytest.raises(OverloadedError):
        session.ask("look")
    with Session.open(path, llm, tools=[look], run_tools=True) as session:
        assert (session.loop, session.messages) == (None, ())
