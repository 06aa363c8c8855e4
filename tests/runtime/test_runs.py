"""Runs from their start to their end, on one worker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractruntime import (
    Child,
    Effect,
    EffectResult,
    FunctionProgram,
    Item,
    LeaseLostError,
    Limits,
    NotFinishedError,
    RetryPolicy,
    RunExistsError,
    RunFailedError,
    RunNotFoundError,
    Runtime,
    Send,
    Spent,
    Step,
    UnknownProgramError,
    Wait,
)
from tests.runtime.checks import check, check_chain

Make = Callable[..., Runtime]


def count(state: Any, item: Item) -> Step:
    """Executes `add` as often as the input says, and completes with the sum."""
    if item.kind == "start":
        state = {"left": item.payload, "sum": 0}
    else:
        state = {"left": state["left"] - 1, "sum": state["sum"] + item.payload}
    if state["left"]:
        return Step.do(state, Effect("add", state["left"]))
    return Step.complete(state["sum"], state=state)


COUNT = FunctionProgram("count", count)
ADD = {"add": lambda context, payload: payload}


def once(effect: Effect) -> FunctionProgram:
    """Returns a program that executes one effect, and completes with its result and error."""

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, effect)
        return Step.complete({"result": item.payload, "error": item.error}, state=state)

    return FunctionProgram("once", step)


def test_run_executes_its_effects_and_completes(make_runtime: Make) -> None:
    runtime = make_runtime(COUNT, effects=ADD)
    run = runtime.start(COUNT, 4, id="sum")
    assert (run.status, run.output) == ("running", None)
    runtime.work()
    assert (run.status, run.output, run.error) == ("completed", 10, None)
    assert run.wait_for_output() == 10
    assert [record.kind for record in run.ledger()] == ["created", "step", "step", "step", "step", "step"]
    assert run.info.spent.steps == 5
    check(runtime, "sum", COUNT)


def test_same_id_program_and_input_are_one_run(make_runtime: Make) -> None:
    runtime = make_runtime(COUNT, effects=ADD)
    runtime.start(COUNT, 2, id="a")
    runtime.work()
    assert runtime.start(COUNT, 2, id="a").output == 3
    assert len(runtime.runs()) == 1
    with pytest.raises(RunExistsError, match="a run 'a' of count@1 exists") as caught:
        runtime.start(COUNT, 3, id="a")
    assert caught.value.run == "a"
    other = FunctionProgram("other", count)
    with pytest.raises(RunExistsError):
        runtime.start(other, 2, id="a")


def test_missing_runs_and_programs_are_named(make_runtime: Make) -> None:
    runtime = make_runtime(COUNT)
    with pytest.raises(RunNotFoundError, match="there is no run 'b'"):
        runtime.run("b")
    with pytest.raises(UnknownProgramError, match="there is no program 'sum'; known: count@1"):
        runtime.start("sum")
    with pytest.raises(InvalidInputError, match="two programs are named 'count@1'"):
        runtime.add(FunctionProgram("count", count))
    assert runtime.start("count", 0).status == "running"


def test_sync_and_async_effects_give_results(make_runtime: Make) -> None:
    async def slow(context: Any, payload: Any) -> Any:
        return {"got": payload, "attempt": context.attempt}

    program = once(Effect("slow", {"x": 1}))
    runtime = make_runtime(program, effects={"slow": slow})
    run = runtime.start(program)
    runtime.work()
    assert run.output == {"result": {"got": {"x": 1}, "attempt": 1}, "error": None}


def test_error_of_an_effect_is_an_item(make_runtime: Make) -> None:
    def fail(context: Any, payload: Any) -> Any:
        raise ValueError("no such account")

    program = once(Effect("fail"))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    assert run.output["error"] == {"type": "ValueError", "message": "no such account"}
    check(runtime, run.id, program)


def test_result_that_is_no_json_is_an_error_of_the_effect(make_runtime: Make) -> None:
    program = once(Effect("odd"))
    runtime = make_runtime(program, effects={"odd": lambda context, payload: {"a": [1, {2}]}})
    run = runtime.start(program)
    runtime.work()
    assert run.output["error"]["message"] == "result.a[1]: expected JSON, got set"


def test_unknown_kind_of_effect_is_an_error_of_the_effect(make_runtime: Make) -> None:
    program = once(Effect("nothing"))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    assert run.output["error"]["message"] == "there is no kind of effects 'nothing'"


def test_lost_lease_of_another_run_is_an_error_of_the_effect(make_runtime: Make) -> None:
    def fail(context: Any, payload: Any) -> None:
        raise LeaseLostError("another worker has taken over the run 'other'", run="other")

    program = once(Effect("fail"))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    assert run.output["error"]["type"] == "LeaseLostError"
    check(runtime, run.id, program)


def test_failed_effect_is_tried_again_later(make_runtime: Make, clock: Any) -> None:
    attempts: list[int] = []

    def shaky(context: Any, payload: Any) -> str:
        attempts.append(context.attempt)
        if len(attempts) < 3:
            raise ConnectionError("refused")
        return "done"

    program = once(Effect("shaky", retry=RetryPolicy(attempts=3, seconds=10, errors=("OSError",))))
    runtime = make_runtime(program, effects={"shaky": shaky})
    run = runtime.start(program)
    runtime.work()
    assert (attempts, run.status, run.info.due_at) == ([1], "running", clock.time_of_day() + 10)
    clock.advance(9)
    runtime.work()
    assert attempts == [1]
    clock.advance(1)
    runtime.work()
    clock.advance(20)
    runtime.work()
    assert (attempts, run.output["result"]) == ([1, 2, 3], "done")
    assert [each.kind for each in run.ledger()] == [
        "created", "step", "retry", "started", "retry", "started", "step",
    ]  # fmt: skip
    check(runtime, run.id, program)


class BusyError(Exception):
    """An error of a service that says when to try again."""

    retryable = True
    retry_after: Any = 90


def test_retryable_error_is_tried_again_when_it_says(make_runtime: Make, clock: Any) -> None:
    attempts: list[int] = []

    def fail(context: Any, payload: Any) -> None:
        attempts.append(context.attempt)
        raise BusyError

    program = once(Effect("fail", retry=RetryPolicy(attempts=2, seconds=10)))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    assert (attempts, run.info.due_at) == ([1], clock.time_of_day() + 90)
    clock.advance(90)
    runtime.work()
    assert (attempts, run.output["error"]["type"]) == ([1, 2], "BusyError")
    check(runtime, run.id, program)


@pytest.mark.parametrize("seconds", ["90", -1, float("nan"), [90], None])
def test_error_that_says_no_time_is_tried_again_when_its_retries_say(
    make_runtime: Make, clock: Any, seconds: Any
) -> None:
    error = BusyError()
    error.retry_after = seconds

    def fail(context: Any, payload: Any) -> None:
        raise error

    program = once(Effect("fail", retry=RetryPolicy(attempts=2, seconds=10)))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    assert run.status == "running"
    assert 0 < run.info.due_at - clock.time_of_day() <= 10
    clock.advance(10)
    runtime.work()
    assert run.output["error"]["type"] == "BusyError"
    check(runtime, run.id, program)


def test_error_that_asks_for_years_is_tried_again_within_a_month(make_runtime: Make, clock: Any) -> None:
    error = BusyError()
    error.retry_after = float("inf")

    def fail(context: Any, payload: Any) -> None:
        raise error

    program = once(Effect("fail", retry=RetryPolicy(attempts=2, seconds=10)))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    assert run.info.due_at == clock.time_of_day() + 30 * 86_400


def test_error_that_no_retry_names_is_not_tried_again(make_runtime: Make) -> None:
    def fail(context: Any, payload: Any) -> Any:
        raise KeyError("x")

    program = once(Effect("fail", retry=RetryPolicy(errors=("OSError",))))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    assert run.output["error"]["type"] == "KeyError"


@pytest.mark.parametrize(
    ("limits", "effects", "used"),
    [
        (Limits(steps=3), 2, "3 steps of 3"),
        (Limits(tokens=250), 3, "300 tokens of 250"),
        (Limits(dollars=Decimal("0.02")), 2, "0.02 dollars of 0.02"),
    ],
)
def test_run_that_reaches_a_limit_fails_before_its_next_effect(
    make_runtime: Make, limits: Limits, effects: int, used: str
) -> None:
    executed: list[int] = []

    def add(context: Any, payload: Any) -> EffectResult:
        executed.append(payload)
        return EffectResult(1, tokens=100, dollars=Decimal("0.01"))

    runtime = make_runtime(COUNT, effects={"add": add})
    run = runtime.start(COUNT, 10, limits=limits)
    runtime.work()
    assert run.error == {"type": "LimitReached", "message": f"the run has used {used}"}
    assert len(executed) == effects
    with pytest.raises(RunFailedError, match="LimitReached"):
        run.wait_for_output()


@pytest.mark.parametrize("tokens", [-5, 1.5, float("nan"), "5", None, True, 10**400])
def test_tokens_that_no_limit_could_count_are_an_error_of_their_effect(make_runtime: Make, tokens: Any) -> None:
    error, spent = error_of_use(make_runtime, lambda: EffectResult(1, tokens))
    assert error["message"].startswith("tokens: expected an integer of at least 0")
    assert (spent.steps, spent.tokens) == (2, 0)


@pytest.mark.parametrize("dollars", [0.5, Decimal("NaN"), Decimal("sNaN"), Decimal(-3), Decimal("9e999999"), "1"])
def test_dollars_that_no_limit_could_count_are_an_error_of_their_effect(make_runtime: Make, dollars: Any) -> None:
    error, spent = error_of_use(make_runtime, lambda: EffectResult(1, 1, dollars))
    assert error["message"].startswith("dollars: expected a Decimal of at least 0")
    assert spent.dollars == 0


def error_of_use(make_runtime: Make, used: Callable[[], EffectResult]) -> tuple[Any, Spent]:
    """Returns the error of an effect that reports such a use, and what its run has spent."""

    def step(state: Any, item: Item) -> Step:
        return Step.do({}, Effect("use")) if item.kind == "start" else Step.complete(item.error)

    program = FunctionProgram("uses", step)
    runtime = make_runtime(program, effects={"use": lambda context, payload: used()})
    run = runtime.start(program, limits=Limits(tokens=10, dollars=Decimal(1)))
    runtime.work()
    check(runtime, run.id, program)
    return run.output, run.info.spent


@pytest.mark.parametrize(("effects", "warned"), [(7, []), (8, ["steps", "tokens"]), (9, ["steps", "tokens"])])
def test_ledger_has_one_warning_at_four_fifths_of_a_limit(make_runtime: Make, effects: int, warned: list[str]) -> None:
    runtime = make_runtime(COUNT, effects={"add": lambda context, payload: EffectResult(1, tokens=100)})
    run = runtime.start(COUNT, effects, limits=Limits(steps=11, tokens=1000))
    runtime.work()
    warnings = [record.body["limit"] for record in run.ledger() if record.kind == "warning"]
    assert (run.output, warnings) == (effects, warned)
    check(runtime, run.id, COUNT)


def test_effect_that_has_begun_is_executed_although_its_time_ends(make_runtime: Make, clock: Any) -> None:
    executed: list[Any] = []
    runtime = make_runtime(COUNT, effects={"add": lambda context, payload: executed.append(payload) or 1})
    run = runtime.start(COUNT, 2, limits=Limits(seconds=60))
    commit = runtime.store.commit

    def late(*arguments: Any) -> None:
        commit(*arguments)
        clock.advance(61)

    runtime.store.commit = late  # type: ignore[method-assign]
    runtime.work()
    assert (executed, run.error["type"]) == ([2], "LimitReached")
    check(runtime, run.id, COUNT)


def test_waiting_run_ends_at_its_limit_of_time(make_runtime: Make, clock: Any) -> None:
    program = FunctionProgram("waits", lambda state, item: Step.wait({}, Wait("ok")))
    runtime = make_runtime(program)
    run = runtime.start(program, limits=Limits(seconds=60))
    runtime.work()
    assert run.status == "waiting"
    with pytest.raises(NotFinishedError, match="the run is waiting after 0 s"):
        run.wait_for_output(timeout=0)
    clock.advance(61)
    runtime.work()
    assert (run.status, run.error["type"]) == ("failed", "LimitReached")
    check(runtime, run.id, program)


def test_large_values_come_back(make_runtime: Make) -> None:
    large = {"text": "ä" * 10_000, "list": [*range(3000)]}
    program = once(Effect("echo", large))
    runtime = make_runtime(program, effects={"echo": lambda context, payload: payload})
    run = runtime.start(program, large)
    runtime.work()
    assert run.output["result"] == large
    records = [*run.ledger()]
    assert records[1].body["item"]["payload"] == large
    assert records[1].body["effect"]["payload"] == large
    assert records[2].body["item"]["payload"] == large
    check(runtime, run.id, program)


def test_value_that_looks_like_a_stored_one_comes_back(make_runtime: Make) -> None:
    odd = {"$artifact": "0" * 64, "bytes": 3}
    program = once(Effect("echo", odd))
    runtime = make_runtime(program, effects={"echo": lambda context, payload: payload})
    run = runtime.start(program, odd)
    runtime.work()
    assert run.output["result"] == odd
    assert [*run.ledger()][1].body["item"]["payload"] == odd


def test_children_run_and_their_ends_are_items(make_runtime: Make) -> None:
    def parent(state: Any, item: Item) -> Step:
        if item.kind == "start":
            children = tuple(Child(f"part-{number}", "count", number) for number in (1, 2))
            waits = [Wait("part-1", "child"), Wait("part-2", "child")]
            return Step.wait({}, *waits, children=children)
        state = {**state, item.key: item.payload}
        if len(state) < 2:
            return Step.wait(state, *(Wait(key, "child") for key in ("part-1", "part-2") if key not in state))
        return Step.complete(state, state=state)

    program = FunctionProgram("parent", parent)
    runtime = make_runtime(program, COUNT, effects=ADD)
    run = runtime.start(program, id="p")
    runtime.work()
    assert run.output == {"part-1": 1, "part-2": 3}
    assert [child.id for child in run.children] == ["p/part-1", "p/part-2"]
    for id, of in (("p", program), ("p/part-1", COUNT)):
        check(runtime, id, of)


def test_failed_child_is_an_error_of_its_item(make_runtime: Make) -> None:
    def parent(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("part", "child"), children=(Child("part", "bad"),))
        return Step.complete(item.error)

    program = FunctionProgram("parent", parent)
    bad = FunctionProgram("bad", lambda state, item: Step.fail("nothing to do", type="Empty"))
    runtime = make_runtime(program, bad)
    run = runtime.start(program)
    runtime.work()
    assert run.output == {"type": "Empty", "message": "nothing to do"}


def test_child_that_ends_early_is_joined_later(make_runtime: Make) -> None:
    def parent(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("go"), children=(Child("part", "count", 3),))
        if item.key == "go":
            return Step.wait({}, Wait("part", "child"))
        return Step.complete(item.payload)

    program = FunctionProgram("parent", parent)
    runtime = make_runtime(program, COUNT, effects=ADD)
    run = runtime.start(program)
    runtime.work()
    assert (run.status, run.children[0].status) == ("waiting", "completed")
    run.waits[0].answer()
    runtime.work()
    assert run.output == 6


def test_versions_are_worked_on_by_who_has_them(make_runtime: Make) -> None:
    old, new = FunctionProgram("p", count, "1"), FunctionProgram("p", count, "2")
    runtime = make_runtime(old, effects=ADD)
    run = runtime.start(old, 1)
    other = make_runtime(new, effects=ADD)
    other.work()
    assert run.status == "running"
    assert other.store.due_programs() == {"p@1": 1}
    assert other.start("p", 1).info.program == "p@2"
    runtime.work()
    assert run.output == 1


def test_item_that_was_sent_before_is_not_sent_again(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.complete(sends=(Send("news", item.payload, id="only-once"),))

    program = FunctionProgram("sends", step)
    runtime = make_runtime(program)
    runs = [runtime.start(program, number) for number in (1, 2)]
    runtime.work()
    assert [run.status for run in runs] == ["completed", "completed"]
    assert runtime.emit("news", id="only-once").state == "repeated"


def test_child_with_the_id_of_another_run_fails_the_step(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("part", "child"), children=(Child("part", "count", 1, run="taken"),))

    program = FunctionProgram("parent", step)
    runtime = make_runtime(program, COUNT, effects=ADD)
    runtime.start(COUNT, 1, id="taken")
    run = runtime.start(program)
    runtime.work()
    assert (run.status, run.children) == ("failed", [])
    assert "a run 'taken' exists, which is no child of this one" in run.error["message"]
    check_chain(runtime, run.id)


def test_long_ids_of_children_end_in_a_hash(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("k" * 150, "child"), children=(Child("k" * 150, "count", 1),))
        return Step.complete(item.payload)

    program = FunctionProgram("parent", step)
    runtime = make_runtime(program, COUNT, effects=ADD)
    run = runtime.start(program, id="p" * 150)
    runtime.work()
    assert (run.output, len(run.children[0].id)) == (1, 200)


def test_values_as_deep_as_json_may_be_are_written(make_runtime: Make) -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    program = once(Effect("echo", deep))
    runtime = make_runtime(program, effects={"echo": lambda context, payload: payload})
    run = runtime.start(program, deep)
    runtime.work()
    assert "output.result" in run.error["message"]  # it has the value one level deeper
    assert [*run.ledger()][1].body["effect"]["payload"] == deep
    deepest = FunctionProgram("deepest", lambda state, item: Step.complete(item.payload, state=item.payload))
    runtime = make_runtime(deepest)
    run = runtime.start(deepest, deep)
    runtime.work()
    assert run.output == deep


def test_damaged_row_holds_up_no_other_run(make_runtime: Make, clock: Any) -> None:
    runtime = make_runtime(COUNT, effects=ADD)
    runs = [runtime.start(COUNT, 2, id=name) for name in ("bad", "good")]
    with runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_runs SET limits = X'00' WHERE id = 'bad'")
    runtime.work()
    assert runs[1].output == 3
    assert runtime.store.seconds_until_due([*runtime.programs]) == 3600


def test_many_damaged_rows_are_put_off_in_one_claim(make_runtime: Make, clock: Any) -> None:
    runtime = make_runtime(COUNT, effects=ADD)
    many = sys.getrecursionlimit() + 1
    for number in range(many):
        runtime.start(COUNT, 2, id=str(number))
    with runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_runs SET limits = X'00'")
    clock.advance(1)
    good = runtime.start(COUNT, 2)
    assert runtime.work() == 1
    assert good.output == 3
    assert [info["due_at"] for info in rows(runtime)] == [clock.time_of_day() + 3600] * many


def rows(runtime: Runtime) -> list[Any]:
    """Returns the rows of runs that are due at some time."""
    with runtime.database.reading() as connection:
        found = connection.exec_driver_sql("SELECT due_at FROM abstractruntime_runs WHERE due_at IS NOT NULL")
        return [*found.mappings().all()]


def test_one_run_is_taken_on_step_by_step(make_runtime: Make) -> None:
    runtime = make_runtime(COUNT, effects=ADD)
    run, other = (runtime.start(COUNT, 3, id=name) for name in ("one", "two"))
    states: list[Any] = []
    while not run.info.ended:
        assert runtime.advance("one", max_steps=1)
        states.append(run.state)
    assert [each["left"] for each in states] == [3, 2, 1, 0]
    assert (run.output, other.state) == (6, None)
    assert {record.body["attempt"] for record in run.ledger() if record.kind == "started"} == {1}
    check(runtime, "one", COUNT)
    (held,) = runtime.store.claim(["count@1"], "another")
    assert not runtime.advance("two")
    runtime.store.release(held)
    with pytest.raises(UnknownProgramError, match="no program 'count@1' here"):
        make_runtime().advance("two")


def test_pause_and_resume_keep_the_time_of_a_retry(make_runtime: Make, clock: Any) -> None:
    attempts: list[int] = []

    def fail(context: Any, payload: Any) -> None:
        attempts.append(context.attempt)
        raise OSError("refused")

    program = once(Effect("fail", retry=RetryPolicy(attempts=2, seconds=60, errors=("OSError",))))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    run.pause()
    runtime.work()
    run.resume()
    runtime.work()
    assert (attempts, run.info.due_at) == ([1], clock.time_of_day() + 60)
    clock.advance(60)
    runtime.work()
    assert (attempts, run.status) == ([1, 2], "completed")
    check(runtime, run.id, program)


def test_applied_items_leave_no_empty_pages(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("go"))

    program = FunctionProgram("waits", step)
    runtime = make_runtime(program)
    for number in range(100):
        runtime.start(program, "a" * 3000, id=f"run-{number}")  # a page each, in the inbox and then in the ledger
    runtime.work()
    with runtime.database.reading() as connection:
        used, free = (connection.exec_driver_sql(f"PRAGMA {name}_count").scalar_one() for name in ("page", "freelist"))
    assert used - free < 100 * 1.8
    assert {row.state for row in runtime.store.inbox("run-7")} == {"applied"}
    check(runtime, "run-7", program)


def test_child_whose_end_was_not_taken_yet_may_be_named_again(make_runtime: Make) -> None:
    child = Child("part", "count", 1)

    def step(state: Any, item: Item) -> Step:
        match item.kind:
            case "start":
                return Step("works", effect=Effect("work"), children=(child,))
            case "result":
                return Step.wait("waits", Wait("part", "child"), children=(child,))
            case _:
                return Step.complete(item.payload, state=state)

    def work(context: Any, payload: Any) -> str:
        runtime.advance(f"{context.run}/part")
        return runtime.run(f"{context.run}/part").status

    program = FunctionProgram("parent", step)
    runtime = make_runtime(program, COUNT, effects={**ADD, "work": work})
    run = runtime.start(program)
    runtime.work()
    assert run.output == 1
    assert [record.body["item"]["payload"] for record in run.ledger() if record.kind == "step"][1] == "completed"
    check(runtime, run.id, program)


def test_child_that_has_ended_is_not_started_again(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("part", "child"), children=(Child("part", "count", 1),))

    program = FunctionProgram("parent", step)
    runtime = make_runtime(program, COUNT, effects=ADD)
    run = runtime.start(program, id="p")
    runtime.work()
    assert run.status == "failed"
    assert "the child 'p/part' has ended, and its end was taken" in run.error["message"]
    check_chain(runtime, run.id)


def spends(name: str, dollars: str, ends: Callable[[], Step] = Step.complete, of: str | None = None) -> FunctionProgram:
    """Returns a program that spends, perhaps after a child has ended."""

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start" and of is not None:
            return Step.wait({}, Wait("part", "child"), children=(Child("part", of),))
        return ends() if item.kind == "result" else Step.do({}, Effect("spend", dollars))

    return FunctionProgram(name, step)


SPEND = {"spend": lambda context, dollars: EffectResult(None, 10, Decimal(dollars))}


def test_what_children_spend_counts_for_their_parents(make_runtime: Make) -> None:
    last = spends("last", "0.50", lambda: Step.fail("no"))
    middle, first = spends("middle", "0.25", of="last"), spends("first", "0.10", of="middle")
    runtime = make_runtime(last, middle, first, effects=SPEND)
    run = runtime.start(first, limits=Limits(dollars=Decimal(2)))
    runtime.work()
    (child,) = run.children
    (grandchild,) = child.children
    assert (grandchild.status, child.status, run.status) == ("failed", "completed", "completed")
    spent = [each.info.spent for each in (grandchild, child, run)]
    assert [(each.tokens, str(each.dollars)) for each in spent] == [(10, "0.50"), (20, "0.75"), (30, "0.85")]
    assert [each.steps for each in spent] == [2, 3, 3]
    for each, program in ((grandchild, last), (child, middle), (run, first)):
        check(runtime, each.id, program)


def test_effect_after_which_a_child_fails_counts_for_its_parent(make_runtime: Make) -> None:
    def fails(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("spend", "0.50"))
        raise ValueError("cannot go on")

    child, parent = FunctionProgram("child", fails), spends("parent", "0.10", of="child")
    runtime = make_runtime(child, parent, effects=SPEND)
    run = runtime.start(parent)
    runtime.work()
    assert run.children[0].error["type"] == "ProgramError"
    assert str(run.info.spent.dollars) == "0.60"
    check(runtime, run.id, parent)


def test_limit_of_dollars_holds_for_a_tree_of_runs(make_runtime: Make) -> None:
    child, parent = spends("child", "0.50"), spends("parent", "0.10", of="child")
    runtime = make_runtime(child, parent, effects=SPEND)
    run = runtime.start(parent, limits=Limits(dollars=Decimal("0.40")))
    runtime.work()
    assert run.error == {"type": "LimitReached", "message": "the run has used 0.5 dollars of 0.4"}
    assert str(run.info.spent.dollars) == "0.50"
    assert [*run.ledger()][-1].body["used"] == {"tokens": 10, "dollars": "0.50"}
    run.verify().check()
