"""Responses in JSON, read: fields of the expected kinds, or an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from abstractcore import UnexpectedResponseError
from abstractcore.schema import WireResponse


def fields_of(response: WireResponse) -> Mapping[str, Any]:
    """Returns the JSON object in a response; raises `UnexpectedResponseError` for anything else."""
    try:
        found: Any = json.loads(response.body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        start = response.body[:80].decode(errors="replace").strip()
        raise UnexpectedResponseError(f"expected a JSON object, got {start or 'nothing'}")
    return cast("dict[str, Any]", found)


def rows_of(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Returns the objects in a list."""
    found = fields.get(name)
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, dict)]


def first_of(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns the first object in a list; an empty one if there is none."""
    rows = rows_of(fields, name)
    return rows[0] if rows else {}


def object_of(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns an object; an empty one if the field is none."""
    found = fields.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def texts_of(fields: Mapping[str, Any], name: str) -> list[str]:
    """Returns the texts in a list."""
    found = fields.get(name)
    return [each for each in cast("list[Any]", found) if isinstance(each, str)] if isinstance(found, list) else []


def numbers_of(fields: Mapping[str, Any], name: str) -> list[float]:
    """Returns the numbers in a list."""
    found = fields.get(name)
    values = cast("list[Any]", found) if isinstance(found, list) else []
    return [float(each) for each in values if isinstance(each, int | float) and not isinstance(each, bool)]


def text_of(fields: Mapping[str, Any], *names: str) -> str:
    """Returns the first of these fields that is a text; an empty one without any."""
    return next((value for name in names if isinstance(value := fields.get(name), str)), "")


def number_of(fields: Mapping[str, Any], name: str) -> float | None:
    """Returns a number, if the field is one."""
    value = fields.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def count_of(fields: Mapping[str, Any], name: str) -> int | None:
    """Returns a count, if the field is one."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
