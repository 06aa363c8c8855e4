"""One call of a backend: let in, shown to guards, run, settled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from abstractcore.concurrency import is_large
from abstractcore.schema import BackendFacts, CallWarning, Message, ModelCall, TextPart

from ..access.guarded_replies import guarded_result
from ..access.guarding import Guarding, accepted_texts
from ..access.settlements import Spending
from ..context import RequestContext
from ..models import BackendModel

F = TypeVar("F", bound=BackendFacts)


@dataclass(frozen=True, slots=True)
class MediaRequest:
    """A request to `backend_model`: an operation of its capability, the texts of the request by the names of their
    fields, and the contents of its files.
    """

    backend_model: BackendModel
    operation: str
    texts: Mapping[str, str]
    files: Sequence[bytes] = ()

    def call(self, tags: Mapping[str, str]) -> ModelCall:
        """Returns it as a call of "voice/NAME" and the like, with a message for each text: limits count it, and guards
        see it.
        """
        messages = tuple(map(Message.user, self.texts.values() or (self.operation,)))
        return ModelCall(self.backend_model.name, messages, self.backend_model.capability, tags=tags)

    async def with_files(self, call: ModelCall) -> ModelCall:
        """Returns its call with the files in the first message; raises `MediaError` for one of an unknown type."""
        if not self.files:
            return call
        built = await asyncio.to_thread(self.backend_model.llm.build, self.operation, media=self.files)
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
async def begin_media(context: RequestContext, request: MediaRequest) -> AsyncGenerator[BegunMedia]:
    """Lets a call in, which is made in the body of `async with`, and shows it to its guards; settles it at the end.

    Raises `AccessDeniedError` for a model that the key may not use, as `Access.begin` does, `RequestRefused` for what a
    guard refuses, and `MediaError` for a file that it cannot be shown.
    """
    context.grant.check_model(request.backend_model.name)
    call = request.call(context.grant.tags)
    async with context.account(call, large=any(map(is_large, request.texts.values()))) as account:
        guarding = Guarding.of(context, call, request.backend_model.name, request.operation)
        if guarding is not None:
            call = await guarding.call(await request.with_files(call), accepted_texts)
        account.spending = Spending(call)
        yield BegunMedia(request.texts_of(call), call.tags, guarding, account.spending)


async def run_backend(context: RequestContext, request: MediaRequest, make: Callable[[BegunMedia], Awaitable[F]]) -> F:
    """Returns the result of `make` as its guards leave it; raises as `begin_media`. A client that leaves ends it."""
    async with context.state.drains.watch(context.connection, "cancel"):
        async with begin_media(context, request) as begun:
            result = begun.spending.result = await make(begun)
        return result if begun.guarding is None else await guarded_result(begun.guarding, result)


def headers_of(
    context: RequestContext, content_type: str, result: BackendFacts, warnings: Sequence[CallWarning] = ()
) -> dict[str, str]:
    """Returns the headers of a response with what was made."""
    given = {"content-type": content_type, "x-abstractcore-model": f"{result.backend}/{result.model or ''}".rstrip("/")}
    if result.cost is not None:
        given["x-abstractcore-cost"] = f"{result.cost:f}"
    count = len(result.warnings) + len(warnings)
    if count:
        given["x-abstractcore-warnings"] = str(count)
    return context.headers(given)


def timeout_of(context: RequestContext) -> float:
    """Returns the time for a call, in seconds."""
    return context.state.settings.limits.call_seconds
