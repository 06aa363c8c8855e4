"""What is refused, and how: values that are no JSON, wrong steps and kinds, names, databases, and many threads."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from abstractcore.database import DatabaseError
from abstractcore.errors import ConfigurationError, InvalidInputError
from abstractcore.testing import VirtualClock
from abstractruntime import (
    Child,
    Effect,
    EffectContext,
    FunctionEffect,
    FunctionProgram,
    Item,
    LeaseLostError,
    LedgerError,
    Limits,
    NotWaitingError,
    RetryPolicy,
    Runtime,
    Send,
    Step,
    Wait,
)
from abstractruntime.store import Change
from tests.forks import in_fork
from tests.postgresql import PostgreSQL
from tests.runtime.checks import check, check_chain

Make = Callable[..., Runtime]
ECHO = FunctionProgram("echo", lambda state, item: Step.complete(item.payload))


def nested(depth: int) -> Any:
    """Returns a list in a list, and so on."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)
NO_JSON = {
    "nan": ({"a": [1, math.nan]}, ".a[1]: nan is not a JSON number"),
    "bytes": ({"a": [b"x"]}, ".a[0]: expected JSON, got bytes"),
    "set": ([{1}], "[0]: expected JSON, got set"),
    "decimal": ({"a": {"b": Decimal(1)}}, ".a.b: expected JSON, got Decimal"),
    "integer as a key": ({"a": {1: 2}}, ".a: expected texts as keys, got 1"),
    "surrogate": ({"a": ["\ud800"]}, ": has a lone surrogate"),
    "surrogate in a key": ({"\ud800": 1}, ": has a lone surrogate"),
    "long integer": ([10**5000], ": has an integer of too many digits"),
    "101 deep": (nested(101), "[0][0][0]: is nested more than 100 deep, or contains itself"),
    "recursive": (RECURSIVE, "[0][0][0]: is nested more than 100 deep, or contains itself"),
}
STEPS: dict[str, tuple[str, Callable[[Any], Step]]] = {
    "state": ("state", lambda value: Step.wait(value, Wait("a"))),
    "output": ("output", Step.complete),
    "error": ("error", lambda value: Step(ended="failed", error=value)),
    "effect": ("effect.payload", lambda value: Step.do({}, Effect("none", value))),
    "wait": ("asked", lambda value: Step.wait({}, Wait("a", asked=value))),
    "send": ("sends[0].payload", lambda value: Step.complete(sends=(Send("k", value),))),
    "child": ("children.c.input", lambda value: Step.wait({}, Wait("c"), children=(Child("c", "echo", value),))),
}


@pytest.mark.parametrize("name", [*NO_JSON])
def test_input_and_payload_that_are_no_json_are_refused_where_they_are_given(make_runtime: Make, name: str) -> None:
    value, problem = NO_JSON[name]
    waiting = FunctionProgram("waiting", lambda state, item: Step.wait({}, Wait("a")))
    runtime = make_runtime(waiting, ECHO)
    run = runtime.start(waiting, id="a")
    runtime.work()
    gives: dict[str, Callable[[], object]] = {
        "input": lambda: runtime.start(ECHO, value),
        "payload": lambda: runtime.emit("k", value),
        "payload ": lambda: run.send("k", value),
        "payload  ": lambda: run.waits[0].answer(value),
    }
    for path, give in gives.items():
        with pytest.raises(InvalidInputError) as caught:
            give()
        assert caught.value.message.startswith(path.strip())
        assert problem in caught.value.message
    assert [each.id for each in runtime.runs()] == ["a"]
    assert len(runtime.store.inbox("a")) == 1


