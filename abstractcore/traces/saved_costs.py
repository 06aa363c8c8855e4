"""What the answers of caches saved, found in the details of records that were stored before it had columns."""

from __future__ import annotations

import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, update

from ..database import Statement
from .column_values import picodollars
from .contents import inflated
from .spending import SUMMED, KnownSums, SpendChanges
from .tables import records

_CHUNK: Final = 1_000


def add_saved_costs(connection: Connection) -> None:
    """Sets the new column of the answers of caches, and adds what they saved to the sums."""
    known = KnownSums()
    last = -1
    while rows := _FIND.all(connection, last=last):
        last = rows[-1].id
        found = [(row, saved) for row in rows if (saved := _saved_cost(row))]
        changes = SpendChanges(known)
        for row, saved in found:
            values = row._asdict()
            changes.take_out(SimpleNamespace(**values))
            changes.add(SimpleNamespace(**{**values, "saved_cost": saved}))
        changes.write(connection)
        _SET.many(connection, [{"wanted": row.id, "saved": saved} for row, saved in found])


def _saved_cost(row: Any) -> int | None:
    """Returns what the answer of a cache saved, in picodollars. Its exact value stays in the details."""
    text = json.loads(inflated(bytes(row.detail))).get("saved_cost")
    return None if text is None else picodollars(Decimal(text), "saved_cost", {})


_FIND: Final = Statement(
    select(*(records.c[name] for name in SUMMED), records.c.detail)
    .where(records.c.kind == "call", records.c.cost == 0, records.c.id > bindparam("last"))
    .order_by(records.c.id)
    .limit(_CHUNK)
)
"""Answers of caches cost nothing."""
_SET: Final = Statement(
    update(records).where(records.c.id == bindparam("wanted")).values(saved_cost=bindparam("saved"))
)
