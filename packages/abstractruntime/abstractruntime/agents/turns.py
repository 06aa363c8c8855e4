"""`Turns`: the kind of effects that runs an agent's loop, until it answers or waits.

The loop is the SDK's. Its journal is the ledger of the run, so after a crash it goes on where it was.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from pydantic_core import to_jsonable_python

from abstractcore import (
    LLM,
    Allow,
    GenerateResponse,
    PendingCall,
    Suspend,
    ToolAnswer,
    ToolPolicy,
    create_llm,
    from_json,
    loop_of,
    to_json,
)
from abstractcore.concurrency import SyncRuntime
from abstractcore.schema import Usage

from ..effects import EffectContext, EffectResult
from ..json_documents import JSON, canonical, member, parsed
from ..programs import AfterCrash
from .journal import LedgerJournal

DEFAULT_POLICY: Final = ToolPolicy(approve=lambda pending: approve_reads(pending))
"""Tools that only read are run; every other call waits for an approval."""


def approve_reads(pending: PendingCall) -> Allow | Suspend:
    """Allows the calls of tools that only read, unless data may be sent away; all others wait."""
    reads = pending.reason == "approval" and pending.tool is not None and pending.tool.read_only
    return Allow() if reads else Suspend()


def never_guessing(policy: ToolPolicy) -> ToolPolicy:
    """Returns a policy by which a call that a crash has left without a result waits, whatever the approver says: it
    knows what may be done, and not what was done.
    """
    given = policy.approve
    if given is None:
        return policy

    def approve(pending: PendingCall) -> Any:
        return Suspend() if pending.reason == "interrupted" else given(pending)

    return replace(policy, approve=approve)


class Turns:
    """Executes turns of one agent: the `prompt` begins a loop, `answers` continue it."""

    after_crash: AfterCrash = "resume"

    def __init__(
        self,
        model: str | LLM,
        *,
        options: dict[str, Any],
        system: str | None,
        tools: tuple[Any, ...],
        policy: ToolPolicy,
        response_model: Any,
        deps: Any,
    ) -> None:
        self._model = model
        self._options = options
        self._system = system
        self._tools = tools
        self._policy = never_guessing(policy)
        self._response_model = response_model
        self._deps = deps

    @property
    def llm(self) -> LLM:
        """The LLM, made on first use."""
        if not isinstance(self._model, str):
            return self._model
        provider, _, model = self._model.partition("/")
        options: dict[str, Any] = {"model": model, **self._options} if model else self._options
        self._model = create_llm(provider, **options)
        return self._model

    def execute(self, context: EffectContext, payload: JSON) -> Any:
        """Returns the result of a turn, or an awaitable of it in an event loop.

        It is an object with `status`, that of the loop, and `answer`, or `pending`, the calls that wait. `used` are the
        tokens and dollars of the whole loop: those of the payload, the ones of earlier turns, are no part of this one.
        """
        journal = LedgerJournal(context)
        policy = replace(self._policy, journal=journal, loop_id=f"{context.run}/{context.key}")
        request: dict[str, Any] = {"run_tools": policy, "interruption": context.interruption, "deps": self._deps}
        if self._tools:
            request["tools"] = self._tools
        if self._response_model is not None:
            request["response_model"] = self._response_model
        loop = loop_of(journal)
        tokens, dollars = member(payload, "used") or (0, "0")
        before = (tokens, Decimal(dollars))
        is_sync = isinstance(context.runtime, SyncRuntime)
        llm: Any = self.llm
        if loop is None:
            request["tags"] = context.tags
            if self._system is not None:
                request["system_prompt"] = self._system
            request["messages"] = member(payload, "messages")
            generate = llm.generate if is_sync else llm.agenerate
            made = generate(member(payload, "prompt"), **request)
        else:
            known = {pending.digest for pending in loop.pending}
            given = [_answer(each) for each in member(payload, "answers") or ()]
            answers = [answer for answer in given if answer.digest in known]
            resume = llm.resume if is_sync else llm.aresume
            made = resume(loop, answers, **request)
        return self._result(made, before) if is_sync else self._awaited(made, before)

    async def _awaited(self, response: Awaitable[GenerateResponse[Any]], before: tuple[int, Decimal]) -> EffectResult:
        return self._result(await response, before)

    def _result(self, response: GenerateResponse[Any], before: tuple[int, Decimal]) -> EffectResult:
        loop = response.loop
        value: dict[str, JSON] = {"status": "answered" if loop is None else loop.status}
        if response.pending:
            value["pending"] = [parsed(to_json(pending)) for pending in response.pending]
        else:
            is_typed = self._response_model is not None or response.output is not None
            value["answer"] = to_jsonable_python(response.output) if is_typed else response.content
        tokens, dollars = _tokens(response.usage), response.cost or Decimal(0)
        value["used"] = [tokens, str(dollars)]
        return EffectResult(value, max(0, tokens - before[0]), max(Decimal(0), dollars - before[1]))


def _answer(document: JSON) -> ToolAnswer:
    return from_json(canonical(document, "answer").decode(), ToolAnswer)


def _tokens(usage: Usage) -> int:
    return (usage.input or 0) + (usage.output or 0)
