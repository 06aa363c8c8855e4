"""The store: what is claimed in which order, and what a held run keeps others from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from abstractcore.database import CommitUnknownError
from abstractcore.testing import VirtualClock
from abstractruntime import Child, Effect, FunctionProgram, Item, LeaseLostError, Limits, Runtime, Send, Step, Wait
from abstractruntime.store import Change, NewItem, items
from abstractruntime.store.tables import inbox
from tests.runtime.checks import check, check_chain
from tests.runtime.conftest import BEGIN

Make = Callable[..., Runtime]
ECHO = FunctionProgram("echo", lambda state, item: Step.complete(item.payload))


def test_runs_that_are_due_longest_are_claimed_first(make_stored: Make) -> None:
    runtime = make_stored(ECHO)
    for id, due_at in (("c", BEGIN - 1), ("a", BEGIN - 3), ("later", BEGIN + 1), ("b", BEGIN - 2)):
        runtime.start(ECHO, id=id, due_at=due_at)
    assert [runtime.store.claim(["echo@1"], "one")[0].run for _ in range(3)] == ["a", "b", "c"]
    assert runtime.store.claim(["echo@1"], "one") == []
    assert runtime.store.seconds_until_due(["echo@1"]) == 1


def test_run_of_a_dead_worker_is_advanced_when_its_lease_has_ended(make_runtime: Make, clock: VirtualClock) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, 1)
    (lease,) = runtime.store.claim(["echo@1"], "dead")
    clock.advance(29)
    assert not runtime.advance(run.id)
    clock.advance(1)
    assert runtime.advance(run.id)
    assert (run.output, run.info.fence) == (1, lease.fence + 1)


def test_late_worker_does_not_give_back_the_run_of_another_one(make_runtime: Make, clock: VirtualClock) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, 1)
    (late,) = runtime.store.claim(["echo@1"], "late")
    clock.advance(31)
    runtime.store.claim(["echo@1"], "another")
    held = run.info
    runtime.store.release(late)
    assert held.owner == "another"
    assert run.info == held


def sent(runtime: Runtime, run: str) -> list[Any]:
    """Returns the rows of the items that a run has sent."""
    with runtime.database.reading() as connection:
        return [*connection.execute(select(inbox).where(inbox.c.sender == run)).all()]


def test_run_delivers_what_it_has_sent_and_nothing_else(make_runtime: Make) -> None:
    listening = FunctionProgram(
        "listens", lambda state, item: Step.wait({}, Wait("k", "event")) if item.kind == "start" else Step.complete()
    )
    sending = FunctionProgram("sends", lambda state, item: Step.complete(sends=(Send("k", 1),)))
    runtime = make_runtime(listening, sending)
    run = runtime.start(listening)
    runtime.work()
    runtime.start(sending, id="dead")
    lease = runtime.store.claim_run("dead", "dead")
    assert lease is not None
    item = NewItem("news", "event", b"1", None, "other", "dead")
    runtime.store.commit(lease, Change(sends=[item]))
    runtime.start(sending, id="a")
    runtime.work()
    assert [row.state for row in sent(runtime, "dead")] == ["added"]
    assert [row.state for row in sent(runtime, "a")] == ["applied"]
    assert run.status == "completed"
    late = runtime.database.write(lambda connection: items.deliver_added(connection, "sent:a:2:0", BEGIN))
    assert late is None
    assert [row.state for row in sent(runtime, "a")] == ["applied"]


def lose_reply(runtime: Runtime, monkeypatch: pytest.MonkeyPatch, *, is_there: bool, then: Any = None) -> None:
    """Lets the next transaction that writes be committed, or not, and its reply be lost; then calls `then`."""
    write = runtime.database.write

    def lost(work: Any, **options: Any) -> None:
        monkeypatch.setattr(runtime.database, "write", write)

        def fail(connection: Any) -> None:
            work(connection)
            raise CommitUnknownError("not known")

        if is_there:
            write(work, **options)
        else:
            with pytest.raises(CommitUnknownError):
                write(fail)
        if then is not None:
            then()
        raise CommitUnknownError("not known")

    monkeypatch.setattr(runtime.database, "write", lost)


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    "change",
    [Change(records=[("journal", {})]), Change(release=True), Change(refused=(1, "no")), Change(inflight={"a": 1})],
    ids=["record", "release", "refusal", "effect"],
)
def test_change_whose_reply_was_lost_is_made_once(
    make_runtime: Make, monkeypatch: pytest.MonkeyPatch, change: Change, is_there: bool
) -> None:
    program = FunctionProgram("waits", lambda state, item: Step.wait({}, Wait("a")))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    lease = runtime.store.claim_run(run.id, "one")
    assert lease is not None
    lose_reply(runtime, monkeypatch, is_there=is_there)
    runtime.store.commit(lease, change)
    assert (run.info.owner, run.info.seq) == ("one" if lease.is_held else None, lease.seq)
    assert lease.released == change.release
    assert lease.seq == 2 + len(change.records)
    assert run.info.inflight == (None if change.inflight is ... else change.inflight)
    check_chain(runtime, run.id)


@pytest.mark.parametrize("is_there", [True, False])
def test_change_whose_reply_was_lost_is_not_made_by_a_late_worker(
    make_runtime: Make, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, 1)
    (lease,) = runtime.store.claim(["echo@1"], "late")

    def take_over() -> None:
        clock.advance(31)
        runtime.store.claim(["echo@1"], "another")

    lose_reply(runtime, monkeypatch, is_there=is_there, then=take_over)
    with pytest.raises(LeaseLostError):
        runtime.store.commit(lease, Change(records=[("journal", {})]))
    assert (lease.lost, run.info.owner, run.info.seq) == (True, "another", 2 if is_there else 1)


def test_item_keeps_its_first_outcome(make_runtime: Make) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, 1)
    runtime.work()
    (row,) = runtime.store.inbox(run.id)
    assert not runtime.database.write(lambda connection: items.close_item(connection, row.number, "refused", "late"))
    assert runtime.store.inbox(run.id) == [row]


@pytest.mark.parametrize("first", ["commit", "release"])
def test_run_is_written_by_who_has_read_its_last_record_and_holds_it(make_runtime: Make, first: str) -> None:
    runtime = make_runtime(ECHO)
    run = runtime.start(ECHO, 1)
    (lease,) = runtime.store.claim(["echo@1"], "one")
    copy = replace(lease)
    if first == "commit":
        runtime.store.note(lease, "journal", {})
    else:
        runtime.store.release(lease)
    before = run.info
    with pytest.raises(LeaseLostError):
        runtime.store.commit(copy, Change(status="failed"))
    assert copy.lost
    assert run.info == before
    check_chain(runtime, run.id)


def test_heartbeat_reports_commands_that_were_not_taken_yet(make_runtime: Make) -> None:
    program = FunctionProgram("waits", lambda state, item: Step.wait({}, Wait("a")))
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.pause()
    runtime.work()
    run.resume()
    runtime.work()
    lease = runtime.store.claim_run(run.id, "one")
    assert lease is not None
    lease.has_commands = False
    runtime.store.extend([lease])
    assert not lease.has_commands
    run.pause()
    runtime.store.extend([lease])
    assert (lease.has_commands, lease.interruption.is_set) == (True, False)
    run.cancel()
    runtime.store.extend([lease])
    assert lease.interruption.is_set


def test_item_of_a_held_run_does_not_change_when_its_lease_ends(make_runtime: Make, clock: VirtualClock) -> None:
    program = FunctionProgram(
        "waits", lambda state, item: Step.wait({}, Wait("a")) if item.kind == "start" else Step.complete(item.payload)
    )
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    lease = runtime.store.claim_run(run.id, "one")
    assert lease is not None
    assert run.waits[0].answer(1).state == "queued"
    assert run.info.due_at == BEGIN + 30
    assert runtime.store.claim(["waits@1"], "two") == []
    runtime.store.release(lease)
    runtime.work()
    assert run.output == 1


def test_paused_run_is_not_due_at_its_deadline_and_limit(make_runtime: Make, clock: VirtualClock) -> None:
    program = FunctionProgram(
        "waits",
        lambda state, item: (
            Step.wait({}, Wait("a", deadline=BEGIN + 10)) if item.kind == "start" else Step.complete(item.kind)
        ),
    )
    runtime = make_runtime(program)
    run = runtime.start(program, limits=Limits(seconds=100))
    runtime.work()
    run.pause()
    runtime.work()
    assert run.info.due_at is None
    clock.advance(20)
    assert runtime.work() == 0
    run.resume()
    runtime.work()
    assert run.output == "timeout"
    check(runtime, run.id, program)


def test_commands_are_taken_before_items_that_came_earlier(make_runtime: Make) -> None:
    program = FunctionProgram(
        "waits", lambda state, item: Step.wait({}, Wait("a")) if item.kind == "start" else Step.complete(item.payload)
    )
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.waits[0].answer(1)
    run.cancel()
    runtime.work()
    assert run.status == "cancelled"
    check(runtime, run.id, program)


def test_deadlines_that_have_passed_are_taken_in_their_order(make_runtime: Make, clock: VirtualClock) -> None:
    def step(state: Any, item: Item) -> Step:
        waits = [Wait("b", deadline=BEGIN + 20), Wait("c", deadline=BEGIN + 10), Wait("a", deadline=BEGIN + 20)]
        state = [] if item.kind == "start" else [*state, item.key]
        left = [wait for wait in waits if wait.key not in state]
        return Step.wait(state, *left) if left else Step.complete(state, state=state)

    program = FunctionProgram("waits", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    clock.advance(20)
    runtime.work()
    assert run.output == ["c", "a", "b"]
    check(runtime, run.id, program)


def test_children_have_the_session_of_their_parent_and_the_latest_version(make_runtime: Make) -> None:
    latest = FunctionProgram("echo", ECHO.function, "2")

    def step(state: Any, item: Item) -> Step:
        children = (Child("a", "echo"), Child("b", "echo@1", session="other"))
        return Step.wait({}, Wait("never"), children=children)

    program = FunctionProgram("parent", step)
    runtime = make_runtime(program, ECHO, latest)
    run = runtime.start(program, session="s")
    runtime.work()
    found = {child.id.rpartition("/")[2]: (child.info.session, child.info.program) for child in run.children}
    assert found == {"a": ("s", "echo@2"), "b": ("other", "echo@1")}
    assert runtime.start("echo").info.program == "echo@2"


def test_one_run_is_not_the_child_of_two_keys(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        children = (Child("a", "echo", run="same"), Child("b", "echo", run="same"))
        return Step.wait({}, Wait("a", "child"), Wait("b", "child"), children=children)

    program = FunctionProgram("parent", step)
    runtime = make_runtime(program, ECHO)
    run = runtime.start(program)
    runtime.work()
    assert (run.status, run.children) == ("failed", [])
    assert "a run 'same' exists, which is no child of this one" in run.error["message"]
    check_chain(runtime, run.id)


def test_wait_that_changes_is_opened_again(make_runtime: Make, clock: VirtualClock) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("a", asked=1), Wait("same", asked=1))
        return Step.wait({}, Wait("a", "approval", BEGIN + 50, asked=2), Wait("same", asked=1))

    program = FunctionProgram("waits", step)
    runtime = make_runtime(program)
    run = runtime.start(program)
    runtime.work()
    run.waits[0].answer()
    runtime.work()
    found = {wait.key: (wait.reason, wait.deadline, wait.asked, wait.opened) for wait in run.waits}
    assert found == {"same": ("input", None, 1, 2), "a": ("approval", BEGIN + 50, 2, 3)}


def test_effects_have_a_key_of_their_own_over_all_attempts(make_runtime: Make) -> None:
    keys: list[str] = []

    def note(context: Any, payload: Any) -> Any:
        keys.append(context.idempotency_key)
        context.note("journal", payload)
        return [*context.notes("journal")]

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do([], Effect("note", 1, key="one"))
        state = [*state, item.payload]
        return Step.do(state, Effect("note", 2, key="two")) if len(state) == 1 else Step.complete(state, state=state)

    program = FunctionProgram("notes", step)
    runtime = make_runtime(program, effects={"note": note})
    run = runtime.start(program)
    runtime.work()
    assert run.output == [[1], [2]]
    assert len({*keys}) == 2
    check(runtime, run.id, program)