@pytest.mark.parametrize("place", [*STEPS])
@pytest.mark.parametrize("name", [*NO_JSON])
def test_step_with_a_value_that_is_no_json_fails_its_run_and_names_the_path(
    make_runtime: Make, name: str, place: str
) -> None:
    (value, problem), (path, make) = NO_JSON[name], STEPS[place]
    program = FunctionProgram("bad", lambda state, item: make(value))
    runtime = make_runtime(program, ECHO)
    run = runtime.start(program)
    runtime.work()
    assert (run.status, run.error["type"]) == ("failed", "ProgramError")
    assert "the program bad@1 failed at the item 'start': InvalidInputError" in run.error["message"]
    assert problem in run.error["message"]
    if "surrogate" not in name and "integer of" not in problem:
        assert f"{path}{problem if problem[0] != '[' else '['}" in run.error["message"]
    assert run.children == []
    check(runtime, run.id, program)


def leave() -> Any:
    """Returns nothing."""


WRONG_STEPS: dict[str, tuple[Callable[[Any, Item], Any], str]] = {
    "raises": (lambda state, item: item.payload["y"], "KeyError: 'y'"),
    "nothing": (lambda state, item: leave(), "InvalidInputError: step: expected a Step, got NoneType"),
    "unknown end": (
        lambda state, item: Step(ended="done"),  # pyright: ignore[reportArgumentType]
        "step.ended: expected completed or failed, got 'done'",
    ),
    "neither": (lambda state, item: Step({}), "neither executes an effect, nor waits, nor ends the run"),
    "end and wait": (lambda state, item: Step(ended="failed", waits=(Wait("a"),)), "step.ended: a run that has ended"),
    "key twice": (
        lambda state, item: Step.wait({}, Wait("a"), Wait("a")),
        "keys that are used twice, or reserved: ['a']",
    ),
    "reserved key": (
        lambda state, item: Step.wait({}, Wait("interrupted")),
        "used twice, or reserved: ['interrupted']",
    ),
    "text as a wait": (lambda state, item: Step.wait({}, "a"), "'str' object has no attribute 'key'"),  # pyright: ignore[reportArgumentType]
    "late deadline": (
        lambda state, item: Step.wait({}, Wait("a", deadline=math.nan)),
        "wait.deadline: expected seconds",
    ),
    "text as a deadline": (
        lambda state, item: Step.wait({}, Wait("a", deadline="noon")),  # pyright: ignore[reportArgumentType]
        "wait.deadline: expected seconds since the epoch, got 'noon'",
    ),
    "recursion": (lambda state, item: WRONG_STEPS["recursion"][0](state, item), "RecursionError"),
    "unknown child": (
        lambda state, item: Step.wait({}, Wait("c"), children=(Child("c", "nobody"),)),
        "children.program: there is no program 'nobody'. Register it: Runtime(..., programs=[...]).",
    ),
    "child of a wrong name": (
        lambda state, item: Step.wait({}, Wait("c"), children=(Child("c", "a b@1"),)),
        "children.program: expected name@version without spaces, got 'a b@1'",
    ),
    "reserved id": (lambda state, item: Step.complete(sends=(Send("k", id="start:a"),)), "send.id: begins with start:"),
    "refused start": (lambda state, item: Step.refuse("no"), "an item of the kind 'start' cannot be refused"),
}


@pytest.mark.parametrize("name", [*WRONG_STEPS])
def test_wrong_step_fails_its_run_and_no_other(make_runtime: Make, name: str) -> None:
    step, problem = WRONG_STEPS[name]
    program = FunctionProgram("wrong", step)
    runtime = make_runtime(program, ECHO)
    run, other = runtime.start(program, {"x": 1}), runtime.start(ECHO, 1)
    runtime.work()
    assert (run.status, run.error["type"], other.output) == ("failed", "ProgramError", 1)
    assert problem in run.error["message"]
    assert [*run.ledger()][-1].body["item"]["payload"] == {"x": 1}
    check(runtime, run.id, program)


