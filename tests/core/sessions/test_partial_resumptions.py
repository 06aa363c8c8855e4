"""`keep_partial` of a tool loop that is resumed, and sums of sessions that no answer may lose."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    ModelReply,
    Price,
    ResponseCache,
    ServerError,
    Session,
    Suspend,
    ToolCall,
    ToolPolicy,
    create_llm,
)
from abstractcore.schema import CostSums, ToolEnded, Usage
from abstractcore.sessions import SessionSummary

CALLS = ModelReply((ToolCall("c", "pay"),), usage=Usage(input=100, output=10))


def scripted(*replies: Any, **options: Any) -> LLM:
    price = Price(input=1, output=2)
    return create_llm("scripted", replies=[*replies], max_retries=0, price=price, **options)


class Payments:
    """A tool that counts its runs, and waits for approval."""

    def __init__(self, *, keep_partial: bool = True) -> None:
        self.runs = 0
        policy = ToolPolicy(approve=lambda pending: Suspend())
        self.options: dict[str, Any] = {"tools": [self.pay], "run_tools": policy, "keep_partial": keep_partial}

    def pay(self) -> str:
        """Pays."""
        self.runs += 1
        return "done"


def resume(session: Session, how: str) -> None:
    """Resumes the loop of a session, which fails, or is left after so much has arrived."""
    assert session.loop is not None
    answers = [pending.allow() for pending in session.loop.pending]
    if how == "failed":
        with pytest.raises(ServerError):
            session.resume(answers)
        return
    with session.resume(answers, stream=True) as stream:
        if how == "left in its text":
            next(iter(stream.text()))
        elif how == "left after its tools":
            assert any(isinstance(event, ToolEnded) for event in stream)


@pytest.mark.parametrize(
    ("how", "arrived"),
    [("failed", ["tool"]), ("left after its tools", ["tool"]), ("left in its text", ["tool", "assistant"])],
)
@pytest.mark.parametrize("is_stored", [False, True])
def test_what_arrived_of_a_resumed_loop_is_kept(tmp_path: Path, how: str, arrived: list[str], is_stored: bool):
    payments = Payments()
    llm = scripted("hi", CALLS, ServerError("down", status=500) if how == "failed" else "It is paid now.")
    path = tmp_path / "talk.session"
    session = Session.open(path, llm, **payments.options) if is_stored else llm.session(**payments.options)
    with session:
        session.ask("hello")
        assert session.ask("pay it").pending
        spent = session.cost.known + session.cost.estimated
        resume(session, how)
        assert [each.role for each in session.messages[2:]] == ["user", "assistant", *arrived]
        assert (session.exchanges[-1].partial, session.loop, payments.runs) == (True, None, 1)
        assert session.usage.input is not None
        assert session.usage.input >= 100
        assert session.cost.known + session.cost.estimated >= spent
        kept = session.messages, session.usage, session.cost
    if is_stored:
        with Session.open(path, scripted("next"), **payments.options) as session:
            assert (session.messages, session.usage, session.cost, session.loop) == (*kept, None)
            assert (session.ask("again").content, payments.runs) == ("next", 1)


@pytest.mark.parametrize(
    ("keep_partial", "how"),
    [(True, "not read"), (False, "not read"), (False, "failed"), (False, "left in its text")],
)
@pytest.mark.parametrize("is_stored", [False, True])
def test_loop_of_which_nothing_is_kept_can_be_resumed_again(
    tmp_path: Path, keep_partial: bool, how: str, is_stored: bool
):
    payments = Payments(keep_partial=keep_partial)
    failing = [] if how == "not read" else [ServerError("down", status=500) if how == "failed" else "It is paid."]
    llm = scripted(CALLS, *failing, "Paid.")
    path = tmp_path / "talk.session"
    session = Session.open(path, llm, **payments.options) if is_stored else llm.session(**payments.options)
    with session:
        session.ask("pay it")
        before = session.messages, session.usage, session.cost
        resume(session, how)
        assert (session.messages, session.usage, session.cost) == before
        assert session.loop is not None
        assert session.resume([each.allow() for each in session.loop.pending]).content == "Paid."


def test_answers_of_a_cache_are_summed_as_saved(tmp_path: Path):
    path = tmp_path / "talk.session"
    llm = scripted("one", "two", middleware=[ResponseCache(None, ttl=3600)])
    cost = llm.generate("hi").cost
    assert cost is not None
    with Session.open(path, llm) as session:
        session.ask("hi")
        session.ask("other")
        sums = session.cost
        assert (sums.saved, session.exchanges[0].saved_cost, session.exchanges[1].saved_cost) == (cost, cost, None)
        assert sums.known > 0
        session.save(tmp_path / "talk.json")
        session.undo()
        session.undo()
        assert session.cost == sums
    assert SessionSummary.read(path).cost == sums
    assert Session.load(tmp_path / "talk.json", llm).cost == sums
    with Session.open(path, llm) as session:
        assert session.cost == sums


def test_costs_of_summaries_are_in_the_sum(tmp_path: Path):
    path = tmp_path / "talk.session"
    llm = scripted(*["a long answer " * 50] * 9)
    with Session.open(path, llm) as session:
        for _ in range(5):
            session.ask("a long question " * 50)
        before = session.cost
        session.compact(keep=1)
        sums = session.cost
        assert sums.known > before.known
        assert sums == sums.without(before) + before
    with Session.open(path, llm) as session:
        assert session.cost == sums
    assert CostSums(Decimal(3), Decimal(2), 1, Decimal(1)).without(CostSums(Decimal(1))).known == 2
