"""`Header`: what the rows of a provider's file share.

`HeaderLines`: the header of a provider's file, an object whose members may stand on lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, cast

from ..errors import SchemaError
from ..registry import did_you_mean, nearest_names
from ..schema import EMPTY
from ..schema.base_error import shown
from .facts import Facts, merged
from .rows import MAX_LIKE, NameRules, like_of

_NO_RULES = NameRules()
_NONE: Any = EMPTY
_MOST_TEMPLATES = 100


@dataclass(frozen=True, slots=True)
class Header:
    """What the rows of a provider share.

    `sources` are the addresses of pages by name. `unknown` holds the facts of models without a row, `every` those of
    all others; rows name `templates` in `like`. `as_of` is the day of the facts; of two files the later one is used.
    `prices` is what the prices of the rows share.
    """

    provider: str
    as_of: date | None = None
    sources: Mapping[str, str] = _NONE
    names: NameRules = _NO_RULES
    unknown: Mapping[str, Any] = _NONE
    every: Mapping[str, Any] = _NONE
    templates: Mapping[str, Mapping[str, Any]] = _NONE
    prices: Mapping[str, Any] = _NONE

    def facts(self, own: Facts, like: Iterable[str]) -> dict[str, Any]:
        """Returns the facts of every model, then those of the templates `like`, then a row's `own`.

        Raises `SchemaError` for an unknown template or source.
        """
        facts = dict(self.every)
        for name in self.templates_of(like):
            facts = merged(facts, {key: value for key, value in self.templates[name].items() if key != "like"})
        return self.with_address(merged(facts, own))

    def templates_of(self, like: Iterable[str], within: tuple[str, ...] = ()) -> list[str]:
        """Returns templates and those that they are like, in the order in which they apply."""
        found: list[str] = []
        for name in like:
            path = f"templates.{within[-1]}.like" if within else "like"
            if len(within) > MAX_LIKE or len(found) > _MOST_TEMPLATES:
                raise SchemaError("leads to too many templates", path)
            if name in within:
                raise SchemaError(f"the templates {', '.join((*within, name))} are like each other", path)
            if name not in self.templates:
                near = nearest_names(name, self.templates)
                raise SchemaError(
                    f"no template is called {shown(name)}", path, hint=did_you_mean(near) if near else None
                )
            found += self.templates_of(like_of(self.templates[name].get("like", ())), (*within, name))
            found.append(name)
        return found

    def with_address(self, facts: Facts) -> dict[str, Any]:
        """Returns facts with the address of their source instead of its name."""
        name = facts.get("source")
        if name is None:
            return dict(facts)
        if not isinstance(name, str) or name not in self.sources:
            raise SchemaError(f"no source is called {shown(name)}", "source", hint="The header lists `sources`.")
        return {**facts, "source": self.sources[name]}


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