def test_step_that_changes_its_state_and_item_is_recorded_as_it_was_given(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({"seen": [item.payload.pop("x")]}, Wait("a"))
        state["seen"].append(item.payload.pop("y"))
        return Step.complete(state["seen"], state=state)

    program = FunctionProgram("changes", step)
    runtime = make_runtime(program)
    run = runtime.start(program, {"x": 1})
    runtime.work()
    run.waits[0].answer({"y": 2})
    runtime.work()
    assert run.output == [1, 2]
    payloads = [record.body["item"]["payload"] for record in run.ledger() if record.kind == "step"]
    assert payloads == [{"x": 1}, {"y": 2}]
    check(runtime, run.id, program)


def test_effect_that_changes_its_payload_gets_it_whole_the_next_time(make_runtime: Make, clock: VirtualClock) -> None:
    seen: list[Any] = []

    def take(context: Any, payload: Any) -> None:
        seen.append(dict(payload))
        payload.clear()
        if len(seen) == 1:
            raise Killed

    program = FunctionProgram(
        "takes",
        lambda state, item: Step.do({}, Effect("take", {"x": (1,)})) if item.kind == "start" else Step.complete(),
    )
    effects = {"take": FunctionEffect(take, "repeat")}
    runtime = make_runtime(program, effects=effects)
    runtime.start(program, id="a")
    lease = runtime.store.claim(["takes@1"], "one")[0]
    runtime.store.release(lease)
    with pytest.raises(Killed):
        runtime.work()
    clock.advance(31)
    runtime.work()
    assert seen == [{"x": [1]}, {"x": [1]}]
    assert runtime.run("a").status == "completed"


class Killed(BaseException):
    """Ends a worker as a crash does."""


def fail_to_say(payload: Any) -> Any:
    raise OSError("no answer")


def say_maybe(payload: Any) -> Any:
    return "maybe"


@pytest.mark.parametrize("rule", [fail_to_say, say_maybe, "perhaps", None])
@pytest.mark.parametrize("depth", [1, 100])
def test_effect_of_a_kind_that_cannot_say_what_a_crash_means_is_asked_about(
    make_runtime: Make, clock: VirtualClock, rule: Any, depth: int
) -> None:
    executed: list[int] = []

    def die(context: Any, payload: Any) -> None:
        executed.append(context.attempt)
        raise Killed

    def step(state: Any, item: Item) -> Step:
        return Step.do({}, Effect("die", nested(depth))) if item.kind == "start" else Step.complete(item.payload)

    program = FunctionProgram("dies", step)
    runtime = make_runtime(program, effects={"die": FunctionEffect(die, rule)})
    run = runtime.start(program)
    with pytest.raises(Killed):
        runtime.work()
    clock.advance(31)
    runtime.work()
    (wait,) = run.waits
    assert (wait.key, wait.asked["effect"]["payload"], executed) == ("interrupted", nested(depth), [1])
    wait.result("done")
    runtime.work()
    assert run.output == "done"
    check(runtime, run.id, program)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"attempts": 0}, "attempts: expected an integer of at least 1, got 0"),
        ({"attempts": True}, "attempts: expected an integer of at least 1, got True"),
        ({"seconds": -1}, "seconds: expected a number of at least 0, got -1"),
        ({"factor": math.nan}, "factor: expected a number of at least 0, got nan"),
        ({"errors": "OSError"}, "errors: expected a tuple of up to 100 names of classes, got 'OSError'"),
        ({"errors": ("OSError",) * 101}, "errors: expected a tuple of up to 100 names"),
        ({"errors": (OSError,)}, r"errors\[0\]: expected a text that is not empty, got <class 'OSError'>"),
    ],
)
def test_wrong_retries_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        RetryPolicy(**options)


