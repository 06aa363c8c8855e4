"""Agents: approvals, answers that do not fit, failures, crashes, and what a run records of them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import (
    BadRequestError,
    ModelCall,
    OverloadedError,
    PendingCall,
    ToolContext,
    ToolPolicy,
    create_llm,
    from_json,
    subscribe,
    to_json,
    tool,
)
from abstractcore.errors import ConfigurationError, InvalidInputError
from abstractcore.ports import Interruption
from abstractcore.schema import CallRecord, Usage
from abstractcore.testing import ScriptedReply, VirtualClock
from abstractruntime import Limits, NotWaitingError, Record, Run, Runtime, RunWait, json_documents
from abstractruntime.agents import Agent, journal
from abstractruntime.json_documents import member
from abstractruntime.store import reading
from tests.runtime.agents.treasury import paid, pays_once, pays_twice, results, treasurer
from tests.runtime.checks import check

Make = Callable[..., Runtime]
ALL_RUN = ToolPolicy(approve=lambda pending: True)


class Stopped(BaseException):
    """Stops a worker, as Ctrl-C does."""


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    return tmp_path / "payments"


def work(runtime: Runtime) -> None:
    """Works in a thread of its own, as a sync worker does."""
    runtime.work(until="idle")


def work_in_loop(runtime: Runtime) -> None:
    """Works in an event loop."""
    asyncio.run(runtime.worker().run(until="idle"))


@pytest.mark.parametrize("work", [work, work_in_loop])
def test_payment_waits_for_its_approval(
    make_runtime: Make, clock: VirtualClock, payments: Path, work: Callable[[Runtime], None]
) -> None:
    agent = treasurer(payments)
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Pay Ann 80 euros.", id="invoice-17")
    work(runtime)
    (wait,) = runtime.run("invoice-17").waits
    assert (run.status, wait.reason, wait.call.arguments) == ("waiting", "approval", {"to": "Ann", "euros": 80})
    assert paid(payments) == []
    clock.advance(21 * 86_400)
    runtime = make_runtime(agent := treasurer(payments))
    wait.allow(by="ann")
    work(runtime)
    assert runtime.run("invoice-17").wait_for_output(timeout=0) == "250 | paid Ann"
    assert paid(payments) == ["Ann 80"]
    assert [each.body["item"].get("sender") for each in run.ledger() if each.kind == "step"] == [
        None,
        None,
        "ann",
        None,
    ]
    check(runtime, run.id, agent)


def started(make_runtime: Make, agent: Agent, **options: Any) -> tuple[Runtime, Run]:
    """Returns a run that has begun, and its runtime."""
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Pay!", **options)
    runtime.work()
    return runtime, run


def of_each(run: Run) -> list[RunWait]:
    """Returns the waits of payments, by who is paid."""
    return sorted(run.waits, key=lambda wait: wait.call.arguments["to"])


def test_denied_payment_is_not_made(make_runtime: Make, payments: Path) -> None:
    runtime, run = started(make_runtime, treasurer(payments))
    run.waits[0].deny("not this month", by="bob")
    runtime.work()
    assert (run.output, paid(payments)) == ("250 | not run: denied: not this month", [])


def test_each_of_many_answers_reads_as_few_records(
    make_runtime: Make, payments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 24
    read: list[int] = []

    def pays_many(call: ModelCall) -> ScriptedReply | str:
        done = len(results(call))
        return "done" if done == many else ScriptedReply.tool_call("pay", {"to": "Ann", "euros": done})

    def counted(row: Any, artifact: Any) -> Record:
        read[-1] += 1
        return record(row, artifact)

    policy = ToolPolicy(max_rounds=many + 1)
    record = reading.record
    monkeypatch.setattr(reading, "record", counted)
    read.append(0)
    runtime, run = started(make_runtime, agent := treasurer(payments, pays_many, policy=policy))
    for _ in range(many):
        read.append(0)
        run.waits[0].allow()
        runtime.work()
    assert (run.output, len(paid(payments))) == ("done", many)
    most = max(read)
    events = [each.body["entry"]["kind"] for each in run.ledger() if each.kind == "journal"]
    assert len(events) > 6 * many
    assert most < 100, "an answer reads what follows the last snapshot"
    assert 3 <= events.count("start") <= 5
    check(runtime, run.id, agent)


def approved(make_runtime: Make, payments: Path, to: Callable[[int], str]) -> tuple[Runtime, Run]:
    """Returns an ended run of four payments, each approved, whose journal has snapshots after four events."""

    def pays(call: ModelCall) -> ScriptedReply | str:
        done = len(results(call))
        return "done" if done == 4 else ScriptedReply.tool_call("pay", {"to": to(done), "euros": done})

    runtime, run = started(make_runtime, agent := treasurer(payments, pays))
    while run.waits:
        run.waits[0].allow()
        runtime.work()
    assert (run.output, len(paid(payments))) == ("done", 4)
    check(runtime, run.id, agent)
    return runtime, run


def beginnings(run: Run) -> list[Record]:
    """Returns the records of a journal from which a loop can be continued."""
    events = (each for each in run.ledger() if each.kind == "journal")
    return [each for each in events if member(member(each.body, "entry"), "kind") == "start"]


def test_loop_that_is_longer_than_a_value_goes_on_without_snapshots(
    make_runtime: Make, payments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_MOST_EVENTS", 4)
    monkeypatch.setattr(json_documents, "MAX_BYTES", 12_000)
    _, run = approved(make_runtime, payments, lambda number: f"{number}" * 4000)
    assert len(beginnings(run)) == 2, "one that fits, after that of the loop"


def test_redaction_deletes_what_snapshots_repeat(
    make_runtime: Make, payments: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(journal, "_MOST_EVENTS", 4)
    _, run = approved(make_runtime, payments, lambda number: "Ann's secret" if number == 0 else "Bob")
    first, *snapshots = beginnings(run)
    assert snapshots, "the last one has all payments before it"
    having = [each.seq for each in run.ledger() if "Ann's secret" in json.dumps(each.body)]
    kept = [seq for seq in having if seq not in {each.seq for each in snapshots}]
    assert run.redact(kept[0], by="ann")
    left = [each.seq for each in run.ledger() if "Ann's secret" in json.dumps(each.body)]
    assert left == kept[1:]
    assert [each.body["seq"] for each in run.ledger() if each.kind == "redacted"] == [
        kept[0], *(each.seq for each in snapshots)
    ]  # fmt: skip
    assert [each.seq for each in beginnings(run)] == [first.seq]
    assert run.verify().ok
    run.export(tmp_path / "run.zip")


def test_edited_payment_is_made_as_edited(make_runtime: Make, payments: Path) -> None:
    runtime, run = started(make_runtime, treasurer(payments))
    run.waits[0].edit({"to": "Ann", "euros": 8})
    runtime.work()
    assert (run.output, paid(payments)) == ("250 | paid Ann", ["Ann 8"])


def test_allowed_call_runs_while_another_one_waits(make_runtime: Make, payments: Path) -> None:
    runtime, run = started(make_runtime, agent := treasurer(payments, pays_twice))
    ann, bob = of_each(run)
    ann.allow()
    runtime.work()
    assert (run.status, paid(payments)) == ("waiting", ["Ann 80"])
    (left,) = run.waits
    assert (left.key, left.opened) == (bob.key, bob.opened)
    with pytest.raises(NotWaitingError, match="does not wait"):
        ann.allow()
    bob.deny("later")
    runtime.work()
    assert run.output == "250 | paid Ann | not run: denied: later"
    check(runtime, run.id, agent)


def test_answers_that_come_together_are_all_applied(make_runtime: Make, payments: Path) -> None:
    runtime, run = started(make_runtime, agent := treasurer(payments, pays_twice))
    for wait in run.waits:
        wait.allow()
    runtime.work()
    assert run.output == "250 | paid Ann | paid Bob"
    assert sorted(paid(payments)) == ["Ann 80", "Bob 80"]
    check(runtime, run.id, agent)


def test_answer_that_does_not_fit_is_refused_and_the_run_waits_on(make_runtime: Make, payments: Path) -> None:
    runtime, run = started(make_runtime, agent := treasurer(payments, pays_twice))
    ann, bob = of_each(run)
    other = from_json(json.dumps(bob.asked["pending"]), PendingCall).allow()
    wrong: list[Any] = [
        None,
        "yes",
        {"answer": {"type": "tool_answer"}},
        {"answer": json.loads(to_json(other))},
    ]
    for index, payload in enumerate(wrong):
        ann.answer(payload, id=f"wrong-{index}")
    runtime.work()
    assert ([wait.key for wait in of_each(run)], paid(payments)) == ([ann.key, bob.key], [])
    outcomes = {row.id: (row.state, row.outcome) for row in runtime.store.inbox(run.id)}
    assert {outcomes[f"wrong-{index}"][0] for index in range(4)} == {"refused"}
    assert "expected {'answer': ...} with the answer to a tool call" in outcomes["wrong-1"][1]
    assert outcomes["wrong-3"][1] == "payload.answer.digest: it is the answer to another call"
    for wait in run.waits:
        wait.allow()
    runtime.work()
    assert run.status == "completed"
    check(runtime, run.id, agent)


def test_output_has_the_requested_type(make_runtime: Make) -> None:
    class Invoice(BaseModel):
        number: int
        total: Decimal

    agent = Agent("reader", model="scripted", replies=['{"number": 7, "total": "9.50"}'], response_model=Invoice)
    _, run = started(make_runtime, agent)
    assert run.output == {"number": 7, "total": "9.50"}


def test_output_is_the_data_of_a_final_tool(make_runtime: Make) -> None:
    class Verdict(BaseModel):
        guilty: bool

    replies = [ScriptedReply.tool_call("Verdict", {"guilty": False})]
    agent = Agent("judge", model="scripted", replies=replies, tools=[Verdict], policy=ALL_RUN)
    _, run = started(make_runtime, agent)
    assert run.output == {"guilty": False}


def test_records_of_calls_name_the_run(make_runtime: Make, payments: Path) -> None:
    records: list[CallRecord] = []
    with subscribe(records.append) as subscription:
        runtime, run = started(make_runtime, treasurer(payments), id="a", session="s")
        run.waits[0].allow()
        runtime.work()
        subscription.flush()
    assert [record.tags for record in records] == [{"run": "a", "program": "treasurer@1", "session": "s"}] * 3


def test_limits_of_an_agent_hold_for_runs_that_are_started_without_others(make_runtime: Make, payments: Path) -> None:
    agent = treasurer(payments, limits=Limits(steps=2))
    runtime, run = started(make_runtime, agent)
    run.waits[0].allow()
    runtime.work()
    assert (run.status, run.error["type"], paid(payments)) == ("failed", "LimitReached", [])
    assert runtime.start(agent, "Pay!", limits=Limits(tokens=9)).info.limits == Limits(tokens=9)


def test_tokens_of_each_turn_are_counted_once(make_runtime: Make, payments: Path) -> None:
    def replies(call: Any) -> ScriptedReply:
        usage = Usage(input=10, output=1)
        if results(call):
            return ScriptedReply.text("done", usage=usage)
        return ScriptedReply.tool_call("pay", {"to": "Ann", "euros": 80}, usage=usage)

    runtime, run = started(make_runtime, treasurer(payments, replies))
    assert run.info.spent.tokens == 11
    run.waits[0].allow()
    runtime.work()
    assert (run.status, run.info.spent.tokens) == ("completed", 22)


def test_input_is_a_text_or_has_a_prompt(make_runtime: Make) -> None:
    agent = Agent("echo", model="scripted", replies=lambda call: call.messages[-1].text, system="Repeat.")
    runtime = make_runtime(agent)
    runs = [runtime.start(agent, given) for given in ("hello", {"prompt": "hello"}, 7)]
    runtime.work()
    assert [run.output for run in runs] == ["hello", "hello", None]
    assert runs[2].error["message"] == "expected a prompt, as text or as {'prompt': ...}, got int"


def test_approver_of_a_policy_decides_what_runs_without_an_approval(make_runtime: Make, payments: Path) -> None:
    _, run = started(make_runtime, treasurer(payments, policy=ALL_RUN))
    assert (run.output, paid(payments)) == ("250 | paid Ann", ["Ann 80"])


def test_policy_without_an_approver_lets_nothing_run_that_waits_without_it(make_runtime: Make, payments: Path) -> None:
    runtime, run = started(make_runtime, treasurer(payments, policy=ToolPolicy(max_uses={"pay": 1}, timeout=60)))
    assert ([wait.reason for wait in run.waits], paid(payments)) == (["approval"], [])
    run.waits[0].allow()
    runtime.work()
    assert (run.output, paid(payments)) == ("250 | paid Ann", ["Ann 80"])


def test_policy_with_a_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="the run has the journal"):
        Agent("a", model="scripted", policy=ToolPolicy(journal=tmp_path / "journal"))


def test_loop_without_an_answer_fails_the_run(make_runtime: Make, payments: Path) -> None:
    agent = treasurer(payments, lambda call: ScriptedReply.tool_call("balance", {}), policy=ToolPolicy(max_rounds=2))
    _, run = started(make_runtime, agent)
    assert run.error == {"type": "LoopStopped", "message": "the loop ended without an answer: max_rounds"}


def test_llm_may_be_given(make_runtime: Make) -> None:
    llm = create_llm("scripted", replies=["hello"])
    _, run = started(make_runtime, Agent("greeter", model=llm))
    assert run.output == "hello"


def test_turn_goes_on_after_the_provider_has_failed_for_a_while(
    make_runtime: Make, clock: VirtualClock, payments: Path
) -> None:
    seen: list[str] = []

    def at(point: str) -> None:
        seen.append(point)
        if point == "in model 1" and seen.count(point) < 3:
            raise OverloadedError("busy")

    runtime, run = started(make_runtime, treasurer(payments, at=at))
    for _ in range(2):
        assert (run.status, run.waits) == ("running", [])
        clock.advance(5)
        runtime.work()
    assert run.waits[0].reason == "approval"
    assert seen == ["in model 0", "in balance", *["in model 1"] * 3]


def test_permanent_failure_of_the_provider_fails_the_run(make_runtime: Make) -> None:
    agent = Agent("a", model="scripted", replies=[InvalidInputError("no such model")])
    _, run = started(make_runtime, agent)
    assert (run.status, run.error["type"]) == ("failed", "InvalidInputError")


def stopping(at: str) -> Callable[[str], None]:
    """Returns a function that stops the worker at a point."""

    def reached(point: str) -> None:
        if point == at:
            raise Stopped

    return reached


@pytest.mark.parametrize("point", ["before pay", "after pay"])
def test_payment_that_was_stopped_waits_for_somebody_to_say_whether_it_was_made(
    make_runtime: Make, clock: VirtualClock, payments: Path, point: str
) -> None:
    runtime, run = started(make_runtime, treasurer(payments, at=stopping(point)))
    run.waits[0].allow(by="ann")
    with pytest.raises(Stopped):
        runtime.work()
    clock.advance(31)
    runtime = make_runtime(agent := treasurer(payments))
    runtime.work()
    before = paid(payments)
    (wait,) = run.waits
    assert (wait.reason, wait.call.arguments) == ("interrupted", {"to": "Ann", "euros": 80})
    if before:
        wait.result("was paid", by="ann")
    else:
        wait.repeat(by="ann")
    runtime.work()
    assert run.output == ("250 | was paid" if before else "250 | paid Ann")
    assert paid(payments) == ["Ann 80"]
    check(runtime, run.id, agent)


def test_payment_of_a_worker_that_is_told_to_stop_is_not_guessed(make_runtime: Make, payments: Path) -> None:
    stop, ended = Interruption(), threading.Event()

    def at(point: str) -> None:
        if point == "after pay":
            stop.set()
            ended.wait()

    runtime, run = started(make_runtime, treasurer(payments, at=at))
    run.waits[0].allow()
    asyncio.run(runtime.worker().run(stop=stop, grace=0))
    ended.set()
    runtime = make_runtime(agent := treasurer(payments))
    runtime.work()
    (wait,) = run.waits
    assert (wait.reason, paid(payments)) == ("interrupted", ["Ann 80"])
    wait.result("was paid")
    runtime.work()
    assert run.output == "250 | was paid"
    check(runtime, run.id, agent)


async def allow(pending: PendingCall) -> bool:
    return True


@pytest.mark.parametrize("approve", [lambda pending: True, allow])
def test_no_policy_lets_a_payment_run_again_that_may_have_been_made(
    make_runtime: Make, clock: VirtualClock, payments: Path, approve: Any
) -> None:
    policy = ToolPolicy(approve=approve)
    with pytest.raises(Stopped):
        started(make_runtime, treasurer(payments, at=stopping("after pay"), policy=policy), id="a")
    clock.advance(31)
    runtime = make_runtime(treasurer(payments, policy=policy))
    runtime.work()
    run = runtime.run("a")
    assert ([wait.reason for wait in run.waits], paid(payments)) == (["interrupted"], ["Ann 80"])
    run.waits[0].result("was paid")
    runtime.work()
    assert run.output == "250 | was paid"


def test_call_that_waits_still_waits_after_a_worker_was_stopped_in_another_one(
    make_runtime: Make, clock: VirtualClock, payments: Path
) -> None:
    runtime, run = started(make_runtime, treasurer(payments, pays_twice, stopping("before pay")))
    ann, bob = of_each(run)
    ann.allow()
    with pytest.raises(Stopped):
        runtime.work()
    clock.advance(31)
    runtime = make_runtime(agent := treasurer(payments, pays_twice))
    runtime.work()
    interrupted, waiting = of_each(run)
    assert (interrupted.reason, waiting.reason, waiting.opened) == ("interrupted", "approval", bob.opened)
    interrupted.skip("Ann was paid in cash")
    waiting.allow()
    runtime.work()
    assert run.output == "250 | not run: denied: Ann was paid in cash | paid Bob"
    check(runtime, run.id, agent)


def test_idempotency_key_is_the_same_after_a_crash(make_runtime: Make, clock: VirtualClock) -> None:
    keys: list[str] = []

    @tool(idempotent=True)
    def pay(context: ToolContext[None]) -> str:
        keys.append(context.idempotency_key)
        if len(keys) == 1:
            raise Stopped
        return "paid"

    def make() -> Agent:
        replies: Any = lambda call: "done" if results(call) else ScriptedReply.tool_call("pay", {})  # noqa: E731
        return Agent("a", model="scripted", replies=replies, tools=[pay], policy=ALL_RUN)

    runtime = make_runtime(agent := make())
    run = runtime.start(agent, "Pay!")
    with pytest.raises(Stopped):
        runtime.work()
    clock.advance(31)
    make_runtime(make()).work()
    assert run.output == "done"
    assert keys[0] == keys[1]


def test_worker_that_has_lost_its_lease_in_a_tool_writes_nothing_more(
    make_runtime: Make, clock: VirtualClock, payments: Path
) -> None:
    def taken_over(point: str) -> None:
        if point == "after pay":
            clock.advance(31)
            make_runtime(treasurer(payments)).work()

    runtime, run = started(make_runtime, agent := treasurer(payments, at=taken_over))
    run.waits[0].allow()
    runtime.work()
    (wait,) = run.waits
    assert (wait.reason, paid(payments)) == ("interrupted", ["Ann 80"])
    wait.result("paid Ann")
    runtime.work()
    assert run.output == "250 | paid Ann"
    check(runtime, run.id, agent)


def test_answer_that_comes_during_a_turn_is_taken_after_it(make_runtime: Make, payments: Path) -> None:
    runtime = make_runtime()

    def at(point: str) -> None:
        if point == "before pay" and not paid(payments):
            of_each(run)[-1].allow()

    runtime.add(agent := treasurer(payments, pays_twice, at=at))
    run = runtime.start(agent, "Pay!")
    runtime.work()
    of_each(run)[0].allow()
    runtime.work()
    assert run.output == "250 | paid Ann | paid Bob"
    check(runtime, run.id, agent)


@pytest.mark.parametrize("work", [work, work_in_loop])
def test_next_model_of_a_group_continues_the_loop(
    make_runtime: Make, payments: Path, work: Callable[[Runtime], None]
) -> None:
    asked: list[str] = []

    def fails_after_the_balance(call: ModelCall) -> Any:
        asked.append("first")
        return ScriptedReply.tool_call("balance", {}) if not results(call) else OverloadedError("full")

    def answers(call: ModelCall) -> Any:
        asked.append("second")
        return pays_once(call)

    first = create_llm("scripted", replies=fails_after_the_balance, max_retries=0)
    second = create_llm("scripted", replies=answers, max_retries=0)
    agent = treasurer(payments, model=[first, second])
    runtime = make_runtime(agent)
    run = runtime.start(agent, "Pay!")
    work(runtime)
    assert asked == ["first", "first", "second"]
    run.waits[0].allow()
    work(runtime)
    assert (run.output, paid(payments)) == ("250 | paid Ann", ["Ann 80"])
    assert asked == ["first", "first", "second", "first", "second"]
    assert [each.kind for each in run.ledger() if each.kind == "retry"] == []
    check(runtime, run.id, agent)


def test_group_goes_on_after_a_crash_in_its_second_model(
    make_runtime: Make, clock: VirtualClock, payments: Path
) -> None:
    def is_full(call: ModelCall) -> Any:
        return OverloadedError("full")

    def group(second: Callable[[ModelCall], Any]) -> Agent:
        models = [create_llm("scripted", replies=replies, max_retries=0) for replies in (is_full, second)]
        return treasurer(payments, model=models)

    def stops(call: ModelCall) -> Any:
        if len(results(call)) == 2:
            raise Stopped
        return pays_once(call)

    runtime, run = started(make_runtime, group(stops))
    run.waits[0].allow()
    with pytest.raises(Stopped):
        runtime.work()
    clock.advance(31)
    runtime = make_runtime(agent := group(pays_once))
    runtime.work()
    assert (run.output, paid(payments)) == ("250 | paid Ann", ["Ann 80"])
    check(runtime, run.id, agent)


def test_turn_is_tried_again_once_each_model_of_a_group_has_failed(
    make_runtime: Make, clock: VirtualClock, payments: Path
) -> None:
    failing = [create_llm("scripted", replies=[OverloadedError(f"{name} is full"), "Yes."], max_retries=0)
               for name in ("first", "second")]  # fmt: skip
    agent = Agent("group", model=failing)
    runtime, run = started(make_runtime, agent)
    (retry,) = [each.body for each in run.ledger() if each.kind == "retry"]
    assert (run.status, retry["error"]["message"]) == ("running", "second is full")
    clock.advance(2)
    runtime.work()
    assert run.output == "Yes."


def test_group_with_a_model_that_cannot_be_made_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    Agent("group", model=["scripted", "anthropic/claude-opus-5-5"])  # a key may be set until it is asked
    for model in ("opnai/gpt-5.4", "openai"):
        with pytest.raises(ConfigurationError):
            Agent("group", model=["scripted", model])
    with pytest.raises(ConfigurationError, match="no option 'temprature'"):
        Agent("group", model=["scripted", "scripted/other"], temprature=1)


def test_request_that_a_model_refuses_is_given_to_no_other(make_runtime: Make) -> None:
    refuses = create_llm("scripted", replies=[BadRequestError("no such option")], max_retries=0)
    agent = Agent("group", model=[refuses, create_llm("scripted", replies=["Yes."])])
    _, run = started(make_runtime, agent)
    assert (run.status, run.error["type"]) == ("failed", "BadRequestError")
    wrong: list[Any] = [[], None, ["scripted", 7]]
    for model in wrong:
        with pytest.raises(InvalidInputError, match="model: expected a model, or several"):
            Agent("none", model=model)
