"""One call of a backend for a client: let in, shown to guards, made, settled, and its facts as headers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from abstractcore.concurrency import is_large
from abstractcore.schema import BackendFacts, CallWarning, Message, ModelCall, TextPart

from .exchange import Exchange
from .guarded_results import guarded_result
from .guarding import Guarding, accepted_texts
from .makers import Maker
from .settlements import Spending

F = TypeVar("F", bound=BackendFacts)


@dataclass(frozen=True, slots=True)
class MediaRequest:
    """A request to `maker`: an operation of its capability, the texts of the request by the names of their fields, and
    the contents of its files.
    """

    maker: Maker
    operation: str
    texts: Mapping[str, str]
    files: Sequence[bytes] = ()

    def call(self, tags: Mapping[str, str]) -> ModelCall:
        """Returns it as a call of "voice/NAME" and the like, with a message for each text: limits count it, and guards
        see it.
        """
        messages = tuple(map(Message.user, self.texts.values() or (self.operation,)))
        return ModelCall(self.maker.name, messages, self.maker.capability, tags=tags)

    async def with_files(self, call: ModelCall) -> ModelCall:
        """Returns its call with the files in the first message; raises `MediaError` for one of an unknown type."""
        if not self.files:
            return call
        built = await asyncio.to_thread(self.maker.llm.build, self.operation, media=self.files)
        files = tuple(part for part in built.messages[-1].parts if not isinstance(part, TextPart))
        first, *others = call.messages
        first = Message("user", (*first.parts, *files) if self.texts else files)
        return call.with_(messages=(first, *others))

    def texts_of(self, call: ModelCall) -> dict[str, str]:
        """Returns the texts of its call as guards have left them."""
        return {name: message.text for name, message in zip(self.texts, call.messages, strict=False)}


@dataclass(frozen=True, slots=True)
class BegunMedia:
    """A call that was let in. `texts` and `tags` are for the backend, `guarding` are its guards, None if there are
    none.
    """

    texts: Mapping[str, str]
    tags: Mapping[str, str]
    guarding: Guarding | None
    spending: Spending


@asynccontextmanager
async def begun_media(exchange: Exchange, request: MediaRequest) -> AsyncGenerator[BegunMedia]:
    """Lets a call in, which is made in the body of `async with`, and shows it to its guards; settles it at the end.

    Raises `AccessDeniedError` for a model that the key may not use, as `Access.begin` does, `RequestRefused` for what a
    guard refuses, and `MediaError` for a file that it cannot be shown.
    """
    exchange.grant.check_model(request.maker.name)
    call = request.call(exchange.grant.tags)
    async with exchange.account(call, large=any(map(is_large, request.texts.values()))) as account:
        guarding = Guarding.of(exchange, call, request.maker.name, request.operation)
        if guarding is not None:
            call = await guarding.call(await request.with_files(call), accepted_texts)
        account.spending = Spending(call)
        yield BegunMedia(request.texts_of(call), call.tags, guarding, account.spending)


async def made(exchange: Exchange, request: MediaRequest, make: Callable[[BegunMedia], Awaitable[F]]) -> F:
    """Returns what `make` makes as its guards leave it; raises as `begun_media` does. A client that leaves ends it."""
    async with exchange.state.drains.watched(exchange.connection, "cancel"):
        async with begun_media(exchange, request) as begun:
            result = begun.spending.result = await make(begun)
        return result if begun.guarding is None else await guarded_result(begun.guarding, result)


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
