"""`Responses`: stored responses, and the items that each continues from; `Conversations`: lists of items that clients
keep on the server, and responses continue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from abstractcore.database import reads, writes

from .tables import ExpiringRows, conversation_items, conversations, responses

LONGEST_CHAIN: Final = 1000
"""How many responses one may continue, each the one before it."""

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response as it was sent, and the items of its own input."""

    body: Mapping[str, Any] = field(repr=False)
    input: Sequence[Item] = field(repr=False)
    previous: str | None = None


class Responses(ExpiringRows):
    """Keeps responses for `seconds`. Each belongs to an owner, and no other one sees it.

    Every method raises `DatabaseError`.
    """

    @writes
    def add(self, connection: Connection, owner: str, response: StoredResponse) -> None:
        """Keeps a response instead of an earlier one with its id, and removes those that have expired."""
        put(connection, owner, response, self._now(), self._seconds)

    @reads
    def find(self, connection: Connection, owner: str, id: str) -> StoredResponse | None:
        """Returns a response; None if the owner has none with this id."""
        return self._read(connection, owner, id)

    @writes
    def delete(self, connection: Connection, owner: str, id: str) -> bool:
        """Removes a response; returns whether there was one."""
        if self._read(connection, owner, id) is None:
            return False
        connection.execute(delete(responses).where(_of_response(owner, id)))
        return True

    @reads
    def context(self, connection: Connection, owner: str, id: str) -> list[Item] | None:
        """Returns the items that a response which continues this one begins with: inputs and outputs of all before it.

        None if this response, or one before it, is not there any more, and for more than `LONGEST_CHAIN`.
        """
        chain: list[StoredResponse] = []
        following: str | None = id
        while following is not None:
            found = self._read(connection, owner, following)
            if found is None or len(chain) == LONGEST_CHAIN:
                return None
            chain.append(found)
            following = found.previous
        return [item for each in reversed(chain) for item in (*each.input, *each.body["output"])]

    def _read(self, connection: Connection, owner: str, id: str) -> StoredResponse | None:
        asked = _of_response(owner, id) & (responses.c.expires > self._now())
        row = connection.execute(select(responses).where(asked)).first()
        return None if row is None else StoredResponse(row.body, row.input, row.previous)


def put(connection: Connection, owner: str, response: StoredResponse, now: float, seconds: float) -> None:
    """Writes a response, which expires after `seconds`, instead of an earlier one and of those that have expired."""
    id = str(response.body["id"])
    row = {
        "id": id,
        "owner": owner,
        "created": now,
        "expires": now + seconds,
        "previous": response.previous,
        "body": dict(response.body),
        "input": list(response.input),
    }
    connection.execute(delete(responses).where(_of_response(owner, id) | (responses.c.expires <= now)))
    connection.execute(insert(responses).values(row))


def _of_response(owner: str, id: str) -> ColumnElement[bool]:
    return (responses.c.owner == owner) & (responses.c.id == id)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation without its items. `created` is in seconds since the epoch."""

    id: str
    created: float
    metadata: Mapping[str, str] = field(repr=False)


class Conversations(ExpiringRows):
    """Keeps conversations for `seconds` after their last change. Each belongs to an owner, and no other one sees it.

    Every method raises `DatabaseError`.
    """

    @writes
    def create(
        self, connection: Connection, owner: str, id: str, metadata: Mapping[str, str], items: Sequence[Item] = ()
    ) -> StoredConversation:
        """Makes a conversation, and removes those that have expired. Each item has its id."""
        now = self._now()
        row = {"id": id, "owner": owner, "created": now, "expires": now + self._seconds, "metadata": dict(metadata)}
        connection.execute(delete(conversations).where(conversations.c.expires <= now))
        connection.execute(insert(conversations).values(row))
        _append(connection, id, items)
        return StoredConversation(id, now, metadata)

    @reads
    def find(self, connection: Connection, owner: str, id: str) -> StoredConversation | None:
        """Returns a conversation; None if the owner has none with this id."""
        return _read(connection, owner, id, self._now())

    @writes
    def change(
        self, connection: Connection, owner: str, id: str, metadata: Mapping[str, str]
    ) -> StoredConversation | None:
        """Replaces the metadata of a conversation; returns None if there is none."""
        found = _read(connection, owner, id, self._now())
        if found is None:
            return None
        changed = update(conversations).where(conversations.c.id == id)
        connection.execute(changed.values(metadata=dict(metadata), expires=self._now() + self._seconds))
        return StoredConversation(id, found.created, metadata)

    @writes
    def delete(self, connection: Connection, owner: str, id: str) -> bool:
        """Removes a conversation with its items; returns whether there was one."""
        if _read(connection, owner, id, self._now()) is None:
            return False
        connection.execute(delete(conversations).where(conversations.c.id == id))
        return True

    @reads
    def items(self, connection: Connection, owner: str, id: str) -> list[Item] | None:
        """Returns the items of a conversation in their order; None if there is no such conversation."""
        if _read(connection, owner, id, self._now()) is None:
            return None
        asked = select(conversation_items.c.item).where(conversation_items.c.conversation == id)
        return list(connection.execute(asked.order_by(conversation_items.c.position)).scalars())

    @writes
    def append(self, connection: Connection, owner: str, id: str, items: Sequence[Item]) -> bool:
        """Adds items at the end; returns whether there is such a conversation. Each item has its id."""
        return append_items(connection, (owner, id), items, self._now(), self._seconds)

    @writes
    def delete_item(self, connection: Connection, owner: str, id: str, item: str) -> StoredConversation | None:
        """Removes an item; returns its conversation, None if there is no such item."""
        found = _read(connection, owner, id, self._now())
        named = (conversation_items.c.conversation == id) & (conversation_items.c.id == item)
        if found is None or connection.execute(delete(conversation_items).where(named)).rowcount == 0:
            return None
        return found


def append_items(
    connection: Connection, key: tuple[str, str], items: Sequence[Item], now: float, seconds: float
) -> bool:
    """Adds items to the conversation with an owner and an id, which then expires after `seconds`; returns whether there
    is one.
    """
    owner, id = key
    connection.execute(select(conversations.c.id).where(conversations.c.id == id).with_for_update())
    if _read(connection, owner, id, now) is None:
        return False
    _append(connection, id, items)
    lasting = update(conversations).where(conversations.c.id == id)
    connection.execute(lasting.values(expires=now + seconds))
    return True


def _read(connection: Connection, owner: str, id: str, now: float) -> StoredConversation | None:
    table = conversations.c
    asked = (table.id == id) & (table.owner == owner) & (table.expires > now)
    row: Any = connection.execute(select(conversations).where(asked)).first()
    return None if row is None else StoredConversation(row.id, row.created, row.metadata)


def _append(connection: Connection, id: str, items: Sequence[Item]) -> None:
    last = select(func.coalesce(func.max(conversation_items.c.position), -1))
    begin = connection.execute(last.where(conversation_items.c.conversation == id)).scalar_one() + 1
    rows = [
        {"conversation": id, "position": position, "id": item["id"], "item": dict(item)}
        for position, item in enumerate(items, begin)
    ]
    if rows:
        connection.execute(insert(conversation_items), rows)
