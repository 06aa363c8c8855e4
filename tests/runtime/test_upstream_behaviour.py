"""Behaviour that AbstractRuntime's kernel suites pin, and that no other test here is about."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.stores.artifacts import FileArtifactStore
from abstractcore.testing import VirtualClock
from abstractruntime import Child, Effect, FunctionProgram, Item, RetryPolicy, Runtime, Step, Wait
from tests.runtime.checks import check

Make = Callable[..., Runtime]


def asking(name: str = "asking", **wait: Any) -> FunctionProgram:
    """Returns a program that waits once, and completes with the answer."""

    def step(state: Any, item: Item) -> Step:
        return Step.wait({}, Wait("ok", **wait)) if item.kind == "start" else Step.complete(item.payload)

    return FunctionProgram(name, step)


def doing(*effects: Effect) -> FunctionProgram:
    """Returns a program that executes effects one after the other, and completes with their results and errors."""

    def step(state: Any, item: Item) -> Step:
        state = [] if item.kind == "start" else [*state, [item.payload, item.error]]
        return Step.do(state, effects[len(state)]) if len(state) < len(effects) else Step.complete(state, state=state)

    return FunctionProgram("doing", step)


def nested(name: str, of: str) -> FunctionProgram:
    """Returns a program that completes with the output of a child, and fails with its error."""

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("part", "child"), children=(Child("part", of, item.payload),))
        if item.error is not None:
            return Step.fail(item.error["message"], type=item.error["type"])
        return Step.complete([name, item.payload])

    return FunctionProgram(name, step)


def test_pause_outlasts_a_deadline(make_runtime: Make, clock: VirtualClock) -> None:
    program = asking(reason="until", deadline=clock.time_of_day() + 60)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.pause()
    runtime.work()
    clock.advance(100)
    assert (runtime.work(), run.status) == (0, "waiting")
    run.resume()
    runtime.work()
    assert run.status == "completed"
    check(runtime, run.id, program)


def test_ledger_has_what_was_asked_and_ends_with_the_output(make_runtime: Make) -> None:
    asked = {"prompt": "Which size?", "choices": ["S", "M"], "allow_free_text": False}
    program = asking(asked=asked)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    assert [*run.ledger()][-1].body["waits"] == [{"key": "ok", "reason": "input", "asked": asked}]
    run.waits[0].answer("M")
    runtime.work()
    last = [*run.ledger()][-1].body
    assert (last["ended"], last["output"], last["item"]["key"]) == ("completed", "M", "ok")


def test_attempts_are_those_of_each_effect(make_runtime: Make, clock: VirtualClock) -> None:
    calls: list[tuple[str, int]] = []

    def fail(context: Any, payload: Any) -> None:
        calls.append((payload, context.attempt))
        raise OSError("refused")

    retry = RetryPolicy(attempts=2, seconds=10, errors=("OSError",))
    program = doing(Effect("fail", "twice", retry=retry), Effect("fail", "once"))
    runtime = make_runtime(program, effects={"fail": fail})
    run = runtime.start(program)
    runtime.work()
    clock.advance(10)
    runtime.work()
    assert calls == [("twice", 1), ("twice", 2), ("once", 1)]
    assert [error["message"] for _, error in run.output] == ["refused", "refused"]
    ledger = [*make_runtime(program).run(run.id).ledger()]
    assert [record.body["attempt"] for record in ledger if record.kind in ("retry", "started")] == [1, 2]
    check(runtime, run.id, program)


def test_pauses_between_attempts_double_up_to_the_longest() -> None:
    assert [RetryPolicy(longest=10).pause(attempt) for attempt in range(1, 7)] == [1, 2, 4, 8, 10, 10]


def test_key_of_an_effect_is_a_digest_of_its_record(make_runtime: Make, clock: VirtualClock) -> None:
    keys: list[tuple[str, str]] = []

    def note(context: Any, payload: Any) -> None:
        keys.append((context.run, context.idempotency_key))
        if len(keys) == 1:
            raise ConnectionError("refused")

    retry = RetryPolicy(attempts=2, seconds=1, errors=("OSError",))
    program = doing(Effect("note", 1, retry=retry), Effect("note", 1))
    runtime = make_runtime(program, effects={"note": note})
    for id in "ab":
        runtime.start(program, id=id)
        runtime.work()
        clock.advance(1)
        runtime.work()
    assert keys[0] == keys[1]
    assert len({*keys}) == 4
    begun = [record.seq for record in make_runtime(program).run("a").ledger() if record.body.get("effect")]
    assert [key for run, key in keys[1:] if run == "a"] == [
        hashlib.sha256(f"a/{number}".encode()).hexdigest() for number in begun
    ]


def test_records_are_read_in_pages_from_any_number(make_runtime: Make) -> None:
    program = doing(Effect("note", 1), Effect("note", 2))
    runtime = make_runtime(program, effects={"note": lambda context, payload: payload})
    run = runtime.start(program)
    runtime.work()
    again = make_runtime().run(run.id)
    assert [record.seq for record in again.ledger()] == [1, 2, 3, 4]
    assert [record.seq for record in again.ledger(after=2)] == [3, 4]
    assert [*again.ledger(after=4)] == []


def test_ids_of_items_are_remembered(make_runtime: Make) -> None:
    assert make_runtime().emit("news", 1, id="mail-1").state == "kept"
    assert make_runtime().emit("news", 1, id="mail-1").state == "repeated"


def test_runs_are_listed(make_runtime: Make, clock: VirtualClock) -> None:
    asks, waits = asking(), asking("waits", reason="until", deadline=clock.time_of_day() + 60)
    parent = nested("parent", "asking")
    runtime = make_runtime(asks, waits, parent)
    assert runtime.runs() == []
    for id, program in (("a", asks), ("b", waits), ("p", parent)):
        runtime.start(program, id=id)
        clock.advance(1)
        runtime.work()
        clock.advance(1)
    runtime.run("a").waits[0].answer()
    runtime.work()

    def ids(**filters: Any) -> list[str]:
        return [each.id for each in runtime.runs(**filters)]

    assert ids() == ["p/part", "p", "b", "a"]
    assert ids(limit=2) == ["p/part", "p"]
    assert (ids(status="waiting"), ids(status="completed")) == (["p/part", "p", "b"], ["a"])
    assert ids(program="asking") == ["p/part", "a"]
    assert ids(program="asking", status="waiting") == ["p/part"]
    assert (ids(reason="until"), ids(reason="child"), ids(reason="input")) == (["b"], ["p"], ["p/part"])
    assert ids(parent="p", status="waiting") == ["p/part"]
    assert ids(parent="p", status="completed") == []


def test_due_runs_are_taken_in_the_order_of_their_times(make_runtime: Make, clock: VirtualClock) -> None:
    now = clock.time_of_day()
    programs = [asking(f"p{seconds}", reason="until", deadline=now + seconds) for seconds in (30, 10, 20, 90)]
    programs.append(asking("asks"))
    runtime = make_runtime(*programs)
    assert runtime.store.seconds_until_due([*runtime.programs]) is None
    for program in programs:
        runtime.start(program, id=program.name)
    runtime.work()
    clock.advance(40)
    again = make_runtime(*programs)
    assert sum(again.store.due_programs().values()) == 3
    due = [lease for _ in range(4) for lease in again.store.claim([*again.programs], "worker")]
    assert [lease.run for lease in due] == ["p10", "p20", "p30"]
    for lease in due:
        again.store.release(lease)
    again.work()
    assert [again.run(f"p{seconds}").info.due_at for seconds in (10, 20, 30)] == [None] * 3


def test_programs_are_found_by_their_names(make_runtime: Make) -> None:
    program = asking()
    runtime = make_runtime()
    run = runtime.start(program)
    assert [*runtime.programs] == ["asking@1"]
    assert runtime.start("asking").info.program == run.info.program
    with pytest.raises(InvalidInputError, match="two programs are named 'asking@1'"):
        runtime.add(asking())
    runtime.add(FunctionProgram("asking", program.function, version="2"))
    assert runtime.start("asking").info.program == "asking@2"


def test_work_is_counted(make_runtime: Make) -> None:
    program = asking()
    runtime = make_runtime(program)
    for _ in range(3):
        runtime.start(program)
    assert (runtime.work(), runtime.work()) == (3, 0)


def test_runs_are_in_a_file_and_no_thread_works_on_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    threads = threading.active_count()
    with Runtime() as runtime:
        runtime.start(asking())
        assert threading.active_count() == threads
    assert (tmp_path / "runs.db").is_file()


def test_outputs_travel_up_three_levels(make_runtime: Make) -> None:
    programs = [nested("top", "middle"), nested("middle", "asking"), asking()]
    runtime = make_runtime(*programs)
    run = runtime.start("top", id="t")
    runtime.work()
    assert (run.status, runtime.run("t/part").info.parent) == ("waiting", "t")
    runtime.run("t/part/part").waits[0].answer("M")
    runtime.work()
    assert run.output == ["top", ["middle", "M"]]


def test_child_whose_step_raises_fails_and_its_parent_is_told_why(make_runtime: Make) -> None:
    def fail(state: Any, item: Item) -> Step:
        raise KeyError("size")

    runtime = make_runtime(nested("top", "fails"), FunctionProgram("fails", fail))
    run = runtime.start("top", id="t")
    runtime.work()
    assert (run.status, runtime.run("t/part").status) == ("failed", "failed")
    assert "KeyError: 'size'" in run.error["message"]
    assert "fails@1" in run.error["message"]


@pytest.mark.parametrize("program", ["unknown", ""])
def test_child_of_no_program_fails_the_run(make_runtime: Make, program: str) -> None:
    runtime = make_runtime(nested("top", program))
    run = runtime.start("top")
    runtime.work()
    assert (run.status, run.error["type"]) == ("failed", "ProgramError")
    assert "program" in run.error["message"]


def test_cancelling_ends_the_tree_and_nothing_that_has_ended(make_runtime: Make) -> None:
    runtime = make_runtime(nested("top", "middle"), nested("middle", "asking"), asking())
    run = runtime.start("top", id="t")
    runtime.work()
    run.cancel("enough")
    runtime.work()
    assert {each.status for each in runtime.runs()} == {"cancelled"}
    assert run.error == {"type": "Cancelled", "message": "enough"}
    count = run.info.seq
    runtime.advance("t")
    assert (run.status, run.info.seq) == ("cancelled", count)
    ended = runtime.start("asking")
    runtime.work()
    ended.waits[0].answer("M")
    runtime.work()
    assert ended.cancel().state == "refused"
    assert (ended.status, ended.output) == ("completed", "M")


@pytest.mark.parametrize("content", [b"", bytes(range(256)), "Größe 🍵 茶".encode(), b"x" * 1_000_000])
def test_artifacts_are_there_for_a_second_store(tmp_path: Path, content: bytes) -> None:
    store = FileArtifactStore(tmp_path)
    sha256 = hashlib.sha256(content).hexdigest()
    assert not store.exists(sha256)
    assert store.put(content, "application/octet-stream").sha256 == sha256
    assert FileArtifactStore(tmp_path).get(sha256) == content
