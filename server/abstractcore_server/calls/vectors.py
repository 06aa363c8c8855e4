"""Vectors and rankings, as the APIs of OpenAI, Google, Cohere, Ollama and Jina have them.

A request is read and its result written by the wire format of the client's API; models of any provider answer it. A
group whose members embed by different models is refused: vectors of two models are not comparable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast
from urllib.parse import quote

import abstractcore
from abstractcore.concurrency import is_large
from abstractcore.errors import InvalidInputError
from abstractcore.ports import EMBED, RERANK, Attempt, OperationResult, ServedOperation, ServesOperations
from abstractcore.schema import (
    EmbedInput,
    EmbedItem,
    EmbedReply,
    Message,
    ModelCall,
    ParsedInput,
    RankedIndex,
    Rendered,
    RerankInput,
    RerankReply,
    WireRequest,
    WireResponse,
)

from ..access.guarding import Guarding, accepted_texts
from ..access.settlements import Spending
from ..context import RequestContext
from ..dialects.base import EXTENSION
from ..failures import refusal
from ..media.backends import timeout_of
from ..models import ResolvedModel
from ..records import RECEIPT_HEADER, Receipt
from ..requests import read_object
from .jobs import answer_of_members
from .passthrough import Relay, digest_of

Given: TypeAlias = EmbedInput | RerankInput
_OPERATIONS: Final = frozenset({"batchEmbedContents", "embedContent"})


async def embed(context: RequestContext) -> WireResponse:
    """Embeds texts and images."""
    return await _answer(context, EMBED)


async def rerank(context: RequestContext) -> WireResponse:
    """Ranks documents by a query."""
    return await _answer(context, RERANK)


async def _answer(context: RequestContext, name: str) -> WireResponse:
    """Returns the response of the first model that has one. Raises `InvalidInputError` with the path of what is wrong,
    `RequestRefused` for a group of several embedding models, and errors of the models.
    """
    body = context.entry.receipt.request = await context.body()
    large = is_large(body)
    served = _served(context, name)
    wire, data, parsed = await context.off_loop(large, _read, context, served, body)
    resolved = context.state.llms.find(parsed.input.model, context.dialect.vendors)
    context.grant.check_model(*resolved.names)
    if name == EMBED:
        _check_group(resolved)

    async def call_member(llm: abstractcore.LLM) -> WireResponse:
        return await _VectorRequest(context, resolved, llm, name, data, parsed).response(served, wire)

    async with context.state.drains.watch(context.connection, resolved.on_disconnect):
        return await answer_of_members(context, resolved, call_member)


def _served(context: RequestContext, name: str) -> ServedOperation[Any, Any]:
    served = cast("ServesOperations", context.format).served_operations
    return served[name]


def _read(
    context: RequestContext, served: ServedOperation[Any, Any], body: bytes
) -> tuple[WireRequest, Mapping[str, Any], ParsedInput[Given]]:
    data = read_object(body, context.request.headers)
    if EXTENSION in data:
        raise InvalidInputError("it has no effect on vectors and rankings: leave it out", path=EXTENSION)
    request = context.request
    target = request.target
    operation = request.path.rpartition(":")[2]
    if "model" in request.parameters and operation in _OPERATIONS:  # a name with a provider has a slash
        model = request.parameters["model"].removeprefix("models/")
        target = f"/models/{quote(model, safe='')}:{operation}"
    wire = WireRequest(target, {}, body)
    return wire, data, served.parse(wire)


def _check_group(resolved: ResolvedModel) -> None:
    models = sorted({llm.model for llm in resolved.llms})
    if len(models) > 1:
        message = f"the models of {resolved.names[0]!r} have vectors that cannot be compared: {', '.join(models)}"
        hint = "Name one of them, or a group of the same model at several providers."
        raise refusal(400, f"{message}. {hint}", path="model")


class _VectorRequest:
    """A request to one model."""

    def __init__(
        self,
        context: RequestContext,
        resolved: ResolvedModel,
        llm: abstractcore.LLM,
        name: str,
        data: Mapping[str, Any],
        parsed: ParsedInput[Given],
    ) -> None:
        self.context = context
        self.resolved = resolved
        self.llm = llm
        self.name = name
        self.data = data
        self.parsed = parsed

    async def response(self, served: ServedOperation[Any, Any], wire: WireRequest) -> WireResponse:
        """Returns the response; the call is let in, shown to guards, and settled."""
        context, llm, given = self.context, self.llm, self.parsed.input
        receipt, name = context.entry.receipt, f"{llm.provider}/{llm.model}"
        call = ModelCall(llm.model, _messages(given), llm.provider, tags=context.grant.tags)
        large = is_large(receipt.request)
        async with context.account(call, large=large) as account:
            guarding = Guarding.of(context, call, self.resolved.names[0], self.name)
            if guarding is not None and guarding.of_calls:
                call = await guarding.call(call, accepted_texts)
                given = _with_texts(given, call.messages)
            spending = account.spending = Spending(call, llm)
            relay = RequestRelays(receipt, name, self.data, self.name)
            relay.begin()
            reply, result, warnings = await self._made(given, call)
            spending.result = result
        rendered = await context.off_loop(large, _rendered, served, reply, wire)
        count = len(self.parsed.warnings) + len(rendered.warnings) + warnings
        count += 0 if guarding is None else len(guarding.warnings)
        headers = {"content-type": "application/json", "x-abstractcore-model": name}
        if result.cost is not None:
            headers["x-abstractcore-cost"] = f"{result.cost:f}"
        if count:
            headers["x-abstractcore-warnings"] = str(count)
        headers[RECEIPT_HEADER] = await context.off_loop(large, _receipt, receipt, rendered.body)
        return WireResponse(200, context.headers(headers), rendered.body)

    async def _made(self, given: Given, call: ModelCall) -> tuple[EmbedReply | RerankReply, OperationResult[Any], int]:
        """Returns the reply, what it cost, and how many warnings it has.

        Clients whose API has no purposes get vectors of documents from a model that needs one, with a warning.
        """
        options: Any = {
            "timeout": timeout_of(self.context),
            "tags": call.tags,
            "provider_options": given.provider_options,
        }
        if isinstance(given, EmbedInput):
            inputs = [item if isinstance(item, str) else [*item] for item in given.items]
            rules = self.llm.profile.embedding
            needs_purpose = given.purpose is None and rules is not None and rules.requires_purpose
            found = await self.llm.aembed(
                inputs,
                dimensions=given.dimensions,
                purpose="document" if needs_purpose else given.purpose,
                normalize=False,
                truncate=given.truncate,
                **options,
            )
            reply = EmbedReply(found.data, found.usage, given.model, found.tokens, found.truncated)
            return reply, _result(found), len(found.warnings) + needs_purpose
        documents: Sequence[str] = given.documents
        ranked = await self.llm.arerank(given.query, documents, top=given.top, truncate=given.truncate, **options)
        results = tuple(RankedIndex(each.index, each.score) for each in ranked)
        return RerankReply(results, ranked.usage, given.model), _result(ranked), len(ranked.warnings)


def _result(found: Any) -> OperationResult[Any]:
    """Returns what was used, as accounts settle it."""
    return OperationResult(
        None,
        found.usage,
        cost=found.cost,
        cost_source=found.cost_source,
        cost_reason=found.cost_reason,
        price_rows=found.price_rows,
        estimated_cost=found.estimated_cost,
        cost_sums=found.cost_sums,
    )


def _messages(given: Given) -> tuple[Message, ...]:
    """Returns a message for each text or item, as limits count them and guards see them."""
    if isinstance(given, RerankInput):
        return tuple(map(Message.user, filter(None, (given.query, *given.documents))))
    items = (Message.user(item) if isinstance(item, str) else Message("user", item) for item in given.items if item)
    return tuple(items) or (Message.user("embed"),)


def _with_texts(given: Given, messages: Sequence[Message]) -> Given:
    """Returns the input with the texts that guards have left."""
    left = iter(messages)
    if isinstance(given, RerankInput):
        query, *documents = [next(left).text if text else text for text in (given.query, *given.documents)]
        return given.with_(query=query, documents=tuple(documents))
    items: list[EmbedItem] = []
    for item in given.items:
        message = next(left) if item else None
        if message is None:
            items.append(item)
        else:
            items.append(message.text if isinstance(item, str) else cast("EmbedItem", message.parts))
    return given.with_(items=tuple(items))


def _rendered(served: ServedOperation[Any, Any], reply: Any, wire: WireRequest) -> Rendered:
    return served.render(reply, wire)


def _receipt(receipt: Receipt, reply: bytes) -> str:
    return receipt.header(digest_of(reply))


class RequestRelays(Relay):
    """A relay of its own for each of several requests at once, in the receipt of what they are all for."""

    def __init__(self, receipt: Receipt, model: str, data: Mapping[str, Any], operation: str) -> None:
        super().__init__(receipt.request, data, operation=operation)
        self._receipt = receipt
        self._model = model
        self._given = data
        self._relays: list[tuple[object, Relay]] = []

    def of_attempt(self, attempt: Attempt) -> Relay:
        """Returns the relay of the request that an attempt is of."""
        for context, relay in self._relays:
            if context is attempt.context:
                return relay
        relay = Relay(self._receipt.request, self._given, operation=self.operation)
        self._relays.append((attempt.context, relay))
        self._receipt.add(self._model, relay)
        return relay
