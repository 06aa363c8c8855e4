"""Random interleavings of workers, crashes, items and time, compared with a model after each of them."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.testing import VirtualClock
from abstractruntime import FunctionEffect, Runtime
from abstractruntime.json_documents import canonical, parsed
from abstractruntime.programs import INTERRUPTED
from abstractruntime.store import Change, Lease, NewItem
from tests.properties import examples
from tests.runtime.checks import check_chain, check_fold, check_outcomes
from tests.runtime.conftest import BEGIN
from tests.runtime.run_model import ACTOR, AFTER_CRASH, ENDED, CrashError, Model, ModelItem

WORKERS = ("one", "two", "three")
ROOTS = ("r0", "r1", "r2")


class Killed(BaseException):
    """Ends a worker as a crash does."""


waits = st.lists(
    st.sampled_from([
        ("a", "input", None), ("b", "approval", 40), ("news", "event", None), ("news", "event", 25),
        ("talk", "event", None), ("nap", "until", 10),
    ]),
    min_size=1, max_size=3, unique_by=lambda wait: wait[0],
)  # fmt: skip
simple = st.one_of(
    st.tuples(st.just("do"), st.sampled_from([*AFTER_CRASH]), st.just([]) | waits),
    st.tuples(st.just("wait"), waits),
    st.tuples(st.just("send"), st.sampled_from(["news", "talk"]), st.none()),
    st.tuples(st.just("send"), st.sampled_from(["news", "talk"]), st.sampled_from(ROOTS)),
)
scripts = st.lists(simple, max_size=4) | st.just([("fail",)])


@st.composite
def roots(draw: st.DrawFn) -> list[Any]:
    """Scripts with children, some of which are joined."""
    script: list[Any] = draw(st.lists(simple, min_size=1, max_size=5))
    for number in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(script)))
        key = f"c{number}"
        joined = [("wait", [(key, "child", None)])] if draw(st.booleans()) else []
        script[at:at] = [("child", key, draw(scripts)), *joined]
    return script


def plain(state: Any) -> Any:
    """Returns a state as it is read from a database."""
    return parsed(canonical(state, "state"))


crashes = st.sampled_from([None, None, None, "in", "before", "after", "overtaken"])


class Runs(RuleBasedStateMachine):
    """Three workers on three runs and their children. `leases` are those that workers hold, or believe to hold."""

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = VirtualClock(time_of_day=BEGIN)
        effects = {kind: FunctionEffect(self.execute, after) for kind, after in AFTER_CRASH.items()}
        place = Path(self.folder.name, "runs.db")
        self.runtime = Runtime(place, programs=[ACTOR], effects=effects, clock=self.clock)
        self.store = self.runtime.store
        self.model = Model(BEGIN)
        self.executed: Counter[tuple[str, int]] = Counter()
        self.dies: str | None = None
        self.commits = 0
        self.commit = self.store.commit
        self.store.commit = self.commit_or_die
        self.sent = 0
        self.is_right = True

    def teardown(self) -> None:
        """Brings all runs to their end, unless there is an error already."""
        try:
            if self.is_right:
                self.finish()
        finally:
            self.runtime.close()
            self.folder.cleanup()

    # What the store and the effects do

    def execute(self, context: Any, payload: Any) -> int:
        seq = self.store.run(context.run).inflight["seq"]
        self.executed[context.run, seq] += 1
        if self.dies == "in":
            raise Killed
        if self.dies == "overtaken":
            self.dies = None
            self.pass_time(31)
            while leases := self.claimed("three"):
                self.advance_lease(leases[0])
        if self.store.run(context.run).inflight is not None and context.attempt % 2:
            kind = self.store.run(context.run).inflight["effect"]["kind"]
            if kind == "shaky":
                raise OSError
        return context.attempt

    def commit_or_die(self, lease: Lease, change: Change) -> None:
        self.commits -= bool(change.records)
        is_last = self.commits == 0 and bool(change.records)
        if self.dies == "before" and is_last:
            raise Killed
        self.commit(lease, change)
        if self.dies == "after" and is_last:
            raise Killed

    def claimed(self, worker: str) -> list[Lease]:
        due = self.model.due()
        found = self.store.claim(["actor@1"], worker)
        assert {lease.run for lease in found} <= due
        assert bool(found) == bool(due)
        for lease in found:
            self.model.claim(lease.run, f"{worker}:{lease.fence}")
        return found

    def advance_lease(self, lease: Lease, dies: str | None = None, commits: int = 0) -> None:
        holder = self.model.runs[lease.run].holder
        is_held = holder == f"{lease.owner}:{lease.fence}"
        begun = Counter(self.executed)
        if is_held and dies != "overtaken":
            with suppress(CrashError):
                self.model.advance(lease.run, dies, commits)
        elif is_held:
            with suppress(CrashError):
                self.model.advance(lease.run, "in")
        elif lease.outbox:
            self.model.send_outbox(self.model.runs[lease.run])
        self.dies, self.commits = dies, commits
        with suppress(Killed):
            drive(self.runtime.worker().engine().advance(lease, SyncRuntime()))
        self.dies = None
        assert is_held or self.executed == begun

    def deliver(self, kind: Any, key: str, payload: Any, run: str | None, id: str | None = None) -> None:
        self.sent += 1
        id = id or f"item-{self.sent}"
        item = NewItem(id, kind, canonical(payload, "payload"), run, key)
        assert self.store.deliver(item).state == self.model.deliver(ModelItem(id, kind, key, payload, run))

    # Rules

    @initialize(scripts=st.lists(roots(), min_size=3, max_size=3))
    def start(self, scripts: list[Any]) -> None:
        for id, script in zip(ROOTS, scripts, strict=True):
            self.runtime.start("actor", script, id=id)
            self.model.start(id, script)

    @rule(target=leases, worker=st.sampled_from(WORKERS))
    def claim(self, worker: str) -> Any:
        return multiple(*self.claimed(worker))

    @rule(lease=consumes(leases), dies=crashes, commits=st.integers(1, 3))
    def advance(self, lease: Lease, dies: str | None, commits: int) -> None:
        self.advance_lease(lease, dies, commits)

    @rule(worker=st.sampled_from(WORKERS), dies=crashes, commits=st.integers(1, 3))
    def claim_and_advance(self, worker: str, dies: str | None, commits: int) -> None:
        for lease in self.claimed(worker):
            self.advance_lease(lease, dies, commits)

    @rule(seconds=st.sampled_from([5, 20, 31, 100]))
    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.model.now += seconds

    @rule(data=st.data(), key=st.sampled_from(["a", "b", "c0", "nothing"]))
    def answer(self, data: st.DataObject, key: str) -> None:
        self.deliver("answer", key, {"said": self.sent}, data.draw(st.sampled_from([*self.model.runs])))

    @rule(key=st.sampled_from(["news", "talk"]), run=st.none() | st.sampled_from(ROOTS))
    def emit(self, key: str, run: str | None) -> None:
        self.deliver("event", key, self.sent, run)

    @rule(data=st.data(), command=st.sampled_from(["pause", "resume", "resume", "cancel"]))
    def command(self, data: st.DataObject, command: str) -> None:
        self.deliver("command", command, None, data.draw(st.sampled_from([*self.model.runs])))

    @precondition(lambda self: any(INTERRUPTED in run.waits for run in self.model.runs.values()))
    @rule(data=st.data(), decision=st.sampled_from(["repeat", "skip", "result", "guess"]))
    def decide(self, data: st.DataObject, decision: str) -> None:
        runs = [run.id for run in self.model.runs.values() if INTERRUPTED in run.waits]
        self.deliver("answer", INTERRUPTED, {"decision": decision, "value": 7}, data.draw(st.sampled_from(runs)))

    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        item = self.model.items[data.draw(st.sampled_from([*self.model.items]))]
        self.deliver("event", "news", None, None, item.id)

    # What holds after each rule

    @invariant()
    def agrees(self) -> None:
        self.is_right = False
        for id, run in self.model.runs.items():
            check_chain(self.runtime, id)
            check_fold(self.runtime, id, ACTOR)
            info, effect = self.store.run(id), run.inflight
            found = [info.status, info.due_at, info.seq, info.state, info.paused_at is not None, info.owner is not None]
            found += [{wait.key for wait in self.store.waits(id)}]
            found += [None if info.inflight is None else (info.inflight["state"], info.inflight["attempt"])]
            expected = [run.status, run.due, run.seq, plain(run.state), run.paused, run.holder is not None]
            expected += [{*run.waits}, None if effect is None else (effect["state"], effect["attempt"])]
            assert found == expected, f"{id}: {found} is not {expected}"
        with self.runtime.database.reading() as connection:
            rows = connection.exec_driver_sql("SELECT id, run, state FROM abstractruntime_inbox").all()
        stored = {id: (run, state) for id, run, state in rows if state != "added"}
        expected = {id: (item.run, item.state) for id, item in self.model.items.items()}
        assert stored == expected, f"{stored.items() - expected.items()} is not {expected.items() - stored.items()}"
        self.is_right = True

    @invariant()
    def effects_are_executed_as_often_as_allowed(self) -> None:
        assert self.executed == self.model.executed
        assert self.executed <= self.model.allowed

    def finish(self) -> None:
        for _ in range(100):
            while leases := self.claimed("one"):
                self.advance_lease(leases[0])
            open_runs = [run for run in self.model.runs.values() if run.status not in ENDED]
            if not open_runs:
                break
            for run in open_runs:
                if run.paused:
                    self.deliver("command", "resume", None, run.id)
                elif INTERRUPTED in run.waits:
                    self.deliver("answer", INTERRUPTED, {"decision": "skip"}, run.id)
                else:
                    for key, wait in [*run.waits.items()]:
                        self.deliver("event" if wait.reason == "event" else "answer", key, 1, run.id)
            self.pass_time(100)
            self.agrees()
        assert {run.status for run in self.model.runs.values()} <= {*ENDED}
        for id in self.model.runs:
            check_outcomes(self.runtime, id)
        assert {item.state for item in self.model.items.values()} <= {"applied", "refused", "kept"}


def test_runs_do_what_the_model_does() -> None:
    run_state_machine_as_test(Runs, settings=settings(examples(40), stateful_step_count=30))
