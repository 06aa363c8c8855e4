"""The program of a workflow.

A node may change `run.vars`, read the clock and do anything else, so it is no step: it is executed as an effect, on a
copy of the variables, and its result is recorded. After a crash it is called again; about other effects somebody is
asked then.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from abstractcore.errors import InvalidInputError

from .. import programs
from ..effects import EffectContext, FunctionEffect
from ..errors import ProgramError
from ..json_documents import JSON, member
from ..programs import Child, Item, Send, Step, Wait, check_name
from .data import Effect, EffectType, Handler, NodeContext, RunState, RunStatus, WaitReason, WaitState, WorkflowSpec

_WAIT: Final = "$wait"
"""The member of a handler's result that is a wait."""
_WAITS: Final[dict[str, WaitReason]] = {
    EffectType.ASK_USER: WaitReason.USER, EffectType.WAIT_EVENT: WaitReason.EVENT,
    EffectType.WAIT_UNTIL: WaitReason.UNTIL, EffectType.START_SUBWORKFLOW: WaitReason.SUBWORKFLOW,
}  # fmt: skip
_REASONS: Final[dict[str, programs.WaitReason]] = {
    WaitReason.USER: "input", WaitReason.EVENT: "event", WaitReason.UNTIL: "until", WaitReason.JOB: "execution",
    WaitReason.SUBWORKFLOW: "child",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorkflowProgram:
    """The program of a workflow. Its state has the `node`, the `vars` and the `plan` that the node returned."""

    spec: WorkflowSpec
    handlers: Mapping[str, Handler]
    version: str = "1"

    @property
    def name(self) -> str:
        return self.spec.workflow_id

    @property
    def effects(self) -> Mapping[str, object]:
        return {"node": FunctionEffect(self._call_node, "repeat"), "handler": FunctionEffect(self._call_handler)}

    def step(self, state: JSON, item: Item) -> Step:
        if item.kind == "start":
            return self._enter(self.spec.entry_node, item.payload)
        if item.error is not None:
            return Step.fail(item.error["message"], type=item.error["type"], state=state)
        if item.key == "node":
            return self._follow(item.payload)
        value = item.payload
        if item.kind == "result" and member(value, _WAIT) is not None:
            return _waiting(state, value[_WAIT])
        if item.kind == "child":
            value = {"sub_run_id": item.key.removeprefix("subworkflow:") if item.key else None, "output": value}
        return self._go_on(state, value)

    def _enter(self, node: str, variables: JSON, sends: tuple[Send, ...] = (), **more: Any) -> Step:
        effect = programs.Effect("node", {"node": node, "vars": variables}, key="node")
        return Step({"node": node, "vars": variables}, effect=effect, sends=sends, **more)

    def _go_on(self, state: JSON, value: JSON, sends: tuple[Send, ...] = (), **more: Any) -> Step:
        plan, variables = state["plan"], deepcopy(state["vars"])
        if plan["effect"]["result_key"]:
            *path, last = plan["effect"]["result_key"].split(".")
            inner = variables
            for name in path:
                inner = inner.setdefault(name, {})
            inner[last] = value
        if plan["next"] is not None:
            return self._enter(plan["next"], variables, sends, **more)
        ended = {"node": state["node"], "vars": variables}
        return Step(ended, ended="completed", output={"success": True, "result": value}, sends=sends, **more)

    def _follow(self, state: JSON) -> Step:
        effect = state["plan"]["effect"]
        if state["plan"]["output"] is not None:
            return Step.complete(state["plan"]["output"], state=state)
        if effect is None:
            return self._enter(state["plan"]["next"], state["vars"])
        payload, key, wait = effect["payload"], effect["key"], effect["wait"]
        if effect["type"] == EffectType.ANSWER_USER:
            return self._go_on(state, {"message": payload.get("message"), "level": payload.get("level", "message")})
        if effect["type"] == EffectType.EMIT_EVENT:
            sent = {"name": payload["name"], "payload": payload.get("payload"), "emitter": {"node_id": state["node"]}}
            return self._go_on(state, {"wait_key": key, "name": payload["name"]}, (Send(key, sent),))
        if effect["type"] == EffectType.START_SUBWORKFLOW:
            child = Child(key, payload["workflow_id"], payload.get("vars") or {}, key.removeprefix("subworkflow:"))
            if payload.get("async") and not payload.get("wait"):
                return self._go_on(state, {"sub_run_id": child.run, "async": True}, children=(child,))
            details = {"sub_run_id": child.run, "sub_workflow_id": child.program, **payload}
            return replace(_waiting(state, {**wait, "details": details}), children=(child,))
        if wait is not None:
            return _waiting(state, wait)
        return Step.do(state, programs.Effect("handler", {"node": state["node"], "vars": state["vars"], **effect}))

    def _run_state(self, context: EffectContext, payload: JSON) -> RunState:
        variables = deepcopy(payload["vars"])
        return RunState(context.run, self.name, RunStatus.RUNNING, payload["node"], variables,
                        session_id=context.session)  # fmt: skip

    def _call_node(self, context: EffectContext, payload: JSON) -> JSON:
        run = self._run_state(context, payload)
        plan = self.spec.nodes[payload["node"]](run, NodeContext())
        if plan.complete_output is None and plan.effect is None and plan.next_node is None:
            raise InvalidInputError(
                "neither an effect, nor a next node, nor an output", path=f"nodes.{payload['node']}"
            )
        effect = None if plan.effect is None else _effect_data(plan.effect, run, context.idempotency_key)
        planned = {"effect": effect, "next": plan.next_node, "output": plan.complete_output}
        return {"node": payload["node"], "vars": run.vars, "plan": planned}

    def _call_handler(self, context: EffectContext, payload: JSON) -> JSON:
        handler = self.handlers.get(payload["type"])
        if handler is None:
            raise InvalidInputError(f"there is no handler for {payload['type']!r}", path="effect_handlers")
        outcome = handler(self._run_state(context, payload), Effect(payload["type"], payload["payload"]))
        if outcome.error is not None:
            raise ProgramError(outcome.error, run=context.run)
        if outcome.wait is None:
            return outcome.result
        key = outcome.wait.wait_key or f"{payload['type']}:{context.run}:{payload['node']}"
        return {_WAIT: _wait_data(replace(outcome.wait, wait_key=key))}


def _waiting(state: JSON, wait: JSON) -> Step:
    """Returns the step that waits; what is asked is the `WaitState`."""
    plan, until = state["plan"], wait["until"]
    asked = {**wait, "resume_to_node": plan["next"], "result_key": plan["effect"]["result_key"]}
    deadline = None if until is None else datetime.fromisoformat(until).timestamp()
    return Step.wait(state, Wait(wait["wait_key"], _REASONS[wait["reason"]], deadline, asked))


def _wait_data(wait: WaitState) -> dict[str, JSON]:
    until = None if wait.until is None else datetime.fromisoformat(wait.until)
    if until is not None:
        until = (until if until.tzinfo else until.replace(tzinfo=UTC)).isoformat()
    return {**asdict(wait), "reason": str(wait.reason), "until": until}


def _effect_data(effect: Effect, run: RunState, unique: str) -> dict[str, JSON]:
    """Returns an effect as JSON, with the key of the wait, the event or the child, and what it waits for."""
    payload = effect.payload
    key: str | None = payload.get("wait_key")
    if effect.type in (EffectType.WAIT_EVENT, EffectType.EMIT_EVENT):
        key = key or _event_key(payload, run)
    elif effect.type == EffectType.WAIT_UNTIL:
        key = f"until:{run.run_id}:{run.current_node}"
    elif effect.type == EffectType.START_SUBWORKFLOW:
        check_name(payload.get("workflow_id"), "effect.payload.workflow_id")
        key = f"subworkflow:{unique[:32]}"
    key = key or f"user:{run.run_id}:{run.current_node}"
    wait = None
    if effect.type in _WAITS:
        asked = {name: payload[name] for name in ("prompt", "choices", "allow_free_text", "details") if name in payload}
        until = payload["until"] if effect.type == EffectType.WAIT_UNTIL else None
        wait = _wait_data(WaitState(_WAITS[effect.type], key, until, **asked))
    return {**asdict(effect), "type": str(effect.type), "key": key, "wait": wait}


def _event_key(payload: dict[str, JSON], run: RunState) -> str:
    name = check_name(str(payload.get("name") or "").strip(), "effect.payload.name")
    scope = str(payload.get("scope") or "session").strip().lower()
    ids = {"session": payload.get("session_id") or run.session_id or run.run_id, "workflow": run.workflow_id,
           "run": run.run_id, "global": "global"}  # fmt: skip
    if scope not in ids:
        raise InvalidInputError(f"expected one of {', '.join(ids)}, got {scope!r:.80}", path="effect.payload.scope")
    return f"evt:{scope}:{ids[scope]}:{name}"
