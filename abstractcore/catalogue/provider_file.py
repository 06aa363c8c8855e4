"""`CatalogueProvider`: the models of one provider, read from JSON lines: those of the header, then a row a line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..errors import SchemaError
from ..schema.base_error import shown
from .documents import Document
from .facts import MERGED, Facts, profile_of, read_object
from .header import Header, HeaderLines
from .rows import ModelRow, check_aliases, read_row

if TYPE_CHECKING:
    from .price_rows import PriceHeader


class CatalogueProvider:
    """The rows of the file of a provider by name: `models`, which include aliases, and `families`.

    Facts are read when they are first used; `check` reads all. Errors are `ConfigurationError`s with the line and
    column: lines that are not JSON, rows without a name, two with the same name, and aliases that lead nowhere when the
    file is read, everything else later.
    """

    def __init__(self, document: Document, provider: str) -> None:
        self.document = document
        self._lines = document.text.split("\n")
        self._header_lines = HeaderLines()
        self.models: dict[str, ModelRow] = {}
        self.families: dict[str, ModelRow] = {}
        for number, line in enumerate(self._lines, 1):
            if number == 1 or (line and not line.isspace()):
                self._read_line(line, number)
        self.header = self._read_header(provider)
        check_aliases(self.models, self.refuse)

    def facts(self, row: ModelRow) -> dict[str, Any]:
        """Returns the facts of a row with those that it shares with others."""
        try:
            return self.header.facts(row.facts, row.like)
        except SchemaError as error:
            self.refuse(error, row)

    def unknown(self) -> dict[str, Any]:
        """Returns the facts of a model without a row."""
        try:
            facts = {"known": False, **self.header.with_address(self.header.unknown)}
            profile_of(facts)
        except SchemaError as error:
            self._refuse_header(error.at("unknown"))
        return facts

    @cached_property
    def prices(self) -> PriceHeader:
        """What the prices of the rows share."""
        from .price_rows import PriceHeader

        try:
            return PriceHeader.read(self.header.prices)
        except SchemaError as error:
            self._refuse_header(error.at("prices"))

    def check(self) -> None:
        """Reads the facts of every row; raises `ConfigurationError` for the first invalid one, and for a name that an
        object has twice, of which JSON readers keep the last.
        """
        for number, line in enumerate(self._lines, 1):
            if '"' in line:
                try:
                    json.loads(line, object_pairs_hook=_without_repeated_names)
                except SchemaError as error:
                    raise self.document.error(error.message, number) from None
        self.unknown()
        for row in (*self.models.values(), *self.families.values()):
            try:
                profile_of(self.facts(row))
            except SchemaError as error:
                self.refuse(error, row)

    def refuse(self, error: SchemaError, row: ModelRow) -> NoReturn:
        """Raises the error of a fact of a row, with the place where it is written: the row, a template, or `every`."""
        if error.path.startswith("templates."):
            self._refuse_header(error)
        if not _has(row.facts, error.path):
            for name in reversed(self._templates(row)):
                if _has(self.header.templates[name], error.path):
                    self._refuse_header(error.at(f"templates.{name}"))
            if _has(self.header.every, error.path):
                self._refuse_header(error.at("every"))
        self._refuse_value(error, f"{row.kind} {row.name!r}", row.number)

    def _templates(self, row: ModelRow) -> list[str]:
        try:
            return self.header.templates_of(row.like)
        except SchemaError:
            return []

    def _refuse_header(self, error: SchemaError) -> NoReturn:
        raise self.document.value_error(error, "header", *self._header_lines.place(error.path)) from None

    def _refuse_value(self, error: SchemaError, where: str, number: int) -> NoReturn:
        from .positions import json_column

        column = json_column(self._lines[number - 1], error.path)
        raise self.document.value_error(error, where, number, column) from None

    def _read_line(self, line: str, number: int) -> None:
        data = self._parse(line, number)
        if self.models or self.families or not self._header_lines.takes(data):
            self._add_row(data, number)
        else:
            self._add_to_header(data, number)

    def _add_to_header(self, data: object, number: int) -> None:
        if not isinstance(data, Mapping) or (number == 1 and "provider" not in data):
            raise self.document.error(
                "the first line is not the header of a catalogue", 1, hint='It begins with {"provider": "NAME", ...}.'
            )
        try:
            self._header_lines.add(cast("Mapping[str, Any]", data), number, self._lines[number - 1])
        except SchemaError as error:
            self._refuse_value(error, "header", number)

    def _read_header(self, provider: str) -> Header:
        try:
            header: Header = read_object(Header, self._header_lines.data)
            if header.provider != provider:
                raise SchemaError(f"expected {provider!r}, got {header.provider!r}", "provider")
            return header
        except SchemaError as error:
            self._refuse_header(error)

    def _parse(self, line: str, number: int) -> object:
        try:
            return _decode(line)
        except json.JSONDecodeError as error:
            raise self.document.error(f"not JSON: {error.msg}", number, error.colno) from None
        except (ValueError, RecursionError) as error:
            raise self.document.error(f"not JSON: {error}", number) from None

    def _add_row(self, data: object, number: int) -> None:
        try:
            row = read_row(data, number)
        except SchemaError as error:
            self._refuse_value(error, "row", number)
        table = self.families if row.is_family else self.models
        other = table.setdefault(row.name, row)
        if other is not row:
            raise self.document.error(
                f"two rows for the {row.kind} {row.name!r}; the first is on line {other.number}", number
            )


def _has(facts: Facts, path: str) -> bool:
    """Returns whether the value at `path` is one of these facts; those that are merged by key may have a part of it."""
    name, _, rest = path.partition(".")
    name, key = name.partition("[")[0], re.split(r"[.\[]", rest)[0]
    value = facts.get(name)
    if name in MERGED and key and isinstance(value, Mapping):
        return key in value
    return name in facts


def _without_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise SchemaError(f"duplicate key {shown(name)}")
        found[name] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