def test_note_that_is_no_json_is_an_error_of_the_effect(make_runtime: Make) -> None:
    program = FunctionProgram(
        "notes", lambda state, item: Step.do({}, Effect("note")) if item.kind == "start" else Step.complete(item.error)
    )

    def note(context: EffectContext, payload: Any) -> None:
        context.note("journal", {"a": {1}})

    runtime = make_runtime(program, effects={"note": note})
    run = runtime.start(program)
    runtime.work()
    assert run.output["message"] == "entry.a: expected JSON, got set"
    check(runtime, run.id, program)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("step", "kind: 'step' is a kind of the runtime's own records"),
        ("created", "kind: 'created' is a kind of the runtime's own records"),
        ("redacted", "kind: 'redacted' is a kind of the runtime's own records"),
        ("", "kind: expected a text that is not empty, got ''"),
        (None, "kind: expected a text that is not empty, got None"),
        ("n" * 21, "kind: has 21 characters, at most 20 are allowed"),
    ],
)
def test_note_that_looks_like_a_record_of_the_runtime_is_refused(make_runtime: Make, kind: Any, problem: str) -> None:
    program = FunctionProgram(
        "notes", lambda state, item: Step.do({}, Effect("note")) if item.kind == "start" else Step.complete(item.error)
    )
    runtime = make_runtime(program, effects={"note": lambda context, payload: context.note(kind, {"program": "x@1"})})
    run = runtime.start(program)
    runtime.work()
    assert run.output["message"] == problem
    assert run.verify().ok
    check(runtime, run.id, program)


def test_one_of_two_items_of_a_step_with_the_same_id_is_sent(make_runtime: Make) -> None:
    twice = (Send("news", 1, id="same"), Send("other", 0), Send("news", 2, id="same"))
    program = FunctionProgram("twice", lambda state, item: Step.complete(sends=twice))
    reader = FunctionProgram(
        "reader",
        lambda state, item: (
            Step.wait({}, Wait("news", "event")) if item.kind == "start" else Step.complete(item.payload)
        ),
    )
    runtime = make_runtime(program, reader)
    run, other = runtime.start(program), runtime.start(reader)
    runtime.work()
    assert (run.status, other.output) == ("completed", 1)


NAMES = {
    "": "expected a text that is not empty",
    "k" * 1_000_000: "has 1,000,000 characters, at most 200 are allowed",
    "a\0b": "has characters that cannot be printed",
    "a\nb": "has characters that cannot be printed",
    "\ud800": "has characters that cannot be printed",
}


@pytest.mark.parametrize("name", [*NAMES], ids=["empty", "long", "nul", "newline", "surrogate"])
def test_names_that_no_database_has_are_refused(make_runtime: Make, name: str) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, due_at=2e9)
    gives: list[tuple[str, Callable[[], object]]] = [
        ("id", lambda: runtime.start(ECHO, id=name)),
        ("session", lambda: runtime.start(ECHO, session=name)),
        ("key", lambda: runtime.emit(name)),
        ("id", lambda: runtime.emit("k", id=name)),
        ("by", lambda: runtime.emit("k", sender=name)),
        ("key", lambda: run.send(name)),
        ("by", lambda: run.pause(by=name)),
        ("wait.key", lambda: Wait(name)),
        ("effect.kind", lambda: Effect(name)),
        ("effect.key", lambda: Effect("k", key=name)),
        ("send.key", lambda: Send(name)),
        ("send.run", lambda: Send("k", run=name)),
        ("send.id", lambda: Send("k", id=name)),
        ("child.key", lambda: Child(name, "echo")),
        ("child.program", lambda: Child("c", name)),
        ("child.session", lambda: Child("c", "echo", session=name)),
        ("program.name", lambda: FunctionProgram(name[:150], ECHO.function)),
        ("program.version", lambda: FunctionProgram("p", ECHO.function, name[:150])),
    ]
    for path, give in gives:
        with pytest.raises(InvalidInputError) as caught:
            give()
        problem = NAMES[name] if path[:7] != "program" else NAMES[name].replace("1,000,000", "150").replace("200", "90")
        assert caught.value.message.startswith(f"{path}: {problem}")
        assert len(str(caught.value)) < 300
    with pytest.raises(InvalidInputError, match=NAMES[name]):
        runtime.run(name)


