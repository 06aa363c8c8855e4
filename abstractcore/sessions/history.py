"""The history of a session as data: exchanges, what they used, and what of them the model is given. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

from ..errors import InvalidInputError
from ..schema import TOKEN_COUNTS, CostSums, Message, ToolLoop, Usage
from ..schema.reprs import Immutable

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class SessionExchange(Immutable):
    """A question and its answer, with the tool calls between them; or messages that were added.

    `asked` is the number of messages of the question. `usage`, `cost` and `estimated_cost` are those of the response,
    `calls` the requests of it whose cost is in them; `saved_cost` is what answers of caches saved. With `partial`, the
    call failed or was left, and this is what had arrived. `loop` is the state of a tool loop that can go on: calls wait
    for an answer, or the process was lost.
    """

    number: int
    messages: tuple[Message, ...]
    asked: int = 0
    usage: Usage = _NO_USAGE
    calls: int = 0
    cost: Decimal | None = None
    estimated_cost: Decimal | None = None
    saved_cost: Decimal | None = None
    provider: str | None = None
    model: str | None = None
    partial: bool = False
    tokens: int = 0
    """An estimate of the tokens of its messages."""
    loop: ToolLoop | None = None

    @property
    def question(self) -> tuple[Message, ...]:
        """The messages of the question."""
        return self.messages[: self.asked]

    def with_messages(self, messages: Iterable[Message]) -> SessionExchange:
        """Returns the exchange with other messages."""
        return replace(self, messages=tuple(messages))

    def without_messages(self) -> SessionExchange:
        """Returns what the exchange has used."""
        return replace(self, messages=(), asked=0, tokens=0, loop=None)

    def continued_by(self, after: SessionExchange) -> SessionExchange:
        """Returns the exchange with what continued it: an answer to results that were added.

        `after` is the exchange that goes on with it.
        """
        return replace(
            after,
            number=self.number,
            messages=(*self.messages, *after.messages),
            asked=self.asked,
            usage=self.usage + after.usage,
            calls=self.calls + after.calls,
            cost=_added(self.cost, after.cost),
            estimated_cost=_added(self.estimated_cost, after.estimated_cost),
            saved_cost=_added(self.saved_cost, after.saved_cost),
            tokens=self.tokens + after.tokens,
        )


@dataclass(frozen=True, slots=True)
class ContextGroup(Immutable):
    """Messages that the model is given in place of the oldest exchanges: shortened ones, or the summary of several."""

    messages: tuple[Message, ...]
    exchanges: int
    """How many exchanges they stand for."""
    tokens: int
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class SessionUsage(Usage):
    """The tokens of all calls of a session, those of summaries included."""

    @property
    def cached_rate(self) -> float | None:
        """The share of the input tokens that came from the provider's cache; None if that was not reported."""
        if self.cached is None or not self.input:
            return None
        return self.cached / self.input


