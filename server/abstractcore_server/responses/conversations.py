"""`/v1/conversations` (https://platform.openai.com/docs/api-reference/conversations)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from abstractcore.concurrency import is_large
from abstractcore.errors import InvalidInputError, NotFoundError
from abstractcore.schema import WireResponse

from ..context import Exchange
from ..requests import read_object
from ..stored_state import StoredTables
from .items import Item, new_id, page, stored_items

if TYPE_CHECKING:
    from ..store.conversations import Conversation

T = TypeVar("T")
_MOST_AT_ONCE: Final = 20
_MOST_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512


async def create(exchange: Exchange) -> WireResponse:
    """Creates a conversation, optionally with items."""
    data = await _object(exchange)
    metadata, items = _metadata(data), _items(data)
    id, owner = new_id("conv_"), exchange.grant.owner
    made = await exchange.state.stored.run(lambda tables: tables.conversations.create(owner, id, metadata, items))
    return exchange.answer(_shown(made))


async def read(exchange: Exchange) -> WireResponse:
    """Returns a conversation without its items."""
    id, owner = _id(exchange), exchange.grant.owner
    return exchange.answer(_shown(await _of(exchange, lambda tables: tables.conversations.find(owner, id))))


async def change(exchange: Exchange) -> WireResponse:
    """Replaces the metadata of a conversation."""
    metadata = _metadata(await _object(exchange))
    id, owner = _id(exchange), exchange.grant.owner
    changed = await _of(exchange, lambda tables: tables.conversations.change(owner, id, metadata))
    return exchange.answer(_shown(changed))


async def delete(exchange: Exchange) -> WireResponse:
    """Deletes a conversation and its items."""
    id, owner = _id(exchange), exchange.grant.owner
    await _of(exchange, lambda tables: tables.conversations.delete(owner, id) or None)
    return exchange.answer({"id": id, "object": "conversation.deleted", "deleted": True})


async def items(exchange: Exchange) -> WireResponse:
    """Lists the items of a conversation."""
    return exchange.answer(page(await _all_items(exchange), exchange.request))


async def add_items(exchange: Exchange) -> WireResponse:
    """Adds items to a conversation; answers with them."""
    data = await _object(exchange)
    if "items" not in data:
        raise InvalidInputError("expected a list of items, got nothing", path="items")
    added = _items(data)
    id, owner = _id(exchange), exchange.grant.owner
    await _of(exchange, lambda tables: tables.conversations.append(owner, id, added) or None)
    return exchange.answer({**_ends(added), "object": "list", "data": added, "has_more": False})


async def item(exchange: Exchange) -> WireResponse:
    """Returns an item of a conversation."""
    wanted = exchange.request.parameters["item"]
    for found in await _all_items(exchange):
        if found["id"] == wanted:
            return exchange.answer(found)
    raise NotFoundError(f"the conversation has no item {wanted[:100]!r}")


async def delete_item(exchange: Exchange) -> WireResponse:
    """Deletes an item of a conversation; answers with the conversation."""
    id, owner, removed = _id(exchange), exchange.grant.owner, exchange.request.parameters["item"]
    left = await _of(exchange, lambda tables: tables.conversations.delete_item(owner, id, removed))
    return exchange.answer(_shown(left))


async def _all_items(exchange: Exchange) -> Sequence[Item]:
    id, owner = _id(exchange), exchange.grant.owner
    return await _of(exchange, lambda tables: tables.conversations.items(owner, id))


async def _of(exchange: Exchange, work: Callable[[StoredTables], T | None]) -> T:
    """Returns what `work` does with a conversation; raises `NotFoundError` if that is None."""
    found = await exchange.state.stored.run(work)
    if found is None:
        raise NotFoundError(f"there is no such conversation or item here: {exchange.request.path[:200]}")
    return found


async def _object(exchange: Exchange) -> Mapping[str, Any]:
    body = await exchange.body()
    if not body.strip():
        return {}
    return await exchange.off_loop(is_large(body), read_object, body, exchange.request.headers)


def _id(exchange: Exchange) -> str:
    return exchange.request.parameters["id"]


def _shown(conversation: Conversation) -> dict[str, Any]:
    created = int(conversation.created)
    return {"id": conversation.id, "object": "conversation", "created_at": created, "metadata": conversation.metadata}


def _ends(found: Sequence[Item]) -> dict[str, Any]:
    return {"first_id": found[0]["id"] if found else None, "last_id": found[-1]["id"] if found else None}


def _items(data: Mapping[str, Any]) -> list[Item]:
    given = data.get("items")
    if given is None:
        return []
    if not isinstance(given, list):
        raise InvalidInputError(f"expected a list of items, got {type(given).__name__}", path="items")
    found = stored_items(cast("list[Any]", given), "items")
    if len(found) > _MOST_AT_ONCE:
        raise InvalidInputError(f"at most {_MOST_AT_ONCE} items can be added at once, got {len(found)}", path="items")
    return found


def _metadata(data: Mapping[str, Any]) -> dict[str, str]:
    given = data.get("metadata")
    if given is None:
        return {}
    pairs = cast("Mapping[str, Any]", given) if isinstance(given, dict) else None
    if pairs is None or not all(isinstance(value, str) for value in pairs.values()):
        raise InvalidInputError("expected an object of texts", path="metadata")
    if len(pairs) > _MOST_PAIRS or any(
        len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE for key, value in pairs.items()
    ):
        most = f"{_MOST_PAIRS} texts of {_LONGEST_VALUE} characters, with keys of {_LONGEST_KEY}"
        raise InvalidInputError(f"expected at most {most}", path="metadata")
    return dict(pairs)