def test_ids_of_the_kernels_items_are_refused(make_runtime: Make) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, due_at=2e9, id="start:a")
    for id in ("start:b", "child:b", "cancel:b", "sent:b:1:0", "copy:b>c"):
        with pytest.raises(InvalidInputError, match="which is reserved"):
            runtime.emit("k", id=id)
        with pytest.raises(InvalidInputError, match="which is reserved"):
            run.cancel(id=id)


@pytest.mark.parametrize("name", ["a b@1", "@", "a@", "@1", "a@b@", "a@ 1", "/a@1"])
def test_programs_that_no_worker_can_have_are_not_started(make_runtime: Make, name: str) -> None:
    with pytest.raises(InvalidInputError, match="program: expected name@version without spaces"):
        make_runtime().start(name)


def test_arguments_of_the_wrong_type_are_named(make_runtime: Make, tmp_path: Path) -> None:
    runtime = make_runtime(ECHO)
    wrong: dict[str, Any] = {"due_at": (math.nan, math.inf, "noon", True, -1), "limits": ({"steps": 1}, 3)}
    for path, values in wrong.items():
        for value in values:
            with pytest.raises(InvalidInputError, match=f"^{path}: expected"):
                runtime.start(ECHO, **{path: value})
    for seconds in (0, -1, math.nan, "30", True):
        with pytest.raises(InvalidInputError, match=r"^lease_seconds: expected seconds"):
            Runtime(tmp_path / "other.db", lease_seconds=seconds)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInputError, match="has a space or `@`"):
        FunctionProgram("a b", ECHO.function)
    assert runtime.runs() == []
    assert not (tmp_path / "other.db").exists()
    assert Limits(seconds=1).seconds == 1


def test_answer_to_the_wrong_wait_names_the_run_and_what_to_type(make_runtime: Make) -> None:
    program = FunctionProgram("asks", lambda state, item: Step.wait({}, Wait("b" if item.key == "a" else "a")))
    runtime = make_runtime(program)
    run = runtime.start(program, id="r1")
    runtime.work()
    (wait,) = run.waits
    wait.answer()
    runtime.work()
    with pytest.raises(NotWaitingError, match="the answer to 'a' of the run 'r1' was refused") as caught:
        wait.answer()
    assert (caught.value.run, caught.value.hint) == ("r1", "See what it waits for: abstractcore runs show r1")


def test_databases_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("This is no database. " * 100)
    with pytest.raises(DatabaseError, match=r"text\.db is not a SQLite database"):
        Runtime(tmp_path / "text.db")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DatabaseError, match=r"unable to open the database file .*folder"):
        Runtime(tmp_path / "folder")
    with pytest.raises(ConfigurationError, match="'mysql' is not a database that can be used here"):
        Runtime("mysql://localhost/runs")
    with Runtime(tmp_path / "later.db") as runtime, runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_version SET version = 99")
    with pytest.raises(ConfigurationError, match="has version 99 of the tables"):
        Runtime(tmp_path / "later.db")


@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root writes to every file")
def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with Runtime(tmp_path / "runs.db", programs=[ECHO]) as runtime:
        runtime.start(ECHO, 1, id="a")
    (tmp_path / "runs.db").chmod(stat.S_IRUSR)
    with pytest.raises(DatabaseError, match=r"runs\.db"), Runtime(tmp_path / "runs.db", programs=[ECHO]) as runtime:
        runtime.start(ECHO, 2)


def test_closed_runtime_opens_its_database_again(make_runtime: Make) -> None:
    runtime = make_runtime(ECHO)
    runtime.start(ECHO, 1, id="a")
    runtime.close()
    runtime.work()
    assert runtime.run("a").output == 1


