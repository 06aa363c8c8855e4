"""After a crash: effects without a result, leases that ended, and late workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.testing import VirtualClock
from abstractruntime import (
    Effect,
    FunctionEffect,
    FunctionProgram,
    Item,
    LeaseLostError,
    RetryPolicy,
    Runtime,
    Step,
    Wait,
    json_documents,
)
from abstractruntime.store import Change, NewItem
from tests.runtime.checks import check

Make = Callable[..., Runtime]


class Killed(BaseException):
    """Ends a worker as a crash does: nothing after it is written."""


def paying(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.do({}, Effect("pay", {"euros": 80}))
    return Step.complete({"result": item.payload, "error": item.error}, state=state)


PAYING = FunctionProgram("paying", paying)


class Payments:
    """An effect that pays, and dies after the first payment."""

    def __init__(self) -> None:
        self.made: list[tuple[int, str, bool]] = []

    def __call__(self, context: Any, payload: Any) -> str:
        self.made.append((context.attempt, context.idempotency_key, context.resumed))
        if len(self.made) == 1:
            raise Killed
        return "paid"


def crashed(make_runtime: Make, clock: VirtualClock, kind: Any) -> Runtime:
    """Returns the runtime of a process that begins after another one has died in the payment of the run `a`."""
    first = make_runtime(PAYING, effects={"pay": kind})
    first.start(PAYING, id="a")
    with pytest.raises(Killed):
        first.work()
    runtime = make_runtime(PAYING, effects={"pay": kind})
    assert runtime.work() == 0
    clock.advance(31)
    return runtime


def test_effect_that_asks_waits_for_a_decision(make_runtime: Make, clock: VirtualClock) -> None:
    payments = Payments()
    runtime = crashed(make_runtime, clock, payments)
    runtime.work()
    run = runtime.run("a")
    (wait,) = run.waits
    assert (run.status, wait.reason, len(payments.made)) == ("waiting", "interrupted", 1)
    assert wait.asked["effect"]["payload"] == {"euros": 80}
    clock.advance(10**7)
    assert runtime.work() == 0
    wait.repeat(by="ann")
    runtime.work()
    assert run.output == {"result": "paid", "error": None}
    (attempt_1, key_1, _), (attempt_2, key_2, resumed) = payments.made
    assert (attempt_1, attempt_2, key_1 == key_2, resumed) == (1, 2, True, True)
    assert [each.kind for each in run.ledger()] == ["created", "step", "interrupted", "decided", "started", "step"]
    check(runtime, "a", PAYING)


@pytest.mark.parametrize("decision", ["skip", "result"])
def test_interrupted_effect_is_not_executed_again(make_runtime: Make, clock: VirtualClock, decision: str) -> None:
    payments = Payments()
    runtime = crashed(make_runtime, clock, payments)
    runtime.work()
    run = runtime.run("a")
    (wait,) = run.waits
    _ = wait.skip("by hand") if decision == "skip" else wait.result("was paid")
    runtime.work()
    assert len(payments.made) == 1
    expected = {"result": None, "error": {"type": "Skipped", "message": "by hand"}}
    assert run.output == (expected if decision == "skip" else {"result": "was paid", "error": None})
    check(runtime, "a", PAYING)


def test_wrong_decision_is_refused_and_the_wait_stays(make_runtime: Make, clock: VirtualClock) -> None:
    runtime = crashed(make_runtime, clock, Payments())
    runtime.work()
    run = runtime.run("a")
    for number, payload in enumerate((None, "repeat", {"decision": "guess"}, [1])):
        run.waits[0].answer(payload, id=f"wrong-{number}")
        runtime.work()
        outcome = next(row for row in runtime.store.inbox("a") if row.id == f"wrong-{number}")
        assert (outcome.state, outcome.outcome) == ("refused", "expected a decision, one of repeat, skip, result")
    assert [wait.key for wait in run.waits] == ["interrupted"]
    check(runtime, "a", PAYING)


@pytest.mark.parametrize("after", ["repeat", "resume"])
def test_effect_that_may_be_repeated_is_begun_again(make_runtime: Make, clock: VirtualClock, after: Any) -> None:
    payments = Payments()
    runtime = crashed(make_runtime, clock, FunctionEffect(payments, after))
    runtime.work()
    assert runtime.run("a").output == {"result": "paid", "error": None}
    assert len(payments.made) == 2
    started = next(each for each in runtime.run("a").ledger() if each.kind == "started")
    assert started.body == {"effect_seq": 2, "attempt": 2, "why": after}
    check(runtime, "a", PAYING)


def test_decision_about_an_effect_that_was_not_interrupted_is_refused(make_runtime: Make, clock: VirtualClock) -> None:
    payments = Payments()
    runtime = crashed(make_runtime, clock, FunctionEffect(payments, "repeat"))
    clock.advance(-31)
    early = NewItem("early", "answer", b'{"decision": "skip"}', "a", "interrupted")
    assert runtime.store.deliver(early).state == "queued"
    clock.advance(31)
    runtime.work()
    assert runtime.run("a").output == {"result": "paid", "error": None}
    assert len(payments.made) == 2
    check(runtime, "a", PAYING)


def test_all_commands_are_taken_before_an_effect_is_repeated(make_runtime: Make, clock: VirtualClock) -> None:
    payments = Payments()
    runtime = crashed(make_runtime, clock, FunctionEffect(payments, "repeat"))
    run = runtime.run("a")
    run.resume()
    run.cancel()
    runtime.work()
    assert (run.status, len(payments.made)) == ("cancelled", 1)
    check(runtime, "a", PAYING)


def test_interrupted_effect_of_the_longest_payload_can_be_asked_about_and_repeated(
    make_runtime: Make, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_documents, "MAX_BYTES", 1000)
    payload = "a" * 998
    program = FunctionProgram(
        "long",
        lambda state, item: (
            Step.do({}, Effect("pay", payload, retry=RetryPolicy(2, 10, errors=("OSError",))))
            if item.kind == "start"
            else Step.complete(item.payload)
        ),
    )
    attempts: list[int] = []

    def pay(context: Any, payload: Any) -> str:
        attempts.append(context.attempt)
        if len(attempts) < 3:
            raise OSError if len(attempts) == 1 else Killed
        return payload

    runtime = make_runtime(program, effects={"pay": pay})
    run = runtime.start(program)
    runtime.work()
    clock.advance(10)
    with pytest.raises(Killed):
        runtime.work()
    clock.advance(31)
    runtime.work()
    assert run.waits[0].asked["effect"]["payload"] == payload
    run.waits[0].repeat()
    runtime.work()
    assert (run.output, attempts) == (payload, [1, 2, 3])
    check(runtime, run.id, program)


@pytest.mark.parametrize("after", ["repeat", "ask"])
def test_effect_may_say_itself_what_a_crash_means(make_runtime: Make, clock: VirtualClock, after: Any) -> None:
    program = FunctionProgram(
        "says",
        lambda state, item: (
            Step.do({}, Effect("pay", after_crash=after)) if item.kind == "start" else Step.complete(item.payload)
        ),
    )
    payments = Payments()
    runtime = make_runtime(program, effects={"pay": FunctionEffect(payments, "ask" if after == "repeat" else "repeat")})
    run = runtime.start(program)
    with pytest.raises(Killed):
        runtime.work()
    clock.advance(31)
    runtime.work()
    assert (len(payments.made), run.status) == ((2, "completed") if after == "repeat" else (1, "waiting"))
    check(runtime, run.id, program)


def test_interrupted_run_can_be_cancelled_and_paused(make_runtime: Make, clock: VirtualClock) -> None:
    runtime = crashed(make_runtime, clock, Payments())
    runtime.work()
    run = runtime.run("a")
    run.pause()
    run.waits[0].repeat()
    runtime.work()
    assert run.status == "waiting"
    run.cancel()
    runtime.work()
    assert run.status == "cancelled"
    check(runtime, "a", PAYING)


def test_late_worker_changes_nothing(make_runtime: Make, clock: VirtualClock) -> None:
    program = FunctionProgram("waits", lambda state, item: Step.wait({}, Wait("ok")))
    runtime = make_runtime(program)
    runtime.start(program, id="a")
    (late,) = runtime.store.claim(["waits@1"], "late")
    clock.advance(31)
    runtime.work()
    before = [each.hash for each in runtime.run("a").ledger()]
    with pytest.raises(LeaseLostError, match="another worker has taken over the run 'a'"):
        runtime.store.commit(late, Change(records=[("warning", {})], status="failed"))
    runtime.store.extend([late])
    runtime.store.release(late)
    assert late.lost
    assert [each.hash for each in runtime.run("a").ledger()] == before
    assert runtime.run("a").info.due_at is None
    check(runtime, "a", program)


def test_effect_whose_lease_was_lost_is_interrupted(make_runtime: Make, clock: VirtualClock) -> None:
    executed: list[int] = []

    def slow(context: Any, payload: Any) -> None:
        executed.append(context.attempt)
        if len(executed) == 1:
            clock.advance(31)
            other.work()
            context.note("journal", "late")

    kind = FunctionEffect(slow, "repeat")
    program = FunctionProgram(
        "slow", lambda state, item: Step.do({}, Effect("slow")) if item.kind == "start" else Step.complete(item.error)
    )
    runtime = make_runtime(program, effects={"slow": kind})
    other = make_runtime(program, effects={"slow": kind})
    run = runtime.start(program)
    runtime.work()
    assert (executed, run.status, run.output) == ([1, 2], "completed", None)
    check(runtime, run.id, program)


def test_items_of_a_held_run_are_seen_when_it_is_given_back(make_runtime: Make) -> None:
    def work(context: Any, payload: Any) -> None:
        runtime.run(context.run).send("news", "while it was held")

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("work"))
        return Step.wait({}, Wait("news", "event")) if item.kind == "result" else Step.complete(item.payload)

    program = FunctionProgram("held", step)
    runtime = make_runtime(program, effects={"work": work})
    run = runtime.start(program)
    runtime.work()
    assert run.output == "while it was held"
    check(runtime, run.id, program)
