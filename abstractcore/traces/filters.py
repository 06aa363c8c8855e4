"""Which calls are wanted, as conditions of statements: columns, tags and words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, cast, func, select, text
from sqlalchemy.dialects.postgresql import JSON

from ..errors import InvalidInputError
from ..schema.base_error import shown
from .column_values import SUCCEEDED, searched
from .tables import TEXTS, contents, records

_MOST_TERMS: Final = 100
_MOST: Final = 2**63 - 1
"""The largest integer of a database."""
_TERM = re.compile(r'"([^"]*)"|(\S+)')
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which calls are wanted."""

    since: float | None = None
    until: float | None = None
    model: str | None = None
    operation: str | None = None
    tags: Mapping[str, str] | None = None
    failed: bool | None = None
    after: int | None = None

    def checked(self) -> Filter:
        """Returns it with texts as columns have them; raises `InvalidInputError` for a value of another type."""
        if self.after is not None:
            check_integer(self.after, -_MOST, "after")
        if not isinstance(self.tags, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a mapping of names to values, got {shown(self.tags)}", path="tags")
        if not isinstance(self.failed, bool | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected True, False or None, got {shown(self.failed)}", path="failed")
        tags = {searched(name, "tags"): searched(value, f"tags.{name}") for name, value in (self.tags or {}).items()}
        model = None if self.model is None else searched(self.model, "model")
        operation = None if self.operation is None else searched(self.operation, "operation")
        return replace(self, model=model, operation=operation, tags=tags)

    def conditions(self, dialect: str) -> list[ColumnElement[bool]]:
        """Returns the conditions of a statement."""
        found: list[ColumnElement[bool]] = []
        if self.since is not None:
            found.append(records.c.started_at >= self.since)
        if self.until is not None:
            found.append(records.c.started_at < self.until)
        for name, value in (self.tags or {}).items():
            found.append(tag_value(dialect, name) == value)
        if self.after is not None:
            found.append(records.c.id > self.after)
        return [*found, *self.conditions_of(records)]

    def conditions_of(self, table: Any) -> list[ColumnElement[bool]]:
        """Returns the conditions about columns that records and sums have."""
        found: list[ColumnElement[bool]] = []
        if self.model is not None:
            provider, slash, model = self.model.partition("/")
            named = (table.c.provider == provider) & (table.c.model == model)
            found.append((table.c.model == self.model) | named if slash else table.c.model == self.model)
        if self.operation is not None:
            found.append(table.c.operation == self.operation)
        if self.failed is not None:
            succeeded = table.c.outcome.in_(SUCCEEDED)
            found.append(~succeeded if self.failed else succeeded)
        return found


def with_words(dialect: str, words: str) -> Any:
    """Returns a query for the contents in which words occur; raises `InvalidInputError` if there are none."""
    terms = terms_of(searched(words, "text"))
    if not terms:
        raise InvalidInputError(f"{shown(words)} has no words", path="text")
    if dialect == "sqlite":
        query = " ".join(f'"{term}"' for term in terms)
        statement = text(f"SELECT rowid FROM {TEXTS} WHERE {TEXTS} MATCH :words")
    else:
        query = " & ".join("(" + " <-> ".join(f"'{word}'" for word in term.split()) + ")" for term in terms)
        statement = text(f"SELECT id FROM {contents.name} WHERE search @@ to_tsquery('simple', :words)")
    return statement.bindparams(words=query).columns(id=contents.c.id.type).scalar_subquery()


def terms_of(words: str) -> list[str]:
    """Returns words, and those in quotes as one text."""
    terms = [" ".join(_WORD.findall(quoted or word)) for quoted, word in _TERM.findall(words)][:_MOST_TERMS]
    return [term for term in terms if term]


def tag_value(dialect: str, name: str) -> ColumnElement[Any]:
    """Returns the value of a tag of a record, or NULL."""
    if dialect == "postgresql":
        return cast(records.c.tags, JSON)[name].astext
    pair = func.json_each(records.c.tags).table_valued("key", "value")
    return select(pair.c.value).where(pair.c.key == name).scalar_subquery()


def check_integer(value: object, least: int, path: str) -> None:
    """Raises `InvalidInputError` unless a value is an integer that a database can hold, of at least `least`."""
    if type(value) is not int or not least <= value <= _MOST:
        raise InvalidInputError(f"expected an integer from {least} to {_MOST}, got {shown(value)}", path=path)