def test_damaged_rows_are_named(make_runtime: Make) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, 1, id="a")
    with runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_runs SET state = X'FF'")
        connection.exec_driver_sql("UPDATE abstractruntime_ledger SET body = X'00'")
    reads: list[Callable[[], object]] = [
        lambda: run.status, lambda: [*run.ledger()], runtime.runs, lambda: runtime.start(ECHO, 1, id="a"),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(LedgerError, match="of the run 'a' cannot be read") as caught:
            read()
        assert (caught.value.run, caught.value.hint) == ("a", "See what is wrong: abstractcore runs verify a")


def test_damaged_item_holds_up_no_other_run(make_runtime: Make, clock: VirtualClock) -> None:
    runtime = make_runtime(ECHO)
    bad, good = (runtime.start(ECHO, id=id) for id in ("bad", "good"))
    with runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_inbox SET payload = X'00' WHERE run = 'bad'")
    runtime.work()
    assert (bad.status, good.status) == ("running", "completed")
    assert (bad.info.owner, bad.info.due_at) == (None, clock.time_of_day() + 3600)
    with runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_inbox SET payload = X'31' WHERE run = 'bad'")
    clock.advance(3600)
    runtime.work()
    assert bad.output == 1
    check(runtime, "bad", ECHO)


THREADS = 20


def at_once(work: Callable[[int], Any], threads: int = THREADS) -> Sequence[Any]:
    """Returns the results of threads that begin at the same time."""
    barrier = Barrier(threads)

    def begin(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return [*pool.map(begin, range(threads))]


def race(runtime: Runtime, program: FunctionProgram) -> None:
    """Starts, answers and emits with the same ids in many threads."""
    runs = at_once(lambda number: runtime.start(program, 1, id="raced"))
    assert {run.id for run in runs} == {"raced"}
    assert len(runtime.runs(program="raced")) == 1
    runtime.work()
    (wait,) = runtime.run("raced").waits
    answers = at_once(lambda number: wait.answer(number, id="the-answer").state)
    assert sorted(answers) == ["queued"] + ["repeated"] * (THREADS - 1)
    runtime.work()
    events = at_once(lambda number: runtime.emit("raced", number, id="the-event").state)
    assert sorted(events) == ["queued"] + ["repeated"] * (THREADS - 1)
    runtime.work()
    assert runtime.run("raced").status == "completed"
    assert [row.state for row in runtime.store.inbox("raced")] == ["applied"] * 3
    check(runtime, "raced", program)


def race_step(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.wait({}, Wait("ok"))
    return Step.wait({}, Wait("raced", "event")) if item.kind == "answer" else Step.complete(item.payload)


RACED = FunctionProgram("raced", race_step)


def test_threads_that_give_the_same_id_at_once_are_one(make_runtime: Make) -> None:
    race(make_runtime(RACED), RACED)


@pytest.mark.process
def test_threads_that_give_the_same_id_at_once_are_one_on_postgresql(postgresql: PostgreSQL) -> None:
    with Runtime(postgresql.url, programs=[RACED, ECHO]) as runtime:
        race(runtime, RACED)
        run = runtime.start(ECHO, {"nul": "a\0b", "\0": "\n"})
        runtime.work()
        assert run.output == {"nul": "a\0b", "\0": "\n"}
        assert runtime.runs(status="a'b") == []
        check_chain(runtime, run.id)


@pytest.mark.process
def test_fork_does_not_hold_the_runs_of_its_parent(make_runtime: Make) -> None:
    runtime = make_runtime(ECHO)
    runtime.start(ECHO, 1, id="a")
    (lease,) = runtime.store.claim(["echo@1"], "parent")

    def child() -> None:
        with pytest.raises(LeaseLostError):
            runtime.store.commit(lease, Change(records=[("warning", {})]))
        runtime.store.release(lease)
        runtime.start(ECHO, 2, id="b")
        runtime.work()

    in_fork(child)
    assert (runtime.run("a").info.owner, runtime.run("b").output) == ("parent", 2)
    runtime.store.release(lease)
    runtime.work()
    assert runtime.run("a").output == 1
    check(runtime, "a", ECHO)