def _added(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


class SessionHistory:
    """The exchanges of a session, oldest first, and the messages that the model is given.

    `groups` stand for the first exchanges, which were compacted; the others are given as they are. `context` is both.
    `spent` is what else was used, without messages: by exchanges that were undone, by summaries, by empty answers.
    """

    def __init__(
        self,
        exchanges: Iterable[SessionExchange] = (),
        groups: Iterable[ContextGroup] = (),
        spent: Iterable[SessionExchange] = (),
    ) -> None:
        self.exchanges = [*exchanges]
        self.groups = (*groups,)
        self.spent = (*spent,)
        charged = (*self.exchanges, *self.spent)
        self.next_number = max((each.number for each in charged), default=0) + 1
        self.usage = sum_of(each.usage for each in charged)
        self.cost = CostSums.of_calls([each for each in charged if each.calls])
        self._find_context()

    def copy(self) -> SessionHistory:
        """Returns a copy that can be changed alone; messages are shared."""
        other = SessionHistory.__new__(SessionHistory)
        other.__dict__.update(self.__dict__)
        other.exchanges = [*self.exchanges]
        return other

    def cleared(self) -> SessionHistory:
        """Returns a history without exchanges, which keeps what those have used and the next number."""
        return SessionHistory(spent=(*self.spent, *(each.without_messages() for each in self.exchanges)))

    @property
    def compacted(self) -> int:
        """The number of exchanges that `groups` stand for."""
        return sum(group.exchanges for group in self.groups)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, as they were before anything was compacted."""
        return tuple(message for exchange in self.exchanges for message in exchange.messages)

    @property
    def all_groups(self) -> tuple[ContextGroup, ...]:
        """The context in groups: those of compacted exchanges, then one for each further exchange."""
        rest = self.exchanges[self.compacted :]
        return (*self.groups, *(ContextGroup(each.messages, 1, each.tokens) for each in rest))

    @property
    def last(self) -> SessionExchange | None:
        """The last exchange."""
        return self.exchanges[-1] if self.exchanges else None

    def add(self, exchange: SessionExchange) -> None:
        """Appends an exchange."""
        self.exchanges.append(exchange)
        self.next_number = exchange.number + 1
        self._charge(exchange, 1)
        self._take_in(exchange)

    def replace_last(self, exchange: SessionExchange) -> None:
        """Puts an exchange in place of the last one, which it continues."""
        before = self.exchanges[-1]
        self._charge(before, -1)
        self._leave_out(before)
        self.exchanges[-1] = exchange
        self._charge(exchange, 1)
        self._take_in(exchange)

    def last_to_undo(self) -> SessionExchange:
        """Returns the last exchange; raises `InvalidInputError` if there is none that is not compacted."""
        if not self.exchanges:
            raise InvalidInputError("the session has no exchange to undo")
        if len(self.exchanges) <= self.compacted:
            hint = "session.history(full=True) has all messages, for a new session."
            raise InvalidInputError("the last exchange is part of a summary: it cannot be undone", hint=hint)
        return self.exchanges[-1]

    def undo(self) -> SessionExchange:
        """Removes the last exchange; raises as `last_to_undo`. What it used still counts."""
        removed = self.last_to_undo()
        self.exchanges.pop()
        self.spent = (*self.spent, removed.without_messages())
        self._leave_out(removed)
        return removed

    def without_untouched(self, groups: Sequence[ContextGroup]) -> tuple[ContextGroup, ...]:
        """Returns groups without the last ones, which are exchanges as they were."""
        kept, exchanges = [*groups], [*self.exchanges]
        while kept and exchanges and kept[-1].exchanges == 1 and kept[-1].messages is exchanges[-1].messages:
            kept.pop()
            exchanges.pop()
        return tuple(kept)

    def compact(self, groups: Sequence[ContextGroup], spent: SessionExchange) -> None:
        """Gives the model `groups` in place of the exchanges that they stand for, and adds what that took."""
        self.groups = tuple(groups)
        self.charge(spent)
        self._find_context()

    def charge(self, spent: SessionExchange) -> None:
        """Adds what a request beside the exchanges took."""
        self.spent = (*self.spent, spent)
        self._charge(spent, 1)

    def _charge(self, exchange: SessionExchange, sign: int) -> None:
        spent = _cost_of(exchange)
        if sign > 0:
            self.usage += exchange.usage
            self.cost += spent
        else:
            self.usage = _difference(self.usage, exchange.usage)
            self.cost = self.cost.without(spent)

    def _take_in(self, exchange: SessionExchange) -> None:
        self.context += exchange.messages
        self.tokens += exchange.tokens
        self.has_system = self.has_system or _has_system(exchange.messages)

    def _leave_out(self, exchange: SessionExchange) -> None:
        """Removes the last exchange from the context, in which it is as it was."""
        self.context = self.context[: len(self.context) - len(exchange.messages)]
        self.tokens -= exchange.tokens

    def _find_context(self) -> None:
        given = (*self.groups, *self.exchanges[self.compacted :])
        self.context: tuple[Message, ...] = tuple(message for each in given for message in each.messages)
        self.tokens = sum(each.tokens for each in given)
        self.has_system = _has_system(self.context)
        """Whether a system message may be in the context."""


def _has_system(messages: Iterable[Message]) -> bool:
    return any(message.role == "system" for message in messages)


def usage_of(usage: Usage) -> SessionUsage:
    """Returns the sum of token counts as that of a session."""
    return SessionUsage(**{name: getattr(usage, name) for name in TOKEN_COUNTS})


def sum_of(usages: Iterable[Usage]) -> Usage:
    """Returns the sum of token counts; faster than adding many."""
    totals: dict[str, int] = {}
    for usage in usages:
        if usage is not _NO_USAGE:
            for name in TOKEN_COUNTS:
                count = getattr(usage, name)
                if count is not None:
                    totals[name] = totals.get(name, 0) + count
    return Usage(**cast("dict[str, Any]", totals))


def _cost_of(exchange: SessionExchange) -> CostSums:
    """Returns the cost of an exchange; nothing for messages that were added."""
    return CostSums.of_call(exchange) if exchange.calls else CostSums()


def _difference(total: Usage, other: Usage) -> Usage:
    counts = {
        name: count - (getattr(other, name) or 0)
        for name in TOKEN_COUNTS
        if (count := getattr(total, name)) is not None
    }
    return replace(total, **counts)


def has_open_calls(messages: Sequence[Message]) -> bool:
    """Returns whether calls of the last turn have no result."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message.role == "assistant":
            return any(call.id not in answered for call in message.tool_calls)
        if message.role == "user":
            return False
        answered.update(getattr(part, "call_id", "") for part in message.parts)
    return False
