"""`Agent`: a model with tools as a program. Its calls that need somebody are waits of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abstractcore import LLM, PendingCall, ToolAnswer, ToolPolicy, from_json
from abstractcore.errors import InvalidInputError, SchemaError

from ..effects import EffectKind
from ..json_documents import JSON, canonical, member
from ..programs import Effect, Item, RetryPolicy, Step, Wait, check_name
from .turns import DEFAULT_POLICY, Turns

_RETRY: Final = RetryPolicy(attempts=6, seconds=2.0, longest=300.0)
"""Of model calls that fail for a while: the loop goes on from its journal."""


class Agent:
    """A program that answers a prompt with a model and tools: `Agent("treasurer", model="anthropic", tools=[pay])`.

    `model` is the name of a provider, or `provider/model`, as `create_llm` takes them with `options`, or an `LLM`. The
    input of a run is the prompt, its output the answer: a text, or the JSON of `response_model`.

    Without a `policy`, tools that are `read_only` run, and every other call waits for an approval. A policy of your own
    decides instead; calls that its approver suspends wait. A turn that fails since the provider does is tried again as
    `retry` says.

    Give a changed agent a new `version`: runs keep the one that they began with. Raises `InvalidInputError`.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str | LLM,
        system: str | None = None,
        tools: Sequence[Any] = (),
        policy: ToolPolicy | None = None,
        response_model: Any = None,
        deps: Any = None,
        retry: RetryPolicy | None = _RETRY,
        version: str = "1",
        **options: Any,
    ) -> None:
        self.name = check_name(name, "name", longest=90)
        self.version = version
        self._retry = retry
        if policy is not None and (policy.journal is not None or policy.loop_id is not None):
            raise InvalidInputError("the run has the journal and the id of the loop", path="policy")
        self._turns = Turns(
            model,
            options=options,
            system=system,
            tools=tuple(tools),
            policy=policy or DEFAULT_POLICY,
            response_model=response_model,
            deps=deps,
        )

    def __repr__(self) -> str:
        return f"Agent({self.name!r})"

    @property
    def effects(self) -> Mapping[str, EffectKind]:
        """The kind of effects that runs the loop."""
        return {"turn": self._turns}

    def step(self, state: JSON, item: Item) -> Step:
        """Begins or continues the loop, waits for answers to its calls, or completes with the answer."""
        if item.kind == "start":
            prompt = item.payload if isinstance(item.payload, str) else member(item.payload, "prompt")
            if not isinstance(prompt, str):
                problem = f"expected a prompt, as text or as {{'prompt': ...}}, got {type(item.payload).__name__}"
                return Step.fail(problem, type="InvalidInputError")
            return self._turn({"used": [0, "0"]}, {"prompt": prompt})
        if item.kind == "result":
            return self._ended_turn(state, item)
        return self._answered(state, item)

    def _turn(self, state: dict[str, JSON], payload: dict[str, JSON]) -> Step:
        return Step.do(state, Effect("turn", {**payload, "used": state["used"]}, key="turn", retry=self._retry))

    def _ended_turn(self, state: JSON, item: Item) -> Step:
        if item.error is not None:
            return Step(state, ended="failed", error=item.error)
        state = {**state, "used": item.payload["used"]}
        pending = member(item.payload, "pending")
        if pending:
            return _wait({**state, "pending": {wait_key(each): each for each in pending}, "answers": []})
        if item.payload["status"] not in ("answered", "final"):
            return Step.fail(f"the loop ended without an answer: {item.payload['status']}", type="LoopStopped")
        return Step.complete(item.payload["answer"], state={"used": state["used"]})

    def _answered(self, state: JSON, item: Item) -> Step:
        """Takes an answer to one call; the loop goes on once each call has one."""
        answer = member(item.payload, "answer")
        pending = state["pending"].get(item.key)
        problem = _problem(answer, pending)
        if problem is not None:
            return _wait({**state, "refused": {"key": item.key, "item": item.id, "reason": problem}})
        left = {key: each for key, each in state["pending"].items() if key != item.key}
        answers = [*state["answers"], answer]
        if left:
            return _wait({"used": state["used"], "pending": left, "answers": answers})
        return self._turn({"used": state["used"]}, {"answers": answers})


def wait_key(pending: JSON) -> str:
    """Returns the key of the wait of a pending call: unique in its run."""
    digest = from_json(canonical(pending, "pending").decode(), PendingCall).digest
    return f"{pending['call']['name'][:60]}:{digest[:16]}"


def _wait(state: dict[str, JSON]) -> Step:
    waits = [Wait(key, pending["reason"], asked={"pending": pending}) for key, pending in state["pending"].items()]
    return Step.wait(state, *waits)


def _problem(answer: JSON, pending: JSON) -> str | None:
    """Returns why an answer does not fit its call; None if it does."""
    try:
        given = from_json(canonical(answer, "answer").decode(), ToolAnswer)
    except (SchemaError, InvalidInputError) as error:
        return f"it is not an answer to a tool call: {error.message}"
    call = from_json(canonical(pending, "pending").decode(), PendingCall)
    if (given.call_id, given.digest) != (call.call.id, call.digest):
        return "it is the answer to another call"
    return None
