"""One call of a backend for a client: let in, made, settled, and its facts as headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from ..schema import CallWarning, Message, ModelCall, Usage
from ..schema.media_results import BackendFacts
from .access import Lease, Settlement
from .exchange import Exchange
from .makers import Maker

F = TypeVar("F", bound=BackendFacts)


async def begin(exchange: Exchange, maker: Maker, text: str) -> Lease:
    """Lets a call in, which is accounted as one of "voice/NAME" and the like.

    Raises `AccessDeniedError` for a model that the key may not use, and as `Access.begin` does.
    """
    exchange.grant.check_model(maker.name)
    call = ModelCall(maker.name, (Message.user(text),), maker.capability, tags=exchange.grant.tags)
    return await exchange.begin(call)


async def made(exchange: Exchange, maker: Maker, text: str, make: Callable[[], Awaitable[F]]) -> F:
    """Returns what `make` makes. A client that leaves ends it."""
    lease = await begin(exchange, maker, text)
    try:
        async with exchange.state.drains.watched(exchange.connection, "cancel"):
            result = await make()
    except BaseException as error:
        await lease.settle(unmade(error))
        raise
    await lease.settle(settled(result))
    return result


def settled(result: BackendFacts) -> Settlement:
    """Returns the settlement of a call that ended well."""
    return Settlement("done", result.usage, result.cost, "computed" if result.cost is not None else None)


def unmade(error: BaseException) -> Settlement:
    """Returns the settlement of a call that failed, or was cancelled: nothing of it was delivered."""
    is_failure = isinstance(error, Exception)
    return Settlement("failed" if is_failure else "cancelled", Usage(0, 0), Decimal(0), "computed", not is_failure)


def headers_of(
    exchange: Exchange, content_type: str, result: BackendFacts, warnings: Sequence[CallWarning] = ()
) -> dict[str, str]:
    """Returns the headers of a response with what was made."""
    given = {"content-type": content_type, "x-abstractcore-model": f"{result.backend}/{result.model or ''}".rstrip("/")}
    if result.cost is not None:
        given["x-abstractcore-cost"] = f"{result.cost:f}"
    count = len(result.warnings) + len(warnings)
    if count:
        given["x-abstractcore-warnings"] = str(count)
    return exchange.headers(given)


def timeout_of(exchange: Exchange) -> float:
    """Returns the time for a call, in seconds."""
    return exchange.state.settings.limits.call_seconds
