"""`Agent`: a model with tools as a program. Its calls that need somebody are waits of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abstractcore import LLM, PendingCall, ToolPolicy, from_json, to_json
from abstractcore.errors import InvalidInputError

from ..effects import EffectKind
from ..json_documents import JSON, canonical, member, parsed
from ..programs import Child, Effect, Item, RetryPolicy, Step, Wait, check_name
from ..records import Limits
from .suspending import answer_of, suspension
from .turns import Turns

_RETRY: Final = RetryPolicy(attempts=6, seconds=2.0, longest=300.0, errors=("JournalError", "ToolServerError"))
"""Of turns whose model, database or server of tools fails for a while: the loop goes on from its journal."""


class Agent:
    """A program that answers a prompt with a model and tools:
    `Agent("treasurer", model="anthropic/claude-opus-5-5", tools=[pay])`.

    `model` is the name of a provider, or `provider/model`, as `create_llm` takes them with `options`, or an `LLM`; or a
    group of these: if one fails, the next one continues the loop where it is. A request that is wrong in itself, or
    that a filter has refused, is not given to another one. The
    input of a run is the prompt, a text, or an object with `prompt` and earlier `messages`, as `generate` takes them.
    Its output is the answer: a text, or the JSON of `response_model` or of a final tool.

    Tools that are `read_only` run, and every other call waits for an approval. The approver of a `policy` decides
    instead, if it has one: calls that it suspends wait, and in any case those of which a crash has left no result.
    `limits` are those of runs that are started without others, also by other agents. A turn that fails since the
    provider does is tried again as `retry` says.

    Give a changed agent a new `version`: runs keep the one that they began with. Raises `InvalidInputError`, and
    `ConfigurationError` for a group with a model that `create_llm` cannot make. `system` are instructions to the model.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str | LLM | Sequence[str | LLM],
        system: str | None = None,
        tools: Sequence[Any] = (),
        policy: ToolPolicy | None = None,
        limits: Limits | None = None,
        response_model: Any = None,
        deps: Any = None,
        retry: RetryPolicy | None = _RETRY,
        version: str = "1",
        **options: Any,
    ) -> None:
        self.name = check_name(name, "name", longest=90)
        self.version = version
        self.limits = limits or Limits()
        self._retry = retry
        if policy is not None and (policy.journal is not None or policy.loop_id is not None):
            raise InvalidInputError("the run has the journal and the id of the loop", path="policy")
        models: Sequence[Any] = model if isinstance(model, list | tuple) else [model]
        if not models or not all(isinstance(each, str | LLM) for each in models):
            raise InvalidInputError(f"expected a model, or several, got {model!r:.80}", path="model")
        self._turns = Turns(
            models,
            options=options,
            system=system,
            tools=tuple(tools),
            policy=policy or ToolPolicy(),
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
            given: dict[str, JSON] = {"prompt": prompt, "messages": member(item.payload, "messages") or []}
            return self._turn({"used": [0, "0"], "waits": {}}, given)
        if item.kind == "result":
            return self._ended_turn(state, item)
        return self._answered(state, item)

    def _turn(self, state: dict[str, JSON], payload: dict[str, JSON], children: tuple[Child, ...] = ()) -> Step:
        effect = Effect("turn", {**payload, "used": state["used"]}, key="turn", retry=self._retry)
        return Step(state, effect=effect, waits=_waits(state), children=children)

    def _ended_turn(self, state: JSON, item: Item) -> Step:
        """Waits for the calls that are pending, or ends the run."""
        if item.error is not None:
            return Step(state, ended="failed", error=item.error)
        pending: list[JSON] = member(item.payload, "pending") or []
        if pending:
            return self._suspended(state, item, pending)
        state = {"used": item.payload["used"]}
        if item.payload["status"] not in ("answered", "final"):
            return Step.fail(f"the loop ended without an answer: {item.payload['status']}", type="LoopStopped")
        return Step.complete(item.payload["answer"], state=state)

    def _suspended(self, state: JSON, item: Item, pending: list[JSON]) -> Step:
        """Waits for an answer to each pending call. One that cannot be waited for has an error as its result."""
        open_before = {each["pending"]["digest"]: (key, each) for key, each in state["waits"].items()}
        waits: dict[str, JSON] = {}
        errors: list[JSON] = []
        children: list[Child] = []
        for document in pending:
            key, known = open_before.get(document["digest"], ("", None))
            if known is not None:
                waits[key] = known
                continue
            call = _call(document)
            try:
                made = suspension(call, wait_key(call), item.at)
                if made.wait.key in waits:
                    raise InvalidInputError("another call waits for it already", path=made.wait.key)
            except InvalidInputError as error:
                errors.append(parsed(to_json(call.result(f"invalid arguments: {error.message}", is_error=True))))
                continue
            waits[made.wait.key] = {
                "pending": document, "reason": made.wait.reason, "deadline": made.wait.deadline,
            }  # fmt: skip
            children += [] if made.child is None else [made.child]
        state = {"used": item.payload["used"], "waits": waits}
        if errors:
            return self._turn(state, {"answers": errors}, tuple(children))
        return Step.wait(state, *_waits(state), children=tuple(children))

    def _answered(self, state: JSON, item: Item) -> Step:
        """Takes the answer to one call. The loop goes on with it at once; the other calls still wait."""
        waits = dict(state["waits"])
        entry = waits.pop(item.key)
        try:
            answer = answer_of(_call(entry["pending"]), entry["reason"], item)
        except InvalidInputError as error:
            return Step.refuse(error.message)
        return self._turn({"used": state["used"], "waits": waits}, {"answers": [parsed(to_json(answer))]})


def wait_key(pending: PendingCall) -> str:
    """Returns the key of the wait of a pending call: unique in its run."""
    return f"{pending.call.name[:60]}:{pending.digest[:16]}"


def _call(document: JSON) -> PendingCall:
    return from_json(canonical(document, "pending").decode(), PendingCall)


def _waits(state: dict[str, JSON]) -> tuple[Wait, ...]:
    return tuple(
        Wait(key, each["reason"], each["deadline"], {"pending": each["pending"]})
        for key, each in state["waits"].items()
    )
