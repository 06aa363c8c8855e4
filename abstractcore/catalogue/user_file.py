"""`UserFile`: the user's own facts about models, in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, NoReturn, cast

from ..errors import ConfigurationError, SchemaError
from .documents import Document, key_position, read_toml
from .facts import profile_of
from .positions import toml_position
from .price_values import with_text_for_dates
from .rows import ModelRow, read_row

_EXAMPLE = 'For example:\n[[models]]\nprovider = "openai"\nmodel = "my-model"\nlike = "ID of a model"'


class UserFile:
    """Rows by provider and name. All facts are read at once: errors are `ConfigurationError`s with line and column.

    An error in a table is one of its provider: `errors` has the first one of each, and `rows` raises it. A file that is
    not TOML, and a table that names no provider, cannot be read at all.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._rows: dict[str, dict[str, ModelRow]] = {}
        self.errors: dict[str, ConfigurationError] = {}
        for number, table in enumerate(self._tables()):
            provider = self._provider(table, number)
            try:
                self._add(provider, table, number)
            except ConfigurationError as error:
                self.errors.setdefault(provider, error)

    def rows(self, provider: str) -> Mapping[str, ModelRow]:
        """Returns the user's rows for a provider, by name; raises the error of its tables."""
        if provider in self.errors:
            raise copy(self.errors[provider]) from None
        return self._rows.get(provider, {})

    @property
    def providers(self) -> frozenset[str]:
        """The providers that it has tables for."""
        return frozenset({*self._rows, *self.errors})

    def refuse(self, error: SchemaError, row: ModelRow) -> NoReturn:
        """Raises the error of a row."""
        raise self._error(error, {"model": row.name}, row.number) from None

    def _add(self, provider: str, table: object, number: int) -> None:
        try:
            row = _read(_with_text_for_dates(table), number)
            profile_of(row.facts)
        except SchemaError as error:
            raise self._error(error, table, number) from None
        other = self._rows.setdefault(provider, {}).setdefault(row.name, row)
        if other is not row:
            first = toml_position(self.document.text, other.number, "model")[0]
            problem = f"two tables for the model {row.name!r} of {provider}; the first is on line {first}"
            raise self.document.error(problem, *toml_position(self.document.text, number, "model"))

    def _provider(self, table: object, number: int) -> str:
        """Returns the provider of a table; raises `ConfigurationError` for a table without one."""
        given: object = table
        provider = cast("Mapping[str, Any]", given).get("provider") if isinstance(given, Mapping) else None
        if isinstance(provider, str) and provider:
            return provider
        hint = 'For example: provider = "openai".'
        raise self._error(SchemaError("expected the name of a provider", "provider", hint=hint), table, number)

    def _error(self, error: SchemaError, table: object, number: int) -> ConfigurationError:
        path = error.path or "model"
        name = cast("Mapping[str, Any]", table).get("model") if isinstance(table, Mapping) else None
        where = f"model {name!r}" if isinstance(name, str) else f"models[{number}]"
        return self.document.value_error(error, where, *toml_position(self.document.text, number, path))

    def _tables(self) -> list[object]:
        data = read_toml(self.document)
        tables = data.pop("models", [])
        if data or not isinstance(tables, list):
            line, column = key_position(self.document.text, next(iter(data), "models"))
            raise self.document.error("expected [[models]] tables, and nothing else", line, column, _EXAMPLE)
        return cast("list[object]", tables)


def _with_text_for_dates(table: object) -> object:
    """Returns a table with the dates of TOML as text; raises `SchemaError` for a value that is nested too deeply."""
    if not isinstance(table, Mapping):
        return table
    fields = cast("Mapping[str, object]", table)
    return {name: with_text_for_dates(value, name) for name, value in fields.items()}


def _read(table: object, number: int) -> ModelRow:
    row = read_row(table, number)
    if row.is_family:
        raise SchemaError("a user's row is for one model", "family", hint='Write model = "ID".')
    return row
