"""The names of AbstractRuntime, over `abstractruntime.Runtime`: `WorkflowRuntime` keeps nothing of its own.

Its users find it as `Runtime` here. An event's name is exact: `*` hears no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..agents import Session
from ..errors import NotWaitingError, RunNotFoundError
from ..handles import Run
from ..json_documents import JSON, member, parsed
from ..programs import INTERRUPTED, Program, program_id
from ..runtime import Runtime as Runs
from .data import (
    Effect,
    EffectOutcome,
    EffectType,
    Handler,
    NodeContext,
    RunState,
    RunStatus,
    StepPlan,
    WaitReason,
    WaitState,
    WorkflowSpec,
)
from .program import WorkflowProgram

__all__ = [
    "Effect", "EffectOutcome", "EffectType", "NodeContext", "RunState", "RunStatus", "Runtime", "StepPlan",
    "WaitReason", "WaitState", "WorkflowRuntime", "WorkflowSpec",
]  # fmt: skip


class WorkflowRuntime:
    """Workflows in a `Runtime`. `effect_handlers` are functions of a run and an effect, by the effect's type;
    `workflows` are those that others may start, besides those that are started here.

    A run advances in `tick`, or by any worker on the same programs.
    """

    def __init__(
        self, runtime: Runs, *, effect_handlers: Mapping[str, Handler] | None = None,
        workflows: Sequence[WorkflowSpec] = (),
    ) -> None:  # fmt: skip
        self.runtime = runtime
        self._handlers = {str(name): handler for name, handler in (effect_handlers or {}).items()}
        for workflow in workflows:
            self._add(workflow)

    def start(
        self, *, workflow: WorkflowSpec, vars: dict[str, JSON] | None = None, session_id: str | None = None
    ) -> str:
        """Creates a run, and returns its id; nothing is executed. `vars` are the variables that the run begins with."""
        return self.runtime.start(self._add(workflow), vars or {}, session=session_id).id

    def tick(self, *, workflow: WorkflowSpec, run_id: str, max_steps: int = 100) -> RunState:
        """Takes a run on in this thread, with children that it waits for, for about `max_steps` nodes each."""
        self._add(workflow)
        self._advance(self._run(run_id), max_steps)
        return self.get_state(run_id)

    def resume(
        self, *, workflow: WorkflowSpec, run_id: str, wait_key: str | None, payload: JSON, max_steps: int = 100
    ) -> RunState:
        """Answers a wait, the only one if `wait_key` is None, and takes the run on.

        Raises ValueError if the run is paused, does not wait, or waits for something else.
        """
        run = self._run(run_id)
        if run.info.paused_at is not None:
            raise ValueError("Run is paused")
        waits = run.waits
        if not waits:
            raise ValueError("Run is not waiting")
        found = [wait for wait in waits if wait_key in (None, wait.key)]
        if len(found) != 1:
            open_keys = ", ".join(wait.key for wait in waits)
            raise ValueError(f"wait_key mismatch: the run waits for {open_keys}, got {wait_key!r}")
        try:
            found[0].answer(payload)
        except NotWaitingError as error:  # somebody else has answered it meanwhile
            raise ValueError("Run is not waiting") from error
        return self.tick(workflow=workflow, run_id=run_id, max_steps=max_steps) if max_steps else self.get_state(run_id)

    def get_state(self, run_id: str) -> RunState:
        """Returns a run; raises KeyError for an unknown id."""
        run = self._run(run_id)
        info = run.info
        program = self.runtime.programs.get(info.program)
        state: JSON = info.state or {
            "node": program.spec.entry_node if isinstance(program, WorkflowProgram) else "",
            "vars": next((parsed(row.payload) for row in self.runtime.store.inbox(run_id) if row.payload), None),
        }
        waiting = _waiting(run)
        if info.paused_at is not None and not info.ended and waiting is None:
            waiting = WaitState(WaitReason.USER, f"pause:{run_id}")
        status = RunStatus.WAITING if waiting is not None else RunStatus(info.status)
        error = None if info.error is None else str(info.error["message"])
        return RunState(
            run_id, info.program.rpartition("@")[0], status, state["node"], state["vars"] or {}, waiting, info.output,
            error, _iso(info.created), _iso(info.updated), info.session, info.parent,
        )  # fmt: skip

    def get_ledger(self, run_id: str) -> list[dict[str, JSON]]:
        """Returns the records of a run, none for an unknown id; their hashes are those of our own fields."""
        records: list[dict[str, JSON]] = []
        previous = None
        for record in self.runtime.store.records(run_id):
            body: JSON = record.body or {}
            result: JSON = {"output": body["output"], "completed": True} if body.get("ended") == "completed" else None
            waits: JSON = body.get("waits")
            status = "failed" if body.get("error") else "waiting" if waits else "completed"
            records.append({
                "run_id": run_id, "step_id": str(record.seq), "node_id": None, "kind": record.kind,
                "status": "started" if body.get("effect") or record.kind == "started" else status,
                "effect": body.get("effect"), "result": {"wait": waits[0]} if waits else result,
                "item": body.get("item"), "error": body.get("error"),
                "started_at": _iso(record.at), "ended_at": _iso(record.at), "attempt": body.get("attempt", 1),
                "prev_hash": previous, "record_hash": record.hash,
            })  # fmt: skip
            previous = record.hash
        return records

    def cancel_run(self, run_id: str, *, reason: str | None = None) -> RunState:
        """Cancels a run and its children."""
        self._run(run_id).cancel(reason)
        return self._taken_on(run_id, 1)

    def pause_run(self, run_id: str) -> RunState:
        """Lets a run take nothing on until `resume_run`."""
        self._run(run_id).pause()
        return self._taken_on(run_id, 1)

    def resume_run(self, run_id: str) -> RunState:
        """Lets a paused run go on, in its next tick."""
        self._run(run_id).resume()
        return self._taken_on(run_id, 0)

    def wake(self, program: Program, session_id: str, *, max_steps: int | None = None) -> Run | None:
        """Takes on the one run that answers the first message in a session's inbox; None if no message waits."""
        run = Session(self.runtime, program, session_id).wake()
        if run is not None:
            self.runtime.advance(run.id, max_steps=max_steps)
        return run

    def _add(self, workflow: WorkflowSpec) -> Program:
        program = WorkflowProgram(workflow, self._handlers)
        known = self.runtime.programs.get(program_id(program))
        if isinstance(known, WorkflowProgram) and known == program:
            return known
        self.runtime.add(program)
        return program

    def _run(self, run_id: str) -> Run:
        try:
            return self.runtime.run(run_id)
        except RunNotFoundError as error:
            raise KeyError(run_id) from error

    def _taken_on(self, run_id: str, max_steps: int) -> RunState:
        self.runtime.advance(run_id, max_steps=max_steps)
        return self.get_state(run_id)

    def _advance(self, run: Run, max_steps: int) -> None:
        """Takes a run on, and the children that it waits for; once more, if one of them has ended by that."""
        is_due = True
        while is_due:
            is_due = False
            self.runtime.advance(run.id, max_steps=max_steps)
            for wait in run.waits:
                asked: JSON = wait.asked
                if wait.reason == "child" and not member(asked["details"], "async"):
                    child = self.runtime.run(asked["details"]["sub_run_id"])
                    if not child.info.ended:
                        self._advance(child, max_steps)
                        is_due = is_due or child.info.ended


def _waiting(run: Run) -> WaitState | None:
    """Returns the wait that was opened first."""
    first = next(iter(run.waits), None)
    if first is None:
        return None
    if first.key == INTERRUPTED:
        return WaitState(WaitReason.USER, first.key, details=first.asked)
    asked: dict[str, Any] = {**first.asked}
    asked["reason"] = WaitReason(asked["reason"])
    return WaitState(**asked)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


Runtime = WorkflowRuntime
"""The class by the name that AbstractRuntime gives it."""
