"""Values of the columns of records: amounts, digests, times, tags, outcomes; and what they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Context, Decimal
from functools import cache
from typing import Any, Final, Literal

from ..errors import InvalidInputError
from ..schema import CallRecord, TraceRecord
from ..schema.base_error import shown
from ..schema.codec import json_of

PICODOLLARS: Final = Decimal(10) ** 12
_EXACT: Final = Context(prec=60, traps=[])
"""Amounts do not depend on the program's decimal context."""
_LARGEST: Final = 2**63 - 1
_LAST_SECOND: Final = 253_402_300_799.0
SUCCEEDED: Final = ("done", "discarded")
_DISCARDED: Final = SUCCEEDED[1]


def outcome_in_sums(record: TraceRecord) -> str:
    """Returns the outcome as a column has it: an answer that was asked for again has one of its own."""
    return _DISCARDED if getattr(record, "discarded", False) and record.outcome == "done" else record.outcome


def outcome_of(row: Any) -> str:
    """Returns the outcome of the record of a row."""
    return "done" if row.outcome == _DISCARDED else row.outcome


def searchable_tags(tags: Mapping[str, str], detail: dict[str, bytes]) -> str:
    """Returns tags as JSON without zero bytes, which PostgreSQL cannot search; with them they are in the details."""
    text = json.dumps(dict(tags), ensure_ascii=False)
    if "\\u0000" not in text:
        return text
    detail["tags"] = text.encode()
    return json.dumps({searchable(name): searchable(value) for name, value in tags.items()}, ensure_ascii=False)


def searchable(text: str) -> str:
    """Returns a text as columns have it: PostgreSQL has no zero bytes."""
    return text.replace("\x00", "")


def searched(value: object, path: str) -> str:
    """Returns a text that is looked for as columns have it; raises `InvalidInputError` for what none can have."""
    if not isinstance(value, str):
        raise InvalidInputError(f"expected a text, got {shown(value)}", path=path)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(f"{shown(value)} is not valid Unicode text", path=path) from None
    return searchable(value)


def tags_of(row: Any) -> dict[str, str]:
    """Returns the tags of a row."""
    return json.loads(row.tags) if row.tags else {}


def dollars(picodollars: int) -> Decimal:
    """Returns a stored amount in US dollars, exact, and printed without an exponent."""
    amount = _EXACT.divide(Decimal(int(picodollars)), PICODOLLARS).normalize(_EXACT)
    return Decimal(f"{amount:f}")


def picodollars(cost: Decimal | None, name: str, detail: dict[str, bytes]) -> int | None:
    """Returns a cost as an integer of picodollars; the exact value of one that is rounded is stored in the details."""
    if cost is None:
        return None
    amount = _EXACT.multiply(cost, PICODOLLARS)
    integer = _integer(amount)
    if integer != amount:
        detail[name] = f'"{cost:f}"'.encode()
    return integer


def retried(record: TraceRecord, name: Literal["cost", "estimated_cost"]) -> int | None:
    """Returns the part of a cost that was spent on attempts which others followed; None if there is none."""
    whole = getattr(record, name, None)
    if not isinstance(record, CallRecord) or len(record.attempts) < 2 or whole is None:
        return None
    costs = [getattr(attempt, name) for attempt in record.attempts[:-1]]
    part = min(sum((cost for cost in costs if cost is not None), Decimal(0)), whole)
    return _integer(part * PICODOLLARS) or None


def retried_models(record: TraceRecord) -> str | None:
    """Returns, as JSON, what was spent on attempts of other models than the one that the record names, each with its
    provider, its model, and its costs in picodollars; None if there are none.
    """
    if not isinstance(record, CallRecord) or len(record.attempts) < 2:
        return None
    found: list[list[str | int]] = []
    for attempt in record.attempts[:-1]:
        known, estimated = attempt.cost or Decimal(0), attempt.estimated_cost or Decimal(0)
        is_other = attempt.model is not None and (attempt.provider, attempt.model) != (record.provider, record.model)
        if is_other and (known or estimated):
            costs = [_integer(each * PICODOLLARS) for each in (known, estimated)]
            found.append([attempt.provider or "", attempt.model or "", *costs])
    return json.dumps(found) if found else None


def _integer(amount: Decimal) -> int:
    return min(int(amount.to_integral_value()), _LARGEST)


def cost_of(picodollars: int | None) -> str | None:
    """Returns a stored amount as the JSON of a record has it."""
    return None if picodollars is None else f"{dollars(picodollars):f}"


def digest_of(digest: str | None, name: str, detail: dict[str, bytes]) -> bytes | None:
    """Returns a digest as bytes; a value that is not a hexadecimal hash is stored in the details instead."""
    if digest is None:
        return None
    try:
        found = bytes.fromhex(digest)
    except ValueError:
        found = b""
    if found.hex() == digest:
        return found
    detail[name] = json_of(digest)
    return None


def hex_of(digest: bytes | None) -> str | None:
    """Returns a stored digest as a record has it."""
    return None if digest is None else bytes(digest).hex()


@cache
def _month_of_day(day: int) -> int:
    date = datetime.fromtimestamp(day * 86_400, UTC)
    return date.year * 100 + date.month


def month_of(time: float) -> int:
    """Returns the month as a number such as 202611."""
    return _month_of_day(int(in_calendar(time)) // 86_400)


def in_calendar(time: float) -> float:
    """Returns a time from 1970 to 9999: a clock may be wrong."""
    return min(max(time, 0.0), _LAST_SECOND)


def hour_of(time: float) -> int:
    """Returns the hour since the epoch."""
    return int(in_calendar(time)) // 3_600
