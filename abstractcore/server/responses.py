"""`/v1/responses` and what is stored of it (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotFoundError
from ..schema import WireResponse
from . import calls
from .exchange import Exchange, Reply
from .failures import refused
from .items import page
from .turns import begun

if TYPE_CHECKING:
    from .store.responses import StoredResponse


async def create(exchange: Exchange) -> Reply:
    """Answers with a response, which is stored unless the client says `"store": false`."""
    return await calls.answered(await begun(await calls.read(exchange)))


async def read(exchange: Exchange) -> WireResponse:
    """Answers with a stored response, as it was sent."""
    if exchange.request.query_values().get("stream") == "true":
        raise refused(400, "a response that was not made in the background cannot be streamed again", path="stream")
    return exchange.answer((await _found(exchange)).body)


async def delete(exchange: Exchange) -> WireResponse:
    """Deletes a stored response. Responses that continue it cannot be continued any more."""
    id, owner = exchange.request.parameters["id"], exchange.grant.owner
    if not await exchange.state.stored.run(lambda tables: tables.responses.delete(owner, id)):
        raise _unknown(id)
    return exchange.answer({"id": id, "object": "response", "deleted": True})


async def input_items(exchange: Exchange) -> WireResponse:
    """Answers with a page of the items of a response's own input."""
    return exchange.answer(page((await _found(exchange)).input, exchange.request))


async def cancel(exchange: Exchange) -> WireResponse:
    """Refuses: only responses in the background can be cancelled, and there are none."""
    await _found(exchange)
    raise refused(400, "only responses that are made in the background can be cancelled")


async def _found(exchange: Exchange) -> StoredResponse:
    id, owner = exchange.request.parameters["id"], exchange.grant.owner
    found = await exchange.state.stored.run(lambda tables: tables.responses.find(owner, id))
    if found is None:
        raise _unknown(id)
    return found


def _unknown(id: str) -> NotFoundError:
    return NotFoundError(f"there is no response {id[:100]!r} here: it was not stored, has expired, or was deleted")
