"""What runs do, in plain Python: no database, no leases but a name, no records but their number."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from abstractruntime import Effect, FunctionProgram, Item, RetryPolicy, Send, Step, Wait
from abstractruntime.programs import INTERRUPTED, AfterCrash, Child

LEASE = 30.0
RETRY = RetryPolicy(attempts=3, seconds=20, errors=("OSError",))
ENDED = ("completed", "failed", "cancelled")
AFTER_CRASH: dict[str, AfterCrash] = {"pay": "ask", "read": "repeat", "shaky": "resume"}
"""The kinds of effects. `shaky` fails at attempts with an odd number."""


def act(state: Any, item: Item) -> Step:
    """Does what a script says, up to the first instruction that needs another item; the script is the input."""
    if item.kind == "start":
        state = {"script": item.payload, "log": []}
    error = None if item.error is None else item.error["type"]
    new: Any = {"script": [*state["script"]], "log": [*state["log"], [item.kind, item.key, item.payload, error]]}
    sends: list[Send] = []
    children: list[Child] = []
    while new["script"]:
        name, *arguments = new["script"].pop(0)
        if name == "send":
            sends.append(Send(arguments[0], len(new["log"]), run=arguments[1]))
        elif name == "child":
            children.append(Child(arguments[0], "actor", arguments[1]))
        elif name == "fail":
            return Step.fail("as the script says", state=new, sends=tuple(sends))
        else:
            waits = tuple(
                Wait(key, reason, None if seconds is None else item.at + seconds)
                for key, reason, seconds in arguments[-1]
            )
            retry = RETRY if arguments[0] == "shaky" else None
            effect = Effect(arguments[0], {"of": name}, retry=retry) if name == "do" else None
            return Step(new, effect=effect, waits=waits, sends=tuple(sends), children=tuple(children))
    return Step(
        new, ended="completed", output=len(new["log"]), sends=tuple(sends), children=tuple(children)
    )  # fmt: skip


ACTOR = FunctionProgram("actor", act)


class CrashError(Exception):
    """The worker of the model has died."""


@dataclass
class ModelItem:
    """An item, with what became of it."""

    id: str
    kind: Any
    key: str | None
    payload: Any
    run: str | None
    sender: str | None = None
    state: str = "added"
    error: Any = None
    number: int = field(default_factory=itertools.count().__next__)


@dataclass
class ModelRun:
    """A run. `inflight` is an effect with its state, attempt, record and time; `queue` is its inbox."""

    id: str
    due: float | None
    parent: str | None = None
    parent_key: str | None = None
    status: str = "running"
    state: Any = None
    seq: int = 1
    paused: bool = False
    holder: str | None = None
    inflight: dict[str, Any] | None = None
    waits: dict[str, Wait] = field(default_factory=dict[str, Wait])
    queue: list[ModelItem] = field(default_factory=list[ModelItem])
    outbox: list[ModelItem] = field(default_factory=list[ModelItem])


class Model:
    """All runs. `executed` counts the beginnings of each effect, `allowed` how many of them there may be."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.runs: dict[str, ModelRun] = {}
        self.items: dict[str, ModelItem] = {}
        self.kept: list[ModelItem] = []
        self.executed: Counter[tuple[str, int]] = Counter()
        self.allowed: Counter[tuple[str, int]] = Counter()

    # What others do

    def start(self, id: str, script: Any, parent: str | None = None, key: str | None = None) -> None:
        run = self.runs[id] = ModelRun(id, self.now, parent, key)
        item = self.items[f"start:{id}"] = ModelItem(f"start:{id}", "start", None, script, id, parent, "queued")
        run.queue.append(item)

    def deliver(self, item: ModelItem) -> str:
        """Delivers an item; returns what became of it."""
        if item.id in self.items:
            return "repeated"
        return self._route(item)

    def _route(self, item: ModelItem) -> str:
        self.items[item.id] = item
        if item.run is not None:
            return self._to_run(item, self.runs[item.run])
        listeners = [run for _, run in sorted(self.runs.items()) if _is_event(run.waits.get(item.key or ""))]
        for number, run in enumerate(listeners):
            copy = item
            if number:
                copy = ModelItem(f"copy:{item.id}>{run.id}", item.kind, item.key, item.payload, None, item.sender)
                self.items[copy.id] = copy
            copy.run = run.id
            self._to_run(copy, run)
        if listeners:
            return "queued"
        self.kept.append(item)
        item.state = "kept"
        return "kept"

    def _to_run(self, item: ModelItem, run: ModelRun) -> str:
        is_open = item.kind == "command" or item.key in run.waits
        if run.status in ENDED or (item.kind == "answer" and run.holder is None and not is_open):
            item.state = "refused"
            return "refused"
        item.state = "queued"
        run.queue.append(item)
        if run.holder is None and self._queued(run) is not None:
            run.due = self.now
        return "queued"

    # What a worker does

    def due(self) -> set[str]:
        """Returns the runs that are due longest, one of which a worker takes."""
        due = {id: run.due for id, run in self.runs.items() if run.due is not None and run.due <= self.now}
        return {id for id, at in due.items() if at == min(due.values())}

    def claim(self, id: str, holder: str) -> None:
        self.runs[id].holder, self.runs[id].due = holder, self.now + LEASE

    def send_outbox(self, run: ModelRun) -> None:
        while run.outbox:
            self._route(run.outbox.pop(0))

    def advance(self, id: str, dies: str | None = None, commits: int = 0) -> None:
        """Takes a held run on. A worker that `dies` does so `in` its first effect, or `before` or `after` the end of
        its transaction number `commits`.
        """
        run, is_begun, left = self.runs[id], False, [commits]

        def commit(records: int) -> None:
            left[0] -= 1
            if dies == "before" and left[0] == 0:
                raise CrashError
            run.seq += records
            if run.due is not None and run.due < self.now + LEASE / 2:
                run.due = self.now + LEASE

        while run.holder is not None:
            self.send_outbox(run)
            item = None if run.status in ENDED else self._next(run)
            effect = run.inflight
            release, due = False, None
            if item is not None and item.kind == "command":
                commit(1)
                release = self._command(run, item)
            elif item is not None and effect is not None:
                decision = item.payload.get("decision")
                if decision not in ("repeat", "skip", "result"):
                    item.state = "refused"
                    run.queue.remove(item)
                    continue
                commit(2)
                if decision == "repeat":
                    item.state = "applied"
                    run.queue.remove(item)
                    self.allowed[id, effect["seq"]] += 1
                    self._begin_again(run, effect)
                    is_begun = True
                else:
                    error = {"type": "Skipped"} if decision == "skip" else None
                    payload = item.payload.get("value")
                    made = ModelItem(item.id, "result", effect["effect"].key, payload, id, error=error)
                    item.state = "applied"
                    run.queue.remove(item)
                    release = self._step(run, made)
                    is_begun = not release
            elif item is not None:
                commit(1)
                if item in run.queue:
                    item.state = "applied"
                    run.queue.remove(item)
                release = self._step(run, item)
                is_begun = not release
            elif run.status in ENDED or run.paused or effect is None or effect["state"] == "interrupted":
                self._settle(run, None)
                continue
            elif effect["state"] == "waiting" and effect["due"] > self.now:
                self._settle(run, effect["due"])
                continue
            elif effect["state"] == "waiting" or (not is_begun and AFTER_CRASH[effect["effect"].kind] != "ask"):
                commit(1)
                self.allowed[id, effect["seq"]] += 1
                self._begin_again(run, effect)
                is_begun = True
            elif not is_begun:
                commit(1)
                run.inflight = {**effect, "state": "interrupted"}
                run.waits[INTERRUPTED] = Wait(INTERRUPTED, "interrupted")
                run.status, release = "waiting", True
            else:
                self.executed[id, effect["seq"]] += 1
                if dies == "in":
                    raise CrashError
                commit(1)
                fails = effect["effect"].kind == "shaky" and effect["attempt"] % 2
                if fails and effect["attempt"] < RETRY.attempts:
                    due = self.now + RETRY.pause(effect["attempt"])
                    run.inflight, run.status, release = {**effect, "state": "waiting", "due": due}, "running", True
                else:
                    error = {"type": "OSError"} if fails else None
                    payload = None if fails else effect["attempt"]
                    release = self._step(run, ModelItem("", "result", effect["effect"].key, payload, id, error=error))
                    is_begun = not release
            if release:
                self._settle(run, due)
            if dies == "after" and left[0] == 0:
                raise CrashError

    def _queued(self, run: ModelRun) -> ModelItem | None:
        queue = sorted(run.queue, key=_number)
        for item in queue:
            if item.kind == "command":
                return item
        if run.paused:
            return None
        for item in queue:
            is_decision = item.kind == "answer" and item.key == INTERRUPTED
            if (item.kind == "start" or item.key in run.waits) and (run.inflight is None or is_decision):
                return item
        return None

    def _next(self, run: ModelRun) -> ModelItem | None:
        item = self._queued(run)
        if item is not None or run.paused or run.inflight is not None:
            return item
        passed = [wait for wait in run.waits.values() if wait.deadline is not None and wait.deadline <= self.now]
        if not passed:
            return None
        wait = min(passed, key=lambda each: (each.deadline or 0, each.key))
        return ModelItem("", "timeout", wait.key, None, run.id)

    def _step(self, run: ModelRun, item: ModelItem) -> bool:
        """Applies an item; returns whether the run is given back then."""
        error = None if item.error is None else {"type": item.error["type"], "message": ""}
        step = act(run.state, Item(item.id, item.kind, item.payload, item.key, self.now, item.sender, error))
        run.state, run.waits = step.state, {wait.key: wait for wait in step.waits}
        run.inflight = None
        run.outbox += [
            ModelItem(f"sent:{run.id}:{run.seq}:{number}", "event", send.key, send.payload, send.run, run.id)
            for number, send in enumerate(step.sends)
        ]
        for child in step.children:
            self.start(f"{run.id}/{child.key}", child.input, run.id, child.key)
        if step.effect is not None:
            run.inflight = {"effect": step.effect, "attempt": 1, "state": "started", "seq": run.seq}
            self.allowed[run.id, run.seq] += 1
        run.status = step.ended or ("waiting" if step.effect is None else "running")
        self._take_kept(run)
        if step.ended is not None:
            self._end(run, step.output, step.error)
        return step.effect is None

    def _end(self, run: ModelRun, output: Any, error: Any) -> None:
        for item in run.queue:
            item.state = "refused"
        run.queue.clear()
        run.waits, run.inflight = {}, None
        if run.parent is not None:
            made = ModelItem(f"child:{run.id}", "child", run.parent_key, output, run.parent, run.id, error=error)
            run.outbox.append(made)

    def _command(self, run: ModelRun, item: ModelItem) -> bool:
        item.state = "applied"
        run.queue.remove(item)
        if item.key == "cancel":
            run.status = "cancelled"
            self._end(run, None, {"type": "Cancelled"})
            children = [child.id for child in self.runs.values() if child.parent == run.id]
            run.outbox += [ModelItem(f"cancel:{id}", "command", "cancel", None, id, run.id) for id in children]
        else:
            run.paused = item.key == "pause"
        return item.key == "cancel"

    def _begin_again(self, run: ModelRun, effect: dict[str, Any]) -> None:
        run.waits.pop(INTERRUPTED, None)
        run.inflight = {**effect, "state": "started", "attempt": effect["attempt"] + 1}
        run.status = "running"

    def _take_kept(self, run: ModelRun) -> None:
        for key in sorted(key for key, wait in run.waits.items() if wait.reason == "event"):
            found = min((item for item in self.kept if item.key == key), key=_number, default=None)
            if found is not None and not any(item.key == key for item in run.queue if item.kind != "command"):
                self.kept.remove(found)
                found.run, found.state = run.id, "queued"
                run.queue.append(found)

    def _settle(self, run: ModelRun, due: float | None) -> None:
        """Gives a run back, unless there is something to do now."""
        if run.outbox:
            return
        times: list[float] = [] if due is None else [due]
        if run.status in ENDED:
            run.holder = run.due = None
            return
        for item in [item for item in run.queue if item.kind == "answer" and item.key not in run.waits]:
            item.state = "refused"
            run.queue.remove(item)
        if self._queued(run) is not None:
            return
        if run.inflight is None:
            times += [wait.deadline for wait in run.waits.values() if wait.deadline is not None]
        due = None if run.paused else min(times, default=None)
        if due is None or due > self.now:
            run.holder, run.due = None, due


def _is_event(wait: Wait | None) -> bool:
    return wait is not None and wait.reason == "event"


def _number(item: ModelItem) -> int:
    return item.number
