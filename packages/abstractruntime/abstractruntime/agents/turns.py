"""`Turns`: the kind of effects that runs an agent's loop, until it answers or waits.

The loop is the SDK's. Its journal is the ledger of the run, so after a crash it goes on where it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

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
from abstractcore.errors import BadRequestError, ContentFilterError, ContextOverflowError, ProviderError
from abstractcore.schema import Usage

from ..effects import EffectContext, EffectResult
from ..json_documents import JSON, canonical, member, parsed
from ..programs import AfterCrash
from ..scrubbing import secrets
from .journal import LedgerJournal

_log = logging.getLogger("abstractruntime")


def approve_reads(pending: PendingCall) -> Allow | Suspend:
    """Allows the calls of tools that only read, unless data may be sent away; all others wait."""
    reads = pending.reason == "approval" and pending.tool is not None and pending.tool.read_only
    return Allow() if reads else Suspend()


def never_guessing(policy: ToolPolicy) -> ToolPolicy:
    """Returns a policy by which a call that a crash has left without a result waits, whatever the approver says: it
    knows what may be done, and not what was done. One without an approver allows calls that only read.
    """
    given = policy.approve or approve_reads

    def approve(pending: PendingCall) -> Any:
        return Suspend() if pending.reason == "interrupted" else given(pending)

    return replace(policy, approve=approve)


class Turns:
    """Executes turns of one agent: the `prompt` begins a loop, `answers` continue it. If a model fails, the next one
    continues the loop from its journal.

    The LLMs of a group are made at once: a later one that is misconfigured would else be noticed only when the first
    one fails. Raises their `ConfigurationError`.
    """

    after_crash: AfterCrash = "resume"

    def __init__(
        self,
        models: Sequence[str | LLM],
        *,
        options: dict[str, Any],
        system: str | None,
        tools: tuple[Any, ...],
        policy: ToolPolicy,
        response_model: Any,
        deps: Any,
    ) -> None:
        self._models = [*models]
        self._options = options
        self._system = system
        self._tools = tools
        self._policy = never_guessing(policy)
        self._response_model = response_model
        self._deps = deps
        for index in range(len(models) if len(models) > 1 else 0):
            with suppress(ProviderError):  # the key that is missing may be there when the model is asked
                self.llm(index)

    def llm(self, index: int) -> LLM:
        """Returns the LLM of a model, made on first use."""
        model = self._models[index]
        if isinstance(model, str):
            provider, _, name = model.partition("/")
            options: dict[str, Any] = {"model": name, **self._options} if name else self._options
            self._models[index] = model = create_llm(provider, **options)
        return model

    def execute(self, context: EffectContext, payload: JSON) -> Any:
        """Returns the result of a turn, or an awaitable of it in an event loop.

        It is an object with `status`, that of the loop, and `answer`, or `pending`, the calls that wait. `used` are the
        tokens and dollars of the whole loop: those of the payload, the ones of earlier turns, are no part of this one.
        """
        secrets()  # which logs of the tools leave out
        journal = LedgerJournal(replace(context, note=partial(_note, context)))
        policy = replace(self._policy, journal=journal, loop_id=f"{context.run}/{context.key}")
        request: dict[str, Any] = {"run_tools": policy, "interruption": context.interruption, "deps": self._deps}
        if self._tools:
            request["tools"] = self._tools
        if self._response_model is not None:
            request["response_model"] = self._response_model
        tokens, dollars = member(payload, "used") or (0, "0")
        before = (tokens, Decimal(dollars))
        is_sync = isinstance(context.runtime, SyncRuntime)

        def made(llm: Any) -> Any:
            """Begins or continues the loop."""
            loop = loop_of(journal)
            if loop is None:
                system = {} if self._system is None else {"system_prompt": self._system}
                given = {"tags": context.tags, "messages": member(payload, "messages"), **system, **request}
                return (llm.generate if is_sync else llm.agenerate)(member(payload, "prompt"), **given)
            known = {pending.digest for pending in loop.pending}
            answers = [answer for each in member(payload, "answers") or () if (answer := _answer(each)).digest in known]
            return (llm.resume if is_sync else llm.aresume)(loop, answers, **request)

        return self._of_first(made, before) if is_sync else self._of_first_async(made, before)

    def _of_first(self, made: Callable[[LLM], Any], before: tuple[int, Decimal]) -> EffectResult:
        """Returns the result of the first model that does not fail in a way that lets the next one answer."""
        for index in range(len(self._models) - 1):
            try:
                return self._result(made(self.llm(index)), before)
            except ProviderError as error:
                self._check_next(index, error)
        return self._result(made(self.llm(-1)), before)

    async def _of_first_async(self, made: Callable[[LLM], Any], before: tuple[int, Decimal]) -> EffectResult:
        for index in range(len(self._models) - 1):
            try:
                return self._result(await made(self.llm(index)), before)
            except ProviderError as error:
                self._check_next(index, error)
        return self._result(await made(self.llm(-1)), before)

    def _check_next(self, index: int, error: ProviderError) -> None:
        """Raises an error after which no other model is asked: of what is wrong with the request itself."""
        is_of_request = isinstance(error, BadRequestError | ContentFilterError)
        if is_of_request and not isinstance(error, ContextOverflowError):
            raise error
        _log.warning("the model %r failed, the next one is asked: %s", self._models[index], error)

    def _result(self, response: GenerateResponse[Any], before: tuple[int, Decimal]) -> EffectResult:
        loop = response.loop
        value: dict[str, JSON] = {"status": "answered" if loop is None else loop.status}
        if response.pending:
            value["pending"] = [parsed(to_json(pending)) for pending in response.pending]
        else:
            is_typed = self._response_model is not None or response.output is not None
            value["answer"] = to_jsonable_python(response.output) if is_typed else response.content
        tokens, dollars = _tokens(response.usage), response.costs.known + response.costs.estimated
        value["used"] = [tokens, str(dollars)]
        return EffectResult(value, max(0, tokens - before[0]), max(Decimal(0), dollars - before[1]))


def _note(context: EffectContext, kind: str, entry: JSON) -> int:
    """Notes an event; of one that reports an error, without credentials that the error quotes."""
    if member(member(entry, "step"), "error") is not None:
        entry = {**entry, "step": secrets().value(entry["step"])}
    return context.note(kind, entry)


def _answer(document: JSON) -> ToolAnswer:
    return from_json(canonical(document, "answer").decode(), ToolAnswer)


def _tokens(usage: Usage) -> int:
    return (usage.input or 0) + (usage.output or 0)
