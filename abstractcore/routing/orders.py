"""The orders in which the members of a group are asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Protocol, TypeVar, cast

from ..errors import InvalidInputError
from ..ports import Charge, ModelProfile, Runtime
from ..schema import ModelCall, Usage
from ..schema.base_error import shown
from .health import MemberHealth
from .options import Order


class RoutedModel(Protocol):
    """A member of a group, such as an `LLM`."""

    provider: str
    model: str

    @property
    def profile(self) -> ModelProfile:
        """What is known of the model."""
        ...

    def charge(self, usage: Usage) -> Charge:
        """Returns what these tokens cost."""
        ...


@dataclass(frozen=True, slots=True)
class RoutedCall:
    """What decides about the order of members for a call: the call itself, if there is one; the id of its session, or
    of its tool loop; whether its answer is streamed, and whether it may be made twice. `tokens` returns about how many
    its input has. With `avoids_last`, the member that answered the last call of the session comes last.
    """

    call: ModelCall | None = None
    session_id: str | None = None
    streamed: bool = False
    may_repeat: bool = True
    avoids_last: bool = False
    tokens: Callable[[], int] | None = None


M = TypeVar("M", bound=RoutedModel)
_USUAL_OUTPUT: Final = 256
"""The output of a call without a limit, in tokens, as far as prices are compared."""
_NO_PRICE: Final = Decimal("Infinity")


async def in_order(
    order: Order, members: Sequence[MemberHealth[M]], given: RoutedCall, turn: int, runtime: Runtime
) -> list[MemberHealth[M]]:
    """Returns the members in the order in which to ask them; `turn` counts the calls of the group.

    Raises `InvalidInputError` for a function that returns anything but members.
    """
    if order == "first":
        return [*members]
    if order == "spread":
        start = turn % len(members)
        return [*members[start:], *members[:start]]
    if order == "least_busy":
        return sorted(members, key=lambda each: each.running)
    if order == "fastest":
        return _by_speed(members, runtime.now(), streamed=given.streamed)
    if order == "cheapest":
        return _by_price(members, given)
    assert callable(order)
    return _chosen(await runtime.invoke(order, given.call, tuple(each.member for each in members)), members)


def _by_speed(members: Sequence[MemberHealth[M]], now: float, *, streamed: bool) -> list[MemberHealth[M]]:
    """One that was not measured of late comes first, unless it is being asked."""

    def seconds(each: MemberHealth[M]) -> float:
        known = each.usual_seconds(now, streamed=streamed)
        if known is not None:
            return known
        return math.inf if each.running else -1.0

    return sorted(members, key=seconds)


def _by_price(members: Sequence[MemberHealth[M]], given: RoutedCall) -> list[MemberHealth[M]]:
    """Those without a known price come last."""
    limit = None if given.call is None else given.call.sampling.max_output_tokens
    usage = Usage(input=given.tokens() if given.tokens is not None else 0, output=limit or _USUAL_OUTPUT)

    def dollars(each: MemberHealth[M]) -> Decimal:
        found = each.member.charge(usage).dollars
        return _NO_PRICE if found is None else found

    return sorted(members, key=dollars)


def _chosen(found: Any, members: Sequence[MemberHealth[M]]) -> list[MemberHealth[M]]:
    """Returns the members that a function has chosen: one, or several in order."""
    chosen = list(cast("Sequence[Any]", found)) if isinstance(found, list | tuple) else [found]
    by_id = {id(each.member): each for each in members}
    unknown = [each for each in chosen if id(each) not in by_id]
    if unknown or not chosen:
        hint = "Return members of the group that it is given, in order."
        what = shown(unknown[0]) if unknown else "nothing"
        raise InvalidInputError(f"the function returned {what}", path="routing.order", hint=hint)
    return list(dict.fromkeys(by_id[id(each)] for each in chosen))
