"""Workflows by the names of AbstractRuntime: what its users' programs rely on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.testing import VirtualClock
from abstractruntime import Runtime as Runs
from abstractruntime.agents import Agent, Session
from abstractruntime.facades import (
    Effect,
    EffectOutcome,
    EffectType,
    NodeContext,
    RunState,
    RunStatus,
    Runtime,
    StepPlan,
    WaitReason,
    WaitState,
    WorkflowSpec,
)
from tests.runtime.checks import check
from tests.runtime.conftest import BEGIN

Make = Callable[..., Runs]


def ends_with(run: RunState, context: NodeContext) -> StepPlan:
    return StepPlan("done", complete_output={"answer": run.vars.get("answer")})


def asks(effect: Effect, name: str = "asks", next_node: str | None = "done") -> WorkflowSpec:
    """Returns a workflow of one effect, perhaps with a node after it."""

    def ask(run: RunState, context: NodeContext) -> StepPlan:
        return StepPlan("ask", effect, next_node)

    return WorkflowSpec(name, "ask", {"ask": ask, "done": ends_with})


ASK = asks(Effect(EffectType.ASK_USER, {"prompt": "Größe?", "choices": ["S", "M"]}, "answer"))


def test_question_is_asked_and_answered(make_runtime: Make) -> None:
    runtime = Runtime(make_runtime())
    run = runtime.start(workflow=ASK, vars={"n": 1}, session_id="s")
    assert runtime.get_state(run).vars == {"n": 1}
    state = runtime.tick(workflow=ASK, run_id=run)
    assert (state.status, state.current_node, state.session_id) == (RunStatus.WAITING, "ask", "s")
    assert state.waiting is not None
    assert (state.waiting.reason, state.waiting.wait_key) == (WaitReason.USER, f"user:{run}:ask")
    assert (state.waiting.prompt, state.waiting.choices) == ("Größe?", ["S", "M"])
    assert (state.waiting.resume_to_node, state.waiting.result_key) == ("done", "answer")
    other = Runtime(make_runtime())
    with pytest.raises(ValueError, match="wait_key mismatch"):
        other.resume(workflow=ASK, run_id=run, wait_key="user:x", payload={})
    state = other.resume(workflow=ASK, run_id=run, wait_key=None, payload={"text": "M"})
    assert (state.status, state.output) == (RunStatus.COMPLETED, {"answer": {"text": "M"}})
    with pytest.raises(ValueError, match="not waiting"):
        other.resume(workflow=ASK, run_id=run, wait_key=None, payload={})
    ledger = other.get_ledger(run)
    assert ledger[-1]["result"] == {"output": {"answer": {"text": "M"}}, "completed": True}
    assert any(record["status"] == "waiting" for record in ledger)
    assert other.get_ledger("unknown") == []
    check(other.runtime, run, other.runtime.programs["asks@1"])


def test_last_effect_ends_the_run(make_runtime: Make) -> None:
    tell = asks(Effect(EffectType.ANSWER_USER, {"message": "hello", "level": "info"}, "said"), next_node=None)
    runtime = Runtime(make_runtime())
    run = runtime.start(workflow=tell)
    state = runtime.tick(workflow=tell, run_id=run)
    said = {"message": "hello", "level": "info"}
    assert (state.output, state.vars) == ({"success": True, "result": said}, {"said": said})


def test_paused_run_takes_no_answers(make_runtime: Make) -> None:
    runtime = Runtime(make_runtime())
    run = runtime.start(workflow=ASK)
    state = runtime.pause_run(run)
    assert state.waiting is not None
    assert (state.status, state.waiting.wait_key) == (RunStatus.WAITING, f"pause:{run}")
    assert runtime.tick(workflow=ASK, run_id=run).waiting == state.waiting
    with pytest.raises(ValueError, match="paused"):
        runtime.resume(workflow=ASK, run_id=run, wait_key=None, payload={})
    assert runtime.resume_run(run).status == RunStatus.RUNNING
    assert runtime.tick(workflow=ASK, run_id=run).current_node == "ask"
    runtime.pause_run(run)
    with pytest.raises(ValueError, match="paused"):
        runtime.resume(workflow=ASK, run_id=run, wait_key=None, payload={})
    runtime.resume_run(run)
    assert runtime.cancel_run(run, reason="enough").error == "enough"
    assert runtime.tick(workflow=ASK, run_id=run).status == RunStatus.CANCELLED


def test_event_has_the_key_of_its_scope(make_runtime: Make) -> None:
    waits = asks(Effect(EffectType.WAIT_EVENT, {"name": " paid ", "scope": "Global"}, "answer"), "waits")
    emits = asks(Effect(EffectType.EMIT_EVENT, {"name": "paid", "scope": "global", "payload": {"euros": 8}}), "emits")
    runtime = Runtime(make_runtime())
    listener, emitter = runtime.start(workflow=waits), runtime.start(workflow=emits)
    state = runtime.tick(workflow=waits, run_id=listener)
    assert state.waiting is not None
    assert (state.waiting.reason, state.waiting.wait_key) == (WaitReason.EVENT, "evt:global:global:paid")
    runtime.tick(workflow=emits, run_id=emitter)
    assert runtime.tick(workflow=waits, run_id=listener).output["answer"]["payload"] == {"euros": 8}


def test_time_passes(make_runtime: Make, clock: VirtualClock) -> None:
    until = asks(Effect(EffectType.WAIT_UNTIL, {"until": "2027-01-15T08:01:00Z"}))
    runtime = Runtime(make_runtime())
    run = runtime.start(workflow=until)
    assert BEGIN == 1_800_000_000
    state = runtime.tick(workflow=until, run_id=run)
    assert state.waiting is not None
    assert (state.waiting.reason, state.waiting.until) == (WaitReason.UNTIL, "2027-01-15T08:01:00+00:00")
    clock.advance(60)
    assert runtime.tick(workflow=until, run_id=run).status == RunStatus.COMPLETED


def test_tick_takes_the_child_on_that_is_waited_for(make_runtime: Make) -> None:
    parent = asks(Effect(EffectType.START_SUBWORKFLOW, {"workflow_id": "asks"}, "answer"), "parent")
    runtime = Runtime(make_runtime(), workflows=[ASK])
    run = runtime.start(workflow=parent)
    state = runtime.tick(workflow=parent, run_id=run)
    assert state.waiting is not None
    assert state.waiting.wait_key is not None
    child = state.waiting.details["sub_run_id"]
    assert state.waiting.wait_key == f"subworkflow:{child}"
    assert state.waiting.details["sub_workflow_id"] == "asks"
    assert runtime.get_state(child).parent_run_id == run
    runtime.resume(workflow=ASK, run_id=child, wait_key=None, payload="M")
    by_hand = runtime.resume(workflow=parent, run_id=run, wait_key=state.waiting.wait_key, payload={"answer": "M"})
    assert by_hand.output["answer"] == {"sub_run_id": child, "output": {"answer": "M"}}


def test_child_without_a_workflow_fails_the_run(make_runtime: Make) -> None:
    parent = asks(Effect(EffectType.START_SUBWORKFLOW, {}), "parent")
    runtime = Runtime(make_runtime())
    state = runtime.tick(workflow=parent, run_id=runtime.start(workflow=parent))
    assert state.status == RunStatus.FAILED
    assert "workflow_id" in str(state.error) or "expected a text" in str(state.error)


def test_handlers_give_results_and_errors(make_runtime: Make) -> None:
    def double(run: RunState, effect: Effect) -> EffectOutcome:
        if effect.payload["n"] < 0:
            return EffectOutcome.failed("negative")
        return EffectOutcome.completed(effect.payload["n"] * 2)

    runtime = Runtime(make_runtime(), effect_handlers={"double": double})
    outputs: list[Any] = []
    for n in (2, -1):
        workflow = asks(Effect("double", {"n": n}, "answer"), f"doubles{n}")
        state = runtime.tick(workflow=workflow, run_id=runtime.start(workflow=workflow))
        outputs.append((state.status.value, state.output, state.error))
    assert outputs == [("completed", {"answer": 4}, None), ("failed", None, "negative")]


def test_handler_lets_a_job_end_its_effect(make_runtime: Make) -> None:
    def submit(run: RunState, effect: Effect) -> EffectOutcome:
        return EffectOutcome.waiting(WaitState(WaitReason.JOB, "job:7", details={"queue": "print"}))

    runtime = Runtime(make_runtime(), effect_handlers={"submit": submit})
    workflow = asks(Effect("submit", {}, "answer"), "submits")
    run = runtime.start(workflow=workflow)
    waiting = runtime.tick(workflow=workflow, run_id=run).waiting
    assert waiting is not None
    assert (waiting.reason, waiting.wait_key, waiting.details) == (WaitReason.JOB, "job:7", {"queue": "print"})
    assert runtime.resume(workflow=workflow, run_id=run, wait_key="job:7", payload=1).output == {"answer": 1}


def test_wait_of_a_handler_may_end_at_a_time(make_runtime: Make, clock: VirtualClock) -> None:
    def later(run: RunState, effect: Effect) -> EffectOutcome:
        return EffectOutcome.waiting(WaitState(WaitReason.UNTIL, until="2027-01-15T08:01:00"))

    runtime = Runtime(make_runtime(), effect_handlers={"later": later})
    workflow = asks(Effect("later", {}, "answer"), "waits_later")
    run = runtime.start(workflow=workflow)
    waiting = runtime.tick(workflow=workflow, run_id=run).waiting
    assert waiting is not None
    assert (waiting.wait_key, waiting.until) == (f"later:{run}:ask", "2027-01-15T08:01:00+00:00")
    assert (waiting.resume_to_node, waiting.result_key) == ("done", "answer")
    clock.advance(60)
    assert runtime.tick(workflow=workflow, run_id=run).output == {"answer": None}


def test_message_is_answered_once_though_its_worker_dies(make_runtime: Make) -> None:
    agent = Agent("echo", model="scripted", replies=lambda call: call.messages[-1].text)
    first = make_runtime(agent)
    session = Session(first, agent, "ann")
    session.send("one", id="mail-1")
    begun = session.wake()
    assert begun is not None
    first.advance(begun.id, max_steps=1)
    session.send("one", id="mail-1")
    woken = Runtime(make_runtime(agent)).wake(agent, "ann")
    assert woken is not None
    assert (woken.id, woken.output) == (begun.id, "one")
    assert Runtime(make_runtime(agent)).wake(agent, "ann") is None


def test_unknown_runs_are_missing_keys(make_runtime: Make) -> None:
    with pytest.raises(KeyError):
        Runtime(make_runtime()).get_state("unknown")


class Killed(BaseException):
    """Ends a worker as a crash does."""


def test_node_is_called_again_after_a_crash_and_a_handler_is_asked_about(
    make_runtime: Make, clock: VirtualClock
) -> None:
    called: list[str] = []

    def dies_first(name: str) -> None:
        called.append(name)
        if called.count(name) == 1:
            raise Killed

    def node(run: RunState, context: NodeContext) -> StepPlan:
        run.vars["at"] = context.now_iso()
        dies_first("node")
        return StepPlan("pay", Effect("pay"))

    def pay(run: RunState, effect: Effect) -> EffectOutcome:
        dies_first("pay")
        return EffectOutcome.completed("paid")

    workflow = WorkflowSpec("pays", "pay", {"pay": node})

    def restarted() -> Runtime:
        clock.advance(31)
        return Runtime(make_runtime(), effect_handlers={"pay": pay})

    run = restarted().start(workflow=workflow)
    for _ in range(2):
        with pytest.raises(Killed):
            restarted().tick(workflow=workflow, run_id=run)
    runtime = restarted()
    state = runtime.tick(workflow=workflow, run_id=run)
    assert state.waiting is not None
    assert (state.waiting.reason, state.waiting.wait_key) == (WaitReason.USER, "interrupted")
    runtime.runtime.run(run).waits[0].result("was paid")
    assert runtime.tick(workflow=workflow, run_id=run).output == {"success": True, "result": "was paid"}
    assert called == ["node", "node", "pay"]
