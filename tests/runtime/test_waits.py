"""Waits: answers, events, deadlines, commands, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from abstractruntime import (
    Child,
    Effect,
    FunctionProgram,
    Item,
    NotWaitingError,
    RetryPolicy,
    Runtime,
    Send,
    Step,
    Wait,
)
from abstractruntime.store import NewItem, NewRun, items
from tests.leftovers import wait_until
from tests.postgresql import PostgreSQL
from tests.runtime.checks import check
from tests.runtime.orders import execute

Make = Callable[..., Runtime]


def waiting(*waits: Wait) -> FunctionProgram:
    """Returns a program that waits, and completes with the first item that comes."""

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, *waits)
        return Step.complete([item.kind, item.key, item.payload], state=state)

    return FunctionProgram("waiting", step)


def collecting(key: str, count: int) -> FunctionProgram:
    """Returns a program that collects a number of events."""

    def step(state: Any, item: Item) -> Step:
        state = [] if item.kind == "start" else [*state, item.payload]
        if len(state) == count:
            return Step.complete(state, state=state)
        return Step.wait(state, Wait(key, "event"))

    return FunctionProgram("collecting", step)


def test_answer_ends_a_wait(make_runtime: Make) -> None:
    program = waiting(Wait("ok", "approval", asked={"what": "pay"}))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    (wait,) = run.waits
    assert (run.status, wait.key, wait.reason, wait.asked) == ("waiting", "ok", "approval", {"what": "pay"})
    assert wait.answer({"yes": True}, by="ann").state == "queued"
    runtime.work()
    assert (run.output, run.waits) == (["answer", "ok", {"yes": True}], [])
    assert [*run.ledger()][-1].body["item"]["sender"] == "ann"
    check(runtime, run.id, program)


def test_second_answer_and_answer_after_the_end_are_refused(make_runtime: Make) -> None:
    program = waiting(Wait("ok"))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    (wait,) = run.waits
    wait.answer(1, id="first")
    wait.answer(2, id="second")
    assert wait.answer(3, id="first").state == "repeated"
    runtime.work()
    assert run.output[2] == 1
    outcomes = {row.id: (row.state, row.outcome) for row in runtime.store.inbox(run.id)}
    assert outcomes["second"] == ("refused", "the run has ended")
    with pytest.raises(NotWaitingError, match="the run has ended: it was completed") as caught:
        wait.answer(4)
    assert caught.value.run == run.id
    check(runtime, run.id, program)


def test_event_does_not_answer_a_question_of_the_same_key(make_runtime: Make) -> None:
    program = waiting(Wait("ok", "approval"))
    runtime = make_runtime(program)
    runtime.emit("ok", "before")
    run = runtime.start(program)
    runtime.work()
    assert runtime.emit("ok", "forged").state == "kept"
    assert runtime.work() == 0
    assert run.status == "waiting"
    run.waits[0].answer("by ann")
    runtime.work()
    assert run.output == ["answer", "ok", "by ann"]
    check(runtime, run.id, program)


def test_answer_that_comes_while_its_wait_is_about_to_open_is_taken(make_runtime: Make) -> None:
    def work(context: Any, payload: Any) -> str:
        return runtime.store.deliver(NewItem("early", "answer", b"1", context.run, "ok")).state

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("work"))
        return Step.wait(item.payload, Wait("ok")) if item.kind == "result" else Step.complete([state, item.payload])

    program = FunctionProgram("asks", step)
    runtime = make_runtime(program, effects={"work": work})
    run = runtime.start(program)
    runtime.work()
    assert run.output == ["queued", 1]


def test_event_for_a_run_stays_until_the_run_waits_for_it(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        keys = ["a", "b", "news"]
        if item.kind == "event":
            return Step.complete(item.payload, state=state)
        state = 0 if item.kind == "start" else state + 1
        return Step.wait(state, Wait(keys[state], "event" if state == 2 else "input"))

    program = FunctionProgram("later", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.send("news", "sent early")
    for _ in range(2):
        run.waits[0].answer()
        runtime.work()
    assert run.output == "sent early"
    check(runtime, run.id, program)


def is_waited_for(runtime: Runtime, future: Future[Any]) -> bool:
    """Waits until a transaction waits for a lock, or until a function that makes it has returned."""
    locks = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    wait_until(lambda: future.done() or runtime.database.read(lambda reader: reader.execute(locks).scalar_one()))
    return not future.done()


@pytest.mark.process
def test_two_wakes_at_once_take_one_event(postgresql: PostgreSQL) -> None:
    program = waiting(Wait("ok"))
    key = f"woken by {uuid4()}"

    def new(id: str) -> NewRun:
        return NewRun(id, "waiting@1", b"1")

    with Runtime(postgresql.url, programs=[program]) as runtime, ThreadPoolExecutor() as threads:
        runtime.emit(key, 1)
        first, second = f"first {key}", f"second {key}"
        with runtime.database.writing() as connection:
            kept = items.first_kept(connection, key)
            waking = threads.submit(runtime.store.create_of_event, key, lambda payload: new(second))
            assert is_waited_for(runtime, waking)
            items.begin_run(connection, kept.number, first)
        assert waking.result() is None


def test_kept_events_are_taken_in_their_order(make_stored: Make) -> None:
    program = collecting("news", 2)
    runtime = make_stored(program)
    for number in (1, 2):
        runtime.emit("news", number, id=str(number))
    for state in ("queued", "kept"):  # which moves its row
        execute(runtime, "UPDATE inbox SET state = :state WHERE id = '1'", state=state)
    run = runtime.start(program)
    runtime.work()
    assert run.output == [1, 2]


@pytest.mark.process
def test_event_that_is_delivered_while_its_wait_opens_is_not_lost(postgresql: PostgreSQL) -> None:
    program = waiting(Wait("raced", "event"))
    with Runtime(postgresql.url, programs=[program]) as runtime, ThreadPoolExecutor() as threads:
        run = runtime.start(program)
        with runtime.database.writing() as connection:
            item = NewItem(f"event:{run.id}", "event", b"1", None, "raced")
            assert items.deliver(connection, item, 0.0).state == "kept"
            working = threads.submit(runtime.work)
            assert is_waited_for(runtime, working)
        working.result()
        runtime.work()
        assert run.output == ["event", "raced", 1]
        check(runtime, run.id, program)


def test_answer_to_a_wait_that_is_not_open_is_refused(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("a" if item.kind == "start" else "b"))

    program = FunctionProgram("two", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    (wait,) = run.waits
    wait.answer()
    runtime.work()
    with pytest.raises(NotWaitingError, match="does not wait for 'a'"):
        wait.answer()
    assert [each.key for each in run.waits] == ["b"]
    check(runtime, run.id, program)


def test_answers_that_came_before_a_worker_are_refused_once_the_wait_is_closed(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("a")) if item.kind == "start" else Step.wait({}, Wait("b"))

    program = FunctionProgram("two", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    (wait,) = run.waits
    wait.answer(1, id="1")
    wait.answer(2, id="2")
    runtime.work()
    outcomes = {row.id: (row.state, row.outcome) for row in runtime.store.inbox(run.id)}
    assert outcomes["2"] == ("refused", "the wait is not open")
    assert run.info.due_at is None


def test_deadline_is_an_item(make_runtime: Make, clock: Any) -> None:
    program = waiting(Wait("late", deadline=clock.time_of_day() + 60), Wait("later", deadline=clock.time_of_day() + 90))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    assert run.info.due_at == clock.time_of_day() + 60
    clock.advance(59)
    assert runtime.work() == 0
    clock.advance(1)
    runtime.work()
    assert run.output == ["timeout", "late", None]
    check(runtime, run.id, program)


def test_answer_before_the_deadline_is_taken_after_it(make_runtime: Make, clock: Any) -> None:
    program = waiting(Wait("ok", deadline=clock.time_of_day() + 60))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.waits[0].answer("in time")
    clock.advance(100)
    runtime.work()
    assert run.output == ["answer", "ok", "in time"]


def test_event_goes_to_all_that_wait_for_it(make_runtime: Make) -> None:
    program = waiting(Wait("evt:shop:1:paid", "event"))
    runtime = make_runtime(program)
    runs = [runtime.start(program, id=name) for name in "abc"]
    runtime.work()
    delivery = runtime.emit("evt:shop:1:paid", {"euros": 80}, id="e1")
    assert (delivery.state, delivery.runs) == ("queued", ("a", "b", "c"))
    assert runtime.emit("evt:shop:1:paid", id="e1").state == "repeated"
    runtime.work()
    assert {tuple(run.output[:2]) for run in runs} == {("event", "evt:shop:1:paid")}
    for run in runs:
        check(runtime, run.id, program)


def test_events_before_their_wait_are_kept_in_order(make_runtime: Make) -> None:
    program = collecting("news", 3)
    runtime = make_runtime(program)
    assert [runtime.emit("news", number).state for number in (1, 2)] == ["kept", "kept"]
    run = runtime.start(program)
    runtime.work()
    assert run.state == [1, 2]
    runtime.emit("news", 3)
    runtime.work()
    assert run.output == [1, 2, 3]
    check(runtime, run.id, program)


def test_events_stay_kept_for_others_while_one_is_taken(make_runtime: Make, clock: Any) -> None:
    def shaky(context: Any, payload: Any) -> None:
        if context.attempt == 1:
            raise OSError

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            effect = Effect("shaky", retry=RetryPolicy(seconds=10, errors=("OSError",)))
            return Step.do({}, effect, waits=(Wait("news", "event"),))
        return Step.wait({}, Wait("news", "event")) if item.kind == "result" else Step.complete(item.payload)

    program, other = FunctionProgram("shaky", step), waiting(Wait("news", "event"))
    runtime = make_runtime(program, other, effects={"shaky": shaky})
    for number in (1, 2):
        runtime.emit("news", number)
    run = runtime.start(program)
    runtime.work()
    clock.advance(10)
    runtime.work()
    second = runtime.start(other)
    runtime.work()
    assert (run.output, second.output) == (1, ["event", "news", 2])
    check(runtime, run.id, program)


def test_event_of_one_run_waits_for_it(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("go"))
        return Step.wait({}, Wait("news", "event")) if item.key == "go" else Step.complete(item.payload)

    program = FunctionProgram("later", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.send("news", "early")
    assert runtime.work() == 0
    run.waits[0].answer()
    runtime.work()
    assert run.output == "early"


def test_runs_send_to_each_other(make_runtime: Make) -> None:
    def ping(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({"count": 0}, Wait("pong", "event"), sends=(Send("ping", 0),))
        if item.payload == 3:
            return Step.complete(item.payload)
        return Step.wait({}, Wait("pong", "event"), sends=(Send("ping", item.payload),))

    def pong(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("ping", "event"))
        return Step.wait({}, Wait("ping", "event"), sends=(Send("pong", item.payload + 1),))

    programs = FunctionProgram("ping", ping), FunctionProgram("pong", pong)
    runtime = make_runtime(*programs)
    runs = [runtime.start(program) for program in programs]
    runtime.work()
    assert (runs[0].output, runs[1].status) == (3, "waiting")
    for run, program in zip(runs, programs, strict=True):
        check(runtime, run.id, program)


def test_paused_run_takes_nothing_until_it_is_resumed(make_runtime: Make) -> None:
    program = waiting(Wait("ok"))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.pause(by="ann")
    runtime.work()
    assert run.info.paused_at is not None
    run.waits[0].answer(1)
    assert runtime.work() == 0
    run.resume()
    runtime.work()
    assert (run.output, run.info.paused_at) == (["answer", "ok", 1], None)
    assert [each.kind for each in run.ledger()] == ["created", "step", "paused", "resumed", "step"]
    check(runtime, run.id, program)


def test_run_paused_in_an_effect_finishes_it_and_begins_no_other(make_runtime: Make) -> None:
    executed: list[int] = []

    def work(context: Any, payload: Any) -> int:
        executed.append(payload)
        if payload == 1:
            runtime.run(context.run).pause()
            runtime.store.extend([*leases])
        return payload

    def step(state: Any, item: Item) -> Step:
        if item.payload == 2:
            return Step.complete(item.payload)
        return Step.do({}, Effect("work", (item.payload or 0) + 1))

    program = FunctionProgram("steps", step)
    runtime = make_runtime(program, effects={"work": work})
    leases = held(runtime)
    run = runtime.start(program)
    runtime.work()
    assert (executed, run.status, run.info.paused_at is None) == ([1], "running", False)
    run.resume()
    runtime.work()
    assert (executed, run.output) == ([1, 2], 2)
    assert [each.kind for each in run.ledger()][-2:] == ["started", "step"]
    check(runtime, run.id, program)


def held(runtime: Runtime) -> list[Any]:
    """Returns a list to which the leases are added that are claimed from now on."""
    leases: list[Any] = []
    claim = runtime.store.claim

    def noting(*arguments: Any, **options: Any) -> list[Any]:
        found = claim(*arguments, **options)
        leases.extend(found)
        return found

    runtime.store.claim = noting  # type: ignore[method-assign]
    return leases


def test_cancelling_ends_a_run_and_its_children(make_runtime: Make) -> None:
    child = waiting(Wait("never"))

    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("part", "child"), children=(Child("part", "waiting"),))

    parent = FunctionProgram("parent", step)
    runtime = make_runtime(parent, child)
    run = runtime.start(parent)
    runtime.work()
    run.cancel("not needed", by="ann")
    runtime.work()
    assert (run.status, run.error) == ("cancelled", {"type": "Cancelled", "message": "not needed"})
    assert [each.status for each in run.children] == ["cancelled"]
    assert run.cancel().state == "refused"
    check(runtime, run.id, parent)
    check(runtime, run.children[0].id, child)


def test_cancelling_interrupts_an_effect(make_runtime: Make) -> None:
    def work(context: Any, payload: Any) -> None:
        runtime.run(context.run).cancel()
        runtime.store.extend([*leases])
        context.interruption.check()

    program = FunctionProgram("work", lambda state, item: Step.do({}, Effect("work")))
    runtime = make_runtime(program, effects={"work": work})
    leases = held(runtime)
    run = runtime.start(program)
    runtime.work()
    assert run.status == "cancelled"
    assert [*run.ledger()][-1].body["in_flight"] == {"effect_seq": 2, "state": "started"}
    check(runtime, run.id, program)


def test_unknown_command_is_refused(make_runtime: Make) -> None:
    program = waiting(Wait("ok"))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run._command("explode", None, None, None)
    runtime.work()
    assert [row.outcome for row in runtime.store.inbox(run.id)][-1] == "there is no command 'explode'"


def test_one_step_takes_one_item(make_runtime: Make) -> None:
    program = collecting("news", 3)
    runtime = make_runtime(program)
    run = runtime.start(program)
    for number in (1, 2, 3):
        runtime.emit("news", number)
    states: list[Any] = []
    while not run.info.ended:
        assert runtime.advance(run.id, max_steps=1)
        states.append(run.state)
    assert states == [[], [1], [1, 2], [1, 2, 3]]
    check(runtime, run.id, program)


def test_step_may_refuse_an_answer_and_an_event(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("day"), Wait("rain", "event"))
        if item.payload != "Friday":
            return Step.refuse(f"expected Friday, got {item.payload}" + "." * 1000)
        return Step.complete(item.payload, state=state)

    runtime = make_runtime(program := FunctionProgram("friday", step))
    run = runtime.start(program)
    runtime.work()
    run.waits[0].answer("Monday", id="wrong")
    runtime.emit("rain", "much", id="event")
    records = run.info.seq
    runtime.work()
    assert (run.status, len(run.waits), run.info.seq) == ("waiting", 2, records)
    run.waits[0].answer("Friday")
    runtime.work()
    outcomes = {row.id: (row.state, (row.outcome or "")[:27]) for row in runtime.store.inbox(run.id)}
    assert outcomes["wrong"] == ("refused", "expected Friday, got Monday")
    assert outcomes["event"] == ("refused", "expected Friday, got much..")
    assert {len(row.outcome) for row in runtime.store.inbox(run.id) if row.state == "refused"} == {500}
    assert run.output == "Friday"
    check(runtime, run.id, program)


@pytest.mark.parametrize(
    ("refusal", "problem"),
    [
        (Step.refuse("no"), "an item of the kind 'start' cannot be refused"),
        (Step({}, refused="no"), "a step that refuses its item changes nothing else"),
    ],
)
def test_step_that_refuses_what_it_may_not_fails_its_run(make_runtime: Make, refusal: Step, problem: str) -> None:
    runtime = make_runtime(program := FunctionProgram("refusing", lambda state, item: refusal))
    run = runtime.start(program)
    runtime.work()
    assert problem in run.error["message"]


def test_event_that_a_run_does_not_take_is_kept_for_another_one(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do([], Effect("send", item.payload), waits=(Wait("go"),))
        if item.kind == "event":
            return Step.complete(item.payload, state=state)
        return Step.wait(state, Wait("rain", "event"), *((Wait("go"),) if item.kind == "result" else ()))

    def send(context: Any, payload: Any) -> None:
        if payload:
            runtime.run("a").waits[0].answer()
            runtime.emit("rain", 1)
            runtime.emit("rain", 2)

    program = FunctionProgram("first", step)
    runtime = make_runtime(program, effects={"send": send})
    first = runtime.start(program, True, id="a")
    runtime.work()
    second = runtime.start(program, False, id="b")
    runtime.work()
    assert (first.output, second.output) == (1, 2)
