"""`GroupCalls`: the calls of a group of models, each made by the member whose turn it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..engine.decoding import DecodedStream
from ..engine.endings import close_streams
from ..errors import (
    AbstractCoreError,
    ContentFilterError,
    FallbackExhaustedError,
    MemberFailure,
    UnsupportedOptionError,
)
from ..ports import EMBED, Answer, BilledResponse, CallContext, CallEnd, MeteredStream, OperationResult
from ..ports.middleware import call_in
from ..routing import RoutedCall, Router
from ..schema import CallWarning, ModelCall, ModelReply
from ..schema.base_error import one_line, shown_seconds

if TYPE_CHECKING:
    from ..routing import RoutedAnswer
    from .group_members import GroupMember
    from .llm import LLM

_SESSION: Final = "session"
"""The tag that names the session of a call."""
_REFUSALS: Final = ("refusal", "content_filter")
_LONGEST_REASON: Final = 300


class GroupCalls:
    """Makes the calls of a group, by `router`."""

    def __init__(self, router: Router[LLM], members: Sequence[GroupMember]) -> None:
        self.router = router
        self._by_id = {id(each.llm): each for each in members}

    async def answer(self, context: CallContext, *, sync: bool) -> Answer:
        """Returns the answer of the first member that gives one, with a warning if it was not the first to be asked.

        Raises the error of a member after which no other one is asked, and `FallbackExhaustedError`.
        """
        asking = _GroupCall(self._by_id, self.router, context, sync=sync)
        return await asking.answer()


class _GroupCall:
    """One call of a group. Each member gets the context as the group got it; with hedging, a copy of its own."""

    def __init__(
        self, members: Mapping[int, GroupMember], router: Router[LLM], context: CallContext, *, sync: bool
    ) -> None:
        name = context.operation.name
        self._members = {key: each.for_operation(name) for key, each in members.items()} if name == EMBED else members
        self._router = router
        self._context = context
        self._sync = sync
        self._given = context.input
        self._headers = context.headers
        self._operation = context.operation
        self._pricing = context.pricing
        self._warnings = len(context.warnings)
        self._attempts = len(context.attempts)
        self._only_model = None if context.operation.takes_call else self._model_of(context.operation.name)
        self._has_branches = router.routing.hedge_after is not None
        self._branches: list[CallContext] = []

    async def answer(self) -> Answer:
        context = self._context
        try:
            routed = await self._router.answer(self._ask, context.runtime, self._routed_call(), has_begun=self._is_over)
        except BaseException as error:
            await self._join(None)
            self._end(error)
            raise
        answer, branch = routed.value
        await self._join(branch)
        if not isinstance(answer, ModelReply | OperationResult):
            end = self._router.hold(routed.member, context.runtime)
            context.at_end.append(lambda ended: end(None if self._is_over() else _error_of(ended)))
        warning = self._warning(routed)
        if warning is not None:
            context.warnings.append(warning)
        return answer

    def _model_of(self, operation: str) -> str | None:
        """Returns the model of an operation without a call, such as embeddings: those of others mean something else."""
        return next((each.llm.model for each in self._members.values() if each.has_operation(operation)), None)

    async def _ask(self, llm: LLM, is_last: bool) -> tuple[Answer, CallContext]:
        member, routing = self._members[id(llm)], self._router.routing
        if self._only_model not in (None, member.llm.model):
            raise UnsupportedOptionError(f"{self._operation.name!r} is an operation of {self._only_model} here.")
        context = self._branch() if self._has_branches else self._context
        self._restore(context)
        try:
            answer = await member.answer(
                context, self._given, self._headers, routing.member_timeout, sync=self._sync, is_last=is_last
            )
        except AbstractCoreError as error:
            error.provider, error.model = error.provider or member.llm.provider, error.model or member.llm.model
            context.secrets.error(error)
            raise
        if "refusal" in routing.named and not is_last:
            _check_refusal(answer, llm)
        return answer, context

    def _restore(self, context: CallContext) -> None:
        """Sets what a member has changed."""
        context.input, context.headers, context.operation = self._given, self._headers, self._operation
        context.pricing, context.asked, context.key_is_renewed = self._pricing, None, False
        context.begin_by = context.longest_pause = None
        context.decisions = ()
        del context.warnings[self._warnings :]

    def _end(self, error: BaseException) -> None:
        """Notes a failure: the call is recorded as one of the member that was asked last."""
        context = self._context
        asked = self._branches[-1].input if self._branches else context.input
        self._restore(context)
        if len(context.attempts) > self._attempts:
            context.input = asked
        if isinstance(error, FallbackExhaustedError):
            error.provider, error.model = self._given.provider, self._given.model
            error.attempts = tuple(context.attempts)

    def _is_over(self) -> bool:
        deadline = self._context.deadline
        return deadline is not None and self._context.runtime.now() >= deadline

    def _routed_call(self) -> RoutedCall:
        context, call = self._context, call_in(self._given)
        session = self._given.tags.get(_SESSION) or context.conversation
        named = self._router.routing.named
        return RoutedCall(
            call,
            session,
            streamed=call is not None and call.stream,
            may_repeat=context.operation.may_repeat,
            avoids_last=context.corrects and "invalid_output" in named,
            tokens=partial(_tokens, call),
        )

    def _branch(self) -> CallContext:
        context = self._context
        branch = replace(
            context,
            attempts=[*context.attempts],
            warnings=[*context.warnings],
            responses=[*context.responses],
            lost=[*context.lost],
            streams=[],
            middleware_streams=[],
            converted=dict(context.converted),
            stored={},
        )
        self._branches.append(branch)
        return branch

    async def _join(self, winner: CallContext | None) -> None:
        """Adds what members have done in contexts of their own: first those that have not answered."""
        if not self._branches:
            return
        context = self._context
        base = _Sizes.of(context)
        for branch in self._branches:
            if branch is not winner:
                billed = [each.billed for each in branch.streams if isinstance(each, MeteredStream)]
                _add(context, branch, base, billed)
                await close_streams(branch)
        if winner is None:
            return
        shift = len(context.attempts) - base.attempts
        for stream in winner.streams:
            if isinstance(stream, DecodedStream):
                stream.number += shift
        streams, middleware_streams = [*context.streams, *winner.streams], winner.middleware_streams
        _add(context, winner, base)
        for each in fields(context):
            if each.name not in _JOINED:
                setattr(context, each.name, getattr(winner, each.name))
        context.streams, context.middleware_streams = streams, [*context.middleware_streams, *middleware_streams]

    def _warning(self, routed: RoutedAnswer[LLM, Any]) -> CallWarning | None:
        """Returns the warning for an answer of a member that was not the first one."""
        if routed.member is routed.first:
            return None
        first, member = self._members[id(routed.first)].llm, self._members[id(routed.member)].llm
        sent, requested = f"{member.provider}/{member.model}", f"{first.provider}/{first.model}"
        why = "; ".join(map(_reason, routed.failures)) or f"{requested} was late"
        message = self._context.secrets.text(f"{routed.name} answered: {why}")
        return CallWarning("model_substituted", "model", message, requested, sent)


_JOINED: Final = frozenset(
    {"attempts", "responses", "lost", "unsent", "streams", "middleware_streams", "at_end", "deadline"}
)
"""Fields of a context that are not those of the member that has answered."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How much a context held before members got copies of it."""

    attempts: int
    responses: int
    lost: int
    unsent: int

    @classmethod
    def of(cls, context: CallContext) -> _Sizes:
        return cls(len(context.attempts), len(context.responses), len(context.lost), context.unsent)


