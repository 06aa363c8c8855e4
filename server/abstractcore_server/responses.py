"""`/v1/responses` and what is stored of it (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import InvalidInputError, NotFoundError
from abstractcore.schema import WireResponse

from . import calls
from .background_response import made_in_background
from .exchange import Exchange, Reply
from .failures import refused
from .followed import FollowedResponse
from .items import page
from .tools.jobs import with_requested_tools
from .turns import found_response, turn_of
from .warm_up import WarmUp

if TYPE_CHECKING:
    from .store.responses import StoredResponse


async def create(exchange: Exchange) -> Reply:
    """Creates a response, which is stored unless the request has `"store": false`."""
    job = await calls.read(exchange)
    turn = await turn_of(job)
    if turn is None:
        job = await with_requested_tools(job)
    else:
        turn = replace(turn, job=await with_requested_tools(turn.job))
        if turn.in_background:
            return await made_in_background(turn)
        job = turn.kept_job
    return await calls.answered(job) if exchange.connection.generates else WarmUp(job)


async def read(exchange: Exchange) -> Reply:
    """Returns a stored response, or the events of one in the background.

    Of one that is still being made, they are sent as they come.
    """
    query = exchange.request.query_values()
    found = await _found(exchange)
    after = _number(query.get("starting_after", "-1"))
    if query.get("stream") != "true":
        return exchange.answer(found.body)
    if not found.body.get("background"):
        raise refused(400, "a response that was not made in the background cannot be streamed again", path="stream")
    key = _key(exchange)
    if await exchange.state.stored.run(lambda tables: tables.background.events(key, after)) is None:
        raise refused(400, "the events of this response are not kept any more: leave out stream", path="stream")
    return FollowedResponse(exchange, key, after)


async def delete(exchange: Exchange) -> WireResponse:
    """Deletes a stored response. Responses that continue it can no longer be continued."""
    key = _key(exchange)
    if not await exchange.state.stored.run(lambda tables: tables.responses.delete(*key)):
        raise _unknown(key[1])
    exchange.state.backgrounds.cancel(key)
    return exchange.answer({"id": key[1], "object": "response", "deleted": True})


async def input_items(exchange: Exchange) -> WireResponse:
    """Lists the input items of a response."""
    return exchange.answer(page((await _found(exchange)).input, exchange.request))


async def cancel(exchange: Exchange) -> WireResponse:
    """Cancels a response that is made in the background; answers with it, also if it has ended before."""
    if not (await _found(exchange)).body.get("background"):
        raise refused(400, "only responses that are made in the background can be cancelled")
    key, changes = _key(exchange), {"status": "cancelled"}
    # Clients know no event of a cancelled response: this one ends their streams, and its response has the status.
    type = "response.incomplete"
    await exchange.state.stored.run(lambda tables: tables.background.end(key, changes, type))
    exchange.state.backgrounds.cancel(key)
    return exchange.answer((await _found(exchange)).body)


async def _found(exchange: Exchange) -> StoredResponse:
    id = exchange.request.parameters["id"]
    found = await found_response(exchange, id)
    if found is None:
        raise _unknown(id)
    return found


def _key(exchange: Exchange) -> tuple[str, str]:
    return exchange.grant.owner, exchange.request.parameters["id"]


def _number(text: str) -> int:
    """Returns the number of an event; raises `InvalidInputError` for anything else."""
    if text == "-1" or (text.isdecimal() and len(text) < 12):
        return int(text)
    raise InvalidInputError(f"expected the number of an event, got {text[:40]!r}", path="starting_after")


def _unknown(id: str) -> NotFoundError:
    return NotFoundError(f"there is no response {id[:100]!r} here: it was not stored, has expired, or was deleted")
