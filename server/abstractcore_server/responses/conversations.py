"""`/v1/conversations` (https://platform.openai.com/docs/api-reference/conversations)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from abstractcore.concurrency import is_large
from abstractcore.errors import InvalidInputError, NotFoundError
from abstractcore.schema import WireResponse

from ..context import RequestContext
from ..requests import read_object
from ..stored_state import StoredTables
from .items import Item, new_id, page, stored_items

if TYPE_CHECKING:
    from ..store.conversations import StoredConversation

T = TypeVar("T")
_MOST_AT_ONCE: Final = 20
_MOST_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512


async def create(context: RequestContext) -> WireResponse:
    """Creates a conversation, optionally with items."""
    data = await _object(context)
    metadata, items = _metadata(data), _items(data)
    id, owner = new_id("conv_"), context.grant.owner
    made = await context.state.stored.run(lambda tables: tables.conversations.create(owner, id, metadata, items))
    return context.answer(_shown(made))


async def read(context: RequestContext) -> WireResponse:
    """Returns a conversation without its items."""
    id, owner = _id(context), context.grant.owner
    return context.answer(_shown(await _of(context, lambda tables: tables.conversations.find(owner, id))))


async def change(context: RequestContext) -> WireResponse:
    """Replaces the metadata of a conversation."""
    metadata = _metadata(await _object(context))
    id, owner = _id(context), context.grant.owner
    changed = await _of(context, lambda tables: tables.conversations.change(owner, id, metadata))
    return context.answer(_shown(changed))


async def delete(context: RequestContext) -> WireResponse:
    """Deletes a conversation and its items."""
    id, owner = _id(context), context.grant.owner
    await _of(context, lambda tables: tables.conversations.delete(owner, id) or None)
    return context.answer({"id": id, "object": "conversation.deleted", "deleted": True})


async def items(context: RequestContext) -> WireResponse:
    """Lists the items of a conversation."""
    return context.answer(page(await _all_items(context), context.request))


async def add_items(context: RequestContext) -> WireResponse:
    """Adds items to a conversation; answers with them."""
    data = await _object(context)
    if "items" not in data:
        raise InvalidInputError("expected a list of items, got nothing", path="items")
    added = _items(data)
    id, owner = _id(context), context.grant.owner
    await _of(context, lambda tables: tables.conversations.append(owner, id, added) or None)
    return context.answer({**_ends(added), "object": "list", "data": added, "has_more": False})


async def item(context: RequestContext) -> WireResponse:
    """Returns an item of a conversation."""
    wanted = context.request.parameters["item"]
    for found in await _all_items(context):
        if found["id"] == wanted:
            return context.answer(found)
    raise NotFoundError(f"the conversation has no item {wanted[:100]!r}")


async def delete_item(context: RequestContext) -> WireResponse:
    """Deletes an item of a conversation; answers with the conversation."""
    id, owner, removed = _id(context), context.grant.owner, context.request.parameters["item"]
    left = await _of(context, lambda tables: tables.conversations.delete_item(owner, id, removed))
    return context.answer(_shown(left))


async def _all_items(context: RequestContext) -> Sequence[Item]:
    id, owner = _id(context), context.grant.owner
    return await _of(context, lambda tables: tables.conversations.items(owner, id))


async def _of(context: RequestContext, work: Callable[[StoredTables], T | None]) -> T:
    """Returns what `work` does with a conversation; raises `NotFoundError` if that is None."""
    found = await context.state.stored.run(work)
    if found is None:
        raise NotFoundError(f"there is no such conversation or item here: {context.request.path[:200]}")
    return found


async def _object(context: RequestContext) -> Mapping[str, Any]:
    body = await context.body()
    if not body.strip():
        return {}
    return await context.off_loop(is_large(body), read_object, body, context.request.headers)


def _id(context: RequestContext) -> str:
    return context.request.parameters["id"]


def _shown(conversation: StoredConversation) -> dict[str, Any]:
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