def _add(context: CallContext, branch: CallContext, base: _Sizes, streamed: Sequence[BilledResponse] = ()) -> None:
    """Adds the attempts of a copy, and what they were charged, also for streams, with numbers that follow those of
    others.
    """
    shift = len(context.attempts) - base.attempts
    context.attempts += (replace(each, number=each.number + shift) for each in branch.attempts[base.attempts :])
    context.unsent += branch.unsent - base.unsent
    billed = (*branch.responses[base.responses :], *streamed)
    context.responses += (each._replace(attempt=each.attempt + shift) for each in billed)
    context.lost += (each._replace(attempt=each.attempt + shift) for each in branch.lost[base.lost :])


def _error_of(ended: CallEnd) -> AbstractCoreError | None:
    """Returns the error that a call failed with, not one that its user ended."""
    return ended.error if ended.outcome == "failed" and isinstance(ended.error, AbstractCoreError) else None


def _tokens(call: ModelCall | None) -> int:
    if call is None:
        return 0
    from ..files.token_estimates import estimated_tokens

    return int(estimated_tokens(call))


def _check_refusal(answer: Answer, llm: LLM) -> None:
    """Raises `ContentFilterError` for a reply in which the model refuses to answer."""
    if isinstance(answer, ModelReply) and answer.finish_reason in _REFUSALS:
        raise ContentFilterError(
            f"the model refused to answer: {answer.finish_reason}", provider=llm.provider, model=llm.model
        )


def _reason(failure: MemberFailure) -> str:
    after = f" after {shown_seconds(failure.seconds)}" if failure.is_sent else ""
    return one_line(f"{failure}{after}", _LONGEST_REASON)
