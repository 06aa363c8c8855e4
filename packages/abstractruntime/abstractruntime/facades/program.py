"""The program of a workflow.

A node may change `run.vars`, read the clock and do anything else, so it is no step: it is executed as an effect, on a
copy of the variables, and its result is recorded. After a crash it is called again; about other effects somebody is
asked then.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from abstractcore.errors import InvalidInputError

from .. import programs
from ..effects import EffectContext, FunctionEffect
from ..errors import ProgramError
from ..json_documents import JSON, member
from ..programs import Child, Item, Send, Step, Wait, check_name
from .data import Effect, EffectType, Handler, NodeContext, RunState, RunStatus, WaitReason, WorkflowSpec

_WAIT: Final = "$wait"
"""The member of a handler's result that is a wait."""
_REASONS: Final[dict[str, programs.WaitReason]] = {
    EffectType.ASK_USER: "input", EffectType.WAIT_EVENT: "event", EffectType.WAIT_UNTIL: "until",
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
            return self._follow(item.payload, {**item.payload["plan"]})
        if item.kind == "result" and member(item.payload, _WAIT) is not None:
            return _waiting(state, item.payload[_WAIT])
        value = item.payload
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

    def _follow(self, state: JSON, plan: dict[str, JSON]) -> Step:
        effect = plan["effect"]
        if plan["output"] is not None:
            return Step.complete(plan["output"], state=state)
        if effect is None:
            return self._enter(plan["next"], state["vars"])
        payload, key = effect["payload"], effect["key"]
        if effect["type"] == EffectType.ANSWER_USER:
            return self._go_on(state, {"message": payload.get("message"), "level": payload.get("level", "message")})
        if effect["type"] == EffectType.EMIT_EVENT:
            sent = {"name": payload["name"], "payload": payload.get("payload"), "emitter": {"node_id": state["node"]}}
            return self._go_on(state, {"wait_key": key, "name": payload["name"]}, (Send(key, sent),))
        if effect["type"] == EffectType.START_SUBWORKFLOW:
            child = Child(key, payload["workflow_id"], payload.get("vars") or {}, key.removeprefix("subworkflow:"))
            if payload.get("async") and not payload.get("wait"):
                return self._go_on(state, {"sub_run_id": child.run, "async": True}, children=(child,))
            asked = {"details": {"sub_run_id": child.run, "sub_workflow_id": child.program, **payload}}
            return Step.wait(state, Wait(key, "child", asked=asked), children=(child,))
        if effect["type"] in _REASONS:
            return Step.wait(state, Wait(key, _REASONS[effect["type"]], effect.get("deadline"), payload))
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
        return {_WAIT: {**asdict(outcome.wait), "reason": str(outcome.wait.reason), "wait_key": key}}


def _waiting(state: JSON, wait: JSON) -> Step:
    """Returns the step that waits for what a handler has said."""
    reasons: dict[str, programs.WaitReason] = {WaitReason.JOB: "execution", WaitReason.EVENT: "event"}
    asked = {name: wait[name] for name in ("prompt", "choices", "allow_free_text", "details")}
    return Step.wait(state, Wait(wait["wait_key"], reasons.get(wait["reason"], "input"), asked=asked))


def _effect_data(effect: Effect, run: RunState, unique: str) -> dict[str, JSON]:
    """Returns an effect as JSON, with the key of the wait, the event or the child."""
    payload = effect.payload
    data: dict[str, JSON] = {"type": str(effect.type), "payload": payload, "result_key": effect.result_key}
    key: str | None = payload.get("wait_key")
    if effect.type in (EffectType.WAIT_EVENT, EffectType.EMIT_EVENT):
        key = key or _event_key(payload, run)
    elif effect.type == EffectType.WAIT_UNTIL:
        at = datetime.fromisoformat(payload["until"])
        data["deadline"] = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        key = f"until:{run.run_id}:{run.current_node}"
    elif effect.type == EffectType.START_SUBWORKFLOW:
        check_name(payload.get("workflow_id"), "effect.payload.workflow_id")
        key = f"subworkflow:{unique[:32]}"
    return {**data, "key": key or f"user:{run.run_id}:{run.current_node}"}


def _event_key(payload: dict[str, JSON], run: RunState) -> str:
    name = check_name(str(payload.get("name") or "").strip(), "effect.payload.name")
    scope = str(payload.get("scope") or "session").strip().lower()
    ids = {"session": payload.get("session_id") or run.session_id or run.run_id, "workflow": run.workflow_id,
           "run": run.run_id, "global": "global"}  # fmt: skip
    if scope not in ids:
        raise InvalidInputError(f"expected one of {', '.join(ids)}, got {scope!r:.80}", path="effect.payload.scope")
    return f"evt:{scope}:{ids[scope]}:{name}"
