"""`HeaderLines`: the header of a provider's file, an object whose members may stand on lines of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from ..errors import SchemaError
from .header import Header

_FIELDS = frozenset(field.name for field in fields(Header))
_ROWS = frozenset({"model", "family"})
_JOINED = frozenset({"", "sources", "templates", "prices", "prices.sets"})
"""The objects whose members may be on several lines; "" is the header."""


class HeaderLines:
    """The lines of a header: `data` is their object. `add` takes lines in order."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self._lines: list[tuple[int, str]] = []

    def takes(self, data: object) -> bool:
        """Returns whether a line belongs to the header: the first one, and an object of its fields without a row."""
        if not self._lines:
            return True
        if not isinstance(data, Mapping):
            return False
        names = cast("Mapping[str, Any]", data).keys()
        return _ROWS.isdisjoint(names) and not _FIELDS.isdisjoint(names)

    def add(self, data: Mapping[str, Any], number: int, line: str) -> None:
        """Adds the object of a line; raises `SchemaError` for a member that an earlier line has."""
        self._lines.append((number, line))
        _join(self.data, data, "")

    def place(self, path: str) -> tuple[int, int]:
        """Returns the line and the column of a value, from 1, or of the last part of its path that a line has."""
        from .positions import json_place

        index, column = json_place([line for _, line in self._lines], path)
        return self._lines[index][0], column


def _join(header: dict[str, Any], part: Mapping[str, Any], path: str) -> None:
    for name, value in part.items():
        where = f"{path}.{name}" if path else name
        if name not in header:
            header[name] = value
            continue
        present = header[name]
        if where not in _JOINED or not isinstance(present, dict) or not isinstance(value, Mapping):
            raise SchemaError("is on an earlier line too", where)
        _join(cast("dict[str, Any]", present), cast("Mapping[str, Any]", value), where)
