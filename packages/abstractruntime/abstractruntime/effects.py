"""Kinds of effects: what executes them, what they know of their run, and what they return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from abstractcore.ports import Interruption, Runtime

from .json_documents import JSON
from .programs import AfterCrash
from .records import check_used


@dataclass(frozen=True, slots=True)
class EffectResult:
    """The result of an effect, with what it used. What a kind returns otherwise is the value alone.

    Raises `InvalidInputError` for tokens or dollars that no limit could count: negative, not finite, or no numbers.
    """

    value: JSON = None
    tokens: int = 0
    dollars: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        check_used(self.tokens, self.dollars)


@dataclass(frozen=True, slots=True)
class EffectContext:
    """What an effect may know and use. `interruption` is set when the run is cancelled, or its lease is lost.

    `key` is that of the effect. `attempt` counts its beginnings from 1; `resumed` is True if it was begun before.
    `note` appends a record of a kind to the run's ledger, durably, and returns its number; it raises
    `InvalidInputError` for a kind of the runtime's own records, such as `step`. `notes` yields what effects of this key
    have noted in this run, the newest first, and reads no more than is taken. Both block.
    """

    run: str
    program: str
    session: str | None
    key: str
    attempt: int
    resumed: bool
    idempotency_key: str
    """The same each time the effect is begun, for services that know such keys."""
    interruption: Interruption
    runtime: Runtime = field(repr=False)
    note: Callable[[str, JSON], int] = field(repr=False)
    notes: Callable[[str], Iterator[JSON]] = field(repr=False)

    @property
    def tags(self) -> dict[str, str]:
        """The run, its program and its session, as tags for the records of calls: `generate(tags=context.tags)`."""
        session = {} if self.session is None else {"session": self.session}
        return {"run": self.run, "program": self.program, **session}


@runtime_checkable
class EffectKind(Protocol):
    """A kind of effects. `after_crash` says what becomes of one that has begun and has no result."""

    @property
    def after_crash(self) -> AfterCrash | Callable[[JSON], AfterCrash]:
        """`repeat` if it changes nothing or may be done twice, `resume` if it has its own journal, otherwise `ask`; or
        a function that says so of a payload.
        """
        ...

    def execute(self, context: EffectContext, payload: JSON) -> Awaitable[EffectResult | JSON] | EffectResult | JSON:
        """Does the work, and returns its result. An exception is the result too: the step gets it as `item.error`."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionEffect:
    """A kind of one function, sync or async, of the context and the payload."""

    function: Callable[[EffectContext, JSON], Any]
    after_crash: AfterCrash | Callable[[JSON], AfterCrash] = "ask"

    def execute(self, context: EffectContext, payload: JSON) -> Any:
        """Calls the function."""
        return self.function(context, payload)


def after_crash(kind: EffectKind, payload: JSON) -> AfterCrash:
    """Returns what becomes of an effect without a result; raises whatever the kind's function raises."""
    rule = kind.after_crash
    return rule(payload) if callable(rule) else rule
