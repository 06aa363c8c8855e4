"""The state of a run is made again from its ledger, and a step that is not pure is found at its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from abstractruntime import Child, Effect, FunctionProgram, Item, LedgerError, ReplayError, Runtime, Send, Step, Wait
from abstractruntime.replay import replay
from tests.runtime.orders import ORDER, execute, order, ordered

Make = Callable[..., Runtime]
Change = Callable[[Step], Step]


def everything(state: Any, item: Item) -> Step:
    """Sends, starts children, waits for two things and fails at the end."""
    if item.kind == "start":
        sends = (Send("news", {"n": 1}), Send("news", {"n": 2}, id="of-my-own"))
        children = (Child("one", "child", 1), Child("two", "child@1", 2, run="second"))
        return Step.wait({"seen": []}, Wait("one", "child"), Wait("late", deadline=2e9), sends=sends, children=children)
    state = {"seen": [*state["seen"], [item.kind, item.key, item.payload]]}
    if item.kind == "child":
        return Step.do(state, Effect("fail", (1, 2)))
    return Step.fail(f"got {item.error}", state=state, sends=(Send("end"),))


EVERYTHING = FunctionProgram("everything", everything)
CHILD = FunctionProgram("child", lambda state, item: Step.complete(item.payload))


def test_state_is_made_again_from_the_ledger_alone(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a")
    run = runtime.run("a")
    assert run.replay(ORDER) == run.state == {"for": {"customer": "Bö"}, "length": 6000, "answer": {"yes": True}}
    states = [replay(ORDER, [*run.ledger()][:count]) for count in range(5)]
    assert states == [
        None,
        None,
        {"for": {"customer": "Bö"}},
        {"for": {"customer": "Bö"}, "length": 6000},
        run.state,
    ]


def test_all_that_a_step_can_ask_for_is_compared(make_stored: Make) -> None:
    def fail(context: Any, payload: Any) -> None:
        raise ValueError("no")

    runtime = make_stored(EVERYTHING, CHILD, effects={"fail": fail})
    run = runtime.start(EVERYTHING, id="a")
    runtime.work()
    assert run.status == "failed"
    assert run.replay(EVERYTHING) == run.state
    for child in run.children:
        assert child.replay(CHILD) is None


def test_a_step_after_a_decision_is_replayed(make_runtime: Make, clock: Any) -> None:
    class Killed(BaseException):
        """Ends a worker."""

    def die(context: Any, payload: Any) -> None:
        raise Killed

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("die"))
        return Step.complete(item.payload, state=[item.payload], sends=(Send("end"),))

    program = FunctionProgram("dies", step)
    runtime = make_runtime(program, effects={"die": die})
    run = runtime.start(program)
    with pytest.raises(Killed):
        runtime.work()
    clock.advance(100)
    runtime.work()
    run.waits[0].result(7)
    runtime.work()
    assert run.replay(program) == [7]
    last = [*run.ledger()][-1]
    assert last.body["sends"][0]["id"] == f"sent:{run.id}:{last.seq}:0"


def test_results_have_the_same_order_when_they_are_replayed(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.do({}, Effect("look")) if item.kind == "start" else Step.complete(f"{item.payload} {item.error}")

    program = FunctionProgram("looks", step)
    for look in (lambda context, payload: {"b": (1,), "a": 2}, lambda context, payload: 1 / 0):
        runtime = make_runtime(program, effects={"look": look})
        run = runtime.start(program)
        runtime.work()
        assert run.replay(program) == run.state


def test_a_failed_or_cancelled_run_is_replayed_to_its_last_state(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.wait({"n": 1}, Wait("ok")) if item.kind == "start" else Step.complete(1 / item.payload)

    program = FunctionProgram("divides", step)
    runtime = make_runtime(program)
    runs = [runtime.start(program) for _ in range(2)]
    runtime.work()
    runs[0].waits[0].answer(0)
    runs[1].cancel()
    runtime.work()
    assert [(run.status, run.replay(program)) for run in runs] == [("failed", {"n": 1}), ("cancelled", {"n": 1})]


def impure(changed: Callable[[Step], Step]) -> FunctionProgram:
    """Returns the program of orders with another step at its result."""

    def step(state: Any, item: Item) -> Step:
        made = order(state, item)
        return changed(made) if item.kind == "result" else made

    return FunctionProgram("order", step)


CHANGES: dict[str, tuple[Callable[[Step], Step], str]] = {
    "waits": (
        lambda step: Step.wait(step.state, Wait("ok", "approval", asked={"what": "more"})),
        "waits[0].asked.what: the record has 'terms', the step has 'more'",
    ),
    "another wait": (
        lambda step: Step.wait(step.state, *step.waits, Wait("b")),
        "waits[1]: the record has nothing, the step has {'asked': None, 'key': 'b', 'reason': 'input'}",
    ),
    "deadline": (
        lambda step: Step.wait(step.state, Wait("ok", "approval", 5.0, {"what": "terms"})),
        "waits[0].deadline: the record has nothing, the step has 5.0",
    ),
    "effect": (
        lambda step: Step.do(step.state, Effect("pay")),
        "effect: the record has None, the step has {'key': 'effect', 'kind': 'pay', 'payload': None}",
    ),
    "sends": (
        lambda step: Step.wait(step.state, *step.waits, sends=(Send("news"),)),
        "sends: the record has None, the step has [{'id': 'sent:a:3:0', 'key': 'news', 'run': None}]",
    ),
    "end": (lambda step: Step.complete(1, state=step.state), "waits: the record has [{"),
    "state": (
        lambda step: Step.wait({**step.state, "length": 5}, *step.waits),
        "state: the record has the hash of another one",
    ),
    "no step": (lambda step: None, "it raises InvalidInputError: step: expected a Step, got NoneType"),  # type: ignore[arg-type,return-value]
    "no JSON": (
        lambda step: Step.wait(object(), *step.waits),
        "it raises InvalidInputError: state: expected JSON, got",
    ),
    "error": (lambda step: Step.wait(1 / 0), "it raises ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_step_that_gives_something_else_is_found_at_its_record(make_runtime: Make, change: str) -> None:
    run = ordered(make_runtime, "a").run("a")
    changed, problem = CHANGES[change]
    with pytest.raises(ReplayError) as caught:
        run.replay(impure(changed))
    where = "the step of the item 'result' at record 3 of the run 'a' gives something else than its record: "
    assert str(caught.value).startswith(f"{where}{problem}")
    assert (caught.value.run, caught.value.seq) == ("a", 3)
    assert (
        caught.value.hint == "A step may use its state and its item only, and a changed program needs another version."
    )


def test_a_key_that_a_step_quotes_is_not_shown(make_runtime: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def step(state: Any, item: Item) -> Step:
        raise ValueError("no reply for key-canary-0123456789")

    run = ordered(make_runtime, "a").run("a")
    monkeypatch.setenv("BANK_API_KEY", "key-canary-0123456789")
    with pytest.raises(ReplayError, match=r"it raises ValueError: no reply for \[scrubbed\]"):
        run.replay(FunctionProgram("order", step))


def test_a_step_that_refuses_an_item_which_was_applied_is_found(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.refuse("no") if item.kind == "answer" else order(state, item)

    run = ordered(make_runtime, "a").run("a")
    with pytest.raises(ReplayError, match=r"of the item 'answer' at record 4 .*: it refuses the item: no"):
        run.replay(FunctionProgram("order", step))


def test_a_difference_of_the_last_state_is_named(make_runtime: Make) -> None:
    run = ordered(make_runtime, "a").run("a")

    def step(state: Any, item: Item) -> Step:
        made = order(state, item)
        return made if item.kind != "answer" else Step.complete(made.output, state={**made.state, "length": 1})

    with pytest.raises(ReplayError, match=r"at record 4 .*: state\.length: the record has 6000, the step has 1"):
        run.replay(FunctionProgram("order", step))


def test_a_step_that_counts_or_looks_at_the_clock_is_found(make_runtime: Make) -> None:
    calls: list[int] = []

    def step(state: Any, item: Item) -> Step:
        calls.append(1)
        made = order(state, item)
        return made if made.ended else replace(made, state={**made.state, "calls": [len(calls)]})

    program = FunctionProgram("order", step)
    runtime = make_runtime(program, effects={"fetch": lambda context, payload: "text"})
    run = runtime.start(program, id="a")
    runtime.work()
    with pytest.raises(ReplayError, match=r"at record 2 .*: state\.calls\[0\]: one call has 3, the next one has 4"):
        run.replay(program)


def test_a_step_that_changes_its_state_or_item_in_place_changes_nothing_else(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({"list": []}, Wait("more"))
        state["list"].append(item.payload)
        return Step.complete(len(state["list"]), state=state)

    program = FunctionProgram("grows", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.waits[0].answer(1)
    runtime.work()
    assert run.replay(program) == {"list": [1]}
    assert run.replay(program) == {"list": [1]}


def test_a_step_that_changes_its_item_is_called_with_the_same_one_again(make_runtime: Make) -> None:
    calls: list[int] = []

    def step(state: Any, item: Item) -> Step:
        calls.append(1)
        item.payload.append(len(calls))
        return Step.complete(state=item.payload)

    program = FunctionProgram("changes", step)
    runtime = make_runtime(program)
    run = runtime.start(program, [], id="a")
    runtime.work()
    assert run.state == [1]
    with pytest.raises(ReplayError, match=r"state\[0\]: the record has 1, the step has 2"):
        run.replay(program)
    with pytest.raises(ReplayError, match=r"state\[0\]: one call has 3, the next one has 4"):
        replay(program, run.ledger())


def test_redacted_and_damaged_steps_are_not_replayed(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a", "b")
    runtime.run("a").redact(2)
    with pytest.raises(LedgerError, match="record 2 was redacted") as caught:
        runtime.run("a").replay(ORDER)
    assert (caught.value.run, caught.value.seq) == ("a", 2)
    execute(runtime, "UPDATE ledger SET body = :body WHERE run = 'b' AND seq = 3", body=b'{"item":[]}')
    with pytest.raises(LedgerError, match="record 3 of the run 'b' is no step"):
        runtime.run("b").replay(ORDER)
