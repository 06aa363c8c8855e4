"""`BackgroundResponses`: responses that are made without their clients, and their events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, select, update

from abstractcore.database import reads, writes

from .responses import Item, StoredResponse, append_items, put
from .tables import ExpiringRows, background_responses, response_events, responses

ALIVE_SECONDS: Final = 30.0
"""After how long without a sign of its process a response has failed."""
EVENT_SECONDS: Final = 3600.0
"""How long the events of a response are kept after its end."""
_MOST_EVENTS: Final = 500
"""How many events are read at once."""

Event = Mapping[str, Any]
ResponseKey = tuple[str, str]
"""The owner and the id of a response."""

ABANDONED: Final[Mapping[str, Any]] = {
    "status": "failed",
    "error": {
        "code": "server_error",
        "message": "the server ended before the response was complete: send the request again",
    },
}
"""What changes in a response whose process has ended."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events of a response, in their order, and whether it had ended when they were read."""

    events: Sequence[Event] = field(repr=False)
    has_ended: bool


class BackgroundResponses(ExpiringRows):
    """Keeps responses from their beginning on, for `seconds`. Each belongs to an owner, and no other one sees it.

    A response ends once: whoever ends it first, its process or one that cancels it, decides how. Every method raises
    `DatabaseError`.
    """

    @writes
    def begin(
        self, connection: Connection, owner: str, response: StoredResponse, process: str, types: Sequence[str]
    ) -> None:
        """Keeps a response that `process` begins to make, with events of `types` that hold it."""
        now, body = self._now(), response.body
        row = {
            "owner": owner,
            "id": body["id"],
            "process": process,
            "alive_until": now + ALIVE_SECONDS,
            "events": 0,
        }
        connection.execute(delete(background_responses).where(background_responses.c.ended <= now - EVENT_SECONDS))
        put(connection, owner, response, now, self._seconds)
        connection.execute(insert(background_responses).values(row))
        _append(connection, (owner, body["id"]), 0, [{"type": type, "response": body} for type in types])

    @writes
    def append(self, connection: Connection, key: ResponseKey, events: Sequence[Event]) -> bool:
        """Adds events, and gives them their numbers; returns False, and adds none, if the response has ended or was
        deleted.
        """
        count = _running(connection, key)
        if count is not None:
            _append(connection, key, count, events)
        return count is not None

    @writes
    def change(self, connection: Connection, key: ResponseKey, changes: Mapping[str, Any], type: str) -> bool:
        """Changes fields of a response, with an event of `type` that holds it.

        Returns False, and changes nothing, if it has ended or was deleted.
        """
        return self._change(connection, key, changes, type, ends=False)

    @writes
    def end(
        self,
        connection: Connection,
        key: ResponseKey,
        changes: Mapping[str, Any],
        type: str,
        conversation: str | None = None,
        items: Sequence[Item] = (),
    ) -> bool:
        """Ends a response as `change` changes one, and adds `items` to a conversation: both, or neither."""
        now = self._now()
        has_ended = self._change(connection, key, changes, type, ends=True)
        if has_ended and conversation is not None:
            append_items(connection, (key[0], conversation), items, now, self._seconds)
        return has_ended

    @writes
    def keep_alive(self, connection: Connection, keys: Collection[ResponseKey]) -> set[ResponseKey]:
        """Records that responses are still being made; returns those of them that have not ended."""
        table = background_responses.c
        made = table.id.in_([id for _, id in keys]) & table.ended.is_(None)
        alive = update(background_responses).where(made)
        connection.execute(alive.values(alive_until=self._now() + ALIVE_SECONDS))
        return _keys(connection, made)

    def free(self, processes: Sequence[str]) -> None:
        """Lets the responses of processes that have ended fail."""
        table = background_responses.c
        self._abandon(table.process.in_(processes) & table.ended.is_(None))

    def free_expired(self, key: ResponseKey) -> None:
        """Lets a response fail if its process has given no sign for `ALIVE_SECONDS`."""
        table = background_responses.c
        is_late = _of_response(background_responses, key) & table.ended.is_(None) & (table.alive_until <= self._now())
        if self.database.read(lambda connection: _keys(connection, is_late)):
            self._abandon(is_late)

    @reads
    def events(self, connection: Connection, key: ResponseKey, after: int) -> EventPage | None:
        """Returns the first events of a response whose numbers are above `after`; None if there are none any more."""
        asked = select(background_responses.c.ended).where(_of_response(background_responses, key))
        row = connection.execute(asked).first()
        if row is None:
            return None
        later = _of_response(response_events, key) & (response_events.c.number > after)
        found = select(response_events.c.event).where(later).order_by(response_events.c.number).limit(_MOST_EVENTS)
        events = connection.execute(found).scalars().all()
        return EventPage(events, row.ended is not None and len(events) < _MOST_EVENTS)

    @writes
    def _abandon(self, connection: Connection, which: ColumnElement[bool]) -> None:
        for key in _keys(connection, which):
            self._change(connection, key, ABANDONED, "response.failed", ends=True)

    def _change(
        self, connection: Connection, key: ResponseKey, changes: Mapping[str, Any], type: str, *, ends: bool
    ) -> bool:
        named = _of_response(responses, key)
        # Locked in the order in which a deletion locks: the response, then what belongs to it.
        before = connection.execute(select(responses.c.body).where(named).with_for_update()).scalar()
        count = _running(connection, key)
        if before is None or count is None:
            return False
        body = {**before, **changes}
        connection.execute(update(responses).where(named).values(body=body))
        _append(connection, key, count, [{"type": type, "response": body}])
        if ends:
            ended = update(background_responses).where(_of_response(background_responses, key))
            connection.execute(ended.values(ended=self._now()))
        return True


def _running(connection: Connection, key: ResponseKey) -> int | None:
    """Returns the number of events of a response, which is locked; None if it has ended or was deleted."""
    table = background_responses.c
    running = _of_response(background_responses, key) & table.ended.is_(None)
    return connection.execute(select(table.events).where(running).with_for_update()).scalar()


def _append(connection: Connection, key: ResponseKey, begin: int, events: Sequence[Event]) -> None:
    owner, id = key
    rows = [
        {
            "owner": owner,
            "id": id,
            "number": number,
            "event": {"type": event["type"], "sequence_number": number, **_without_number(event)},
        }
        for number, event in enumerate(events, begin)
    ]
    if rows:
        connection.execute(insert(response_events), rows)
        counted = update(background_responses).where(_of_response(background_responses, key))
        connection.execute(counted.values(events=begin + len(rows)))


def _without_number(event: Event) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in ("type", "sequence_number")}


def _keys(connection: Connection, which: ColumnElement[bool]) -> set[ResponseKey]:
    table = background_responses.c
    return {(owner, id) for owner, id in connection.execute(select(table.owner, table.id).where(which))}


def _of_response(table: Table, key: ResponseKey) -> ColumnElement[bool]:
    owner, id = key
    return (table.c.owner == owner) & (table.c.id == id)
