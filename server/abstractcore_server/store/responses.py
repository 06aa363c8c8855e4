"""`Responses`: stored responses of `/v1/responses`, and the items that each continues from."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from abstractcore.database import reads, writes

from .tables import Store, responses

LONGEST_CHAIN: Final = 1000
"""How many responses one may continue, each the one before it."""

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response as it was sent, and the items of its own input."""

    body: Mapping[str, Any] = field(repr=False)
    input: Sequence[Item] = field(repr=False)
    previous: str | None = None


class Responses:
    """Keeps responses for `seconds`. Each belongs to an owner, and no other one sees it.

    Every method raises `DatabaseError`. `now` returns seconds since the epoch.
    """

    def __init__(self, store: Store, seconds: float, now: Callable[[], float] = time.time) -> None:
        self.database = store
        self._seconds = seconds
        self._now = now

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
        connection.execute(delete(responses).where(_named(owner, id)))
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
        asked = _named(owner, id) & (responses.c.expires > self._now())
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
    connection.execute(delete(responses).where(_named(owner, id) | (responses.c.expires <= now)))
    connection.execute(insert(responses).values(row))


def _named(owner: str, id: str) -> ColumnElement[bool]:
    return (responses.c.owner == owner) & (responses.c.id == id)
