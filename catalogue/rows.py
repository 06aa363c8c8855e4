"""The hand-kept rows: one line a model or template, expanded into one row a provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from abstractcore.catalogue.facts import MERGED, profile_of
from abstractcore.catalogue.rows import like_of, read_row
from abstractcore.errors import SchemaError

Row: TypeAlias = dict[str, Any]
NAMES = ("model", "family", "template")
"""A line has one of these keys: the id of a model, the beginning of a family's names, or the name of a template."""
_KINDS = ("accepts", "assumed", "encodable")


class CatalogueError(Exception):
    """A source of the catalogue has an error; the message names the file and the line."""


@dataclass
class ProviderRows:
    """The rows of one provider: `models` and `families` by name, and the templates that they may use. `places` are the
    file and line of each, by kind and name.
    """

    models: dict[str, Row] = field(default_factory=dict[str, Row])
    families: dict[str, Row] = field(default_factory=dict[str, Row])
    templates: dict[str, Row] = field(default_factory=dict[str, Row])
    places: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def table(self, kind: str) -> dict[str, Row]:
        """Returns the rows of a kind of line."""
        return {"model": self.models, "family": self.families, "template": self.templates}[kind]


def hand_rows(folder: Path) -> dict[str, ProviderRows]:
    """Returns the rows of a folder, by provider; raises `CatalogueError` for an invalid or repeated line."""
    found: dict[str, ProviderRows] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in json_lines(path):
            where = f"{path.name}:{number}"
            kind = _kind(line, where)
            for provider, row in _expanded(line, kind, where):
                _check(row, kind, where)
                rows = found.setdefault(provider, ProviderRows())
                name = row.pop(kind)
                if name in rows.table(kind):
                    raise CatalogueError(f"{where}: {provider} has the {kind} {name!r} already.")
                rows.table(kind)[name] = row
                rows.places[kind, name] = where
    return found


def merged(row: Row, more: Mapping[str, Any]) -> Row:
    """Returns the row with the fields of `more`, which win; those in `MERGED` are merged field by field."""
    result = {**row, **more}
    for name in MERGED:
        if isinstance(row.get(name), dict) and isinstance(more.get(name), dict):
            result[name] = {**row[name], **more[name]}
    return result


def resolved(row: Row, templates: Mapping[str, Row]) -> Row:
    """Returns the row with the fields of its templates, which it overrides."""
    result: Row = {}
    for name in like_of(row.get("like", ())):
        result = merged(result, resolved(templates.get(name, {}), templates))
    return merged(result, row)


def with_types(row: Row, kinds: Mapping[str, list[str]]) -> Row:
    """Returns the row with the media types of a provider in place of a kind, such as "image"."""
    changed = dict(row)
    for name in _KINDS:
        if name in row:
            changed[name] = sorted({each for item in row[name] for each in kinds.get(item, [item])})
    return changed


def json_of(path: Path) -> Row:
    """Returns the object in a file; raises `CatalogueError` if it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise CatalogueError(f"{path.name}:{error.lineno}:{error.colno}: {error.msg}.") from error


def json_lines(path: Path) -> Iterator[tuple[int, Row]]:
    """Yields each line's number, from 1, and its object; raises `CatalogueError` for a line that has none."""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise CatalogueError(f"{path.name}:{number}:{error.colno}: {error.msg}.") from error
        if not isinstance(line, dict):
            raise CatalogueError(f"{path.name}:{number}: expected an object.")
        yield number, cast(Row, line)


def _kind(line: Row, where: str) -> str:
    kinds = [name for name in NAMES if name in line]
    if len(kinds) != 1 or not isinstance(line.get("at"), dict):
        raise CatalogueError(f"{where}: expected one of {', '.join(NAMES)}, and `at` with the providers.")
    return kinds[0]


def _expanded(line: Row, kind: str, where: str) -> Iterator[tuple[str, Row]]:
    """Yields the row of each provider: the common fields and those that differ there, under the name it has there."""
    common = {name: value for name, value in line.items() if name != "at"}
    for provider, own in line["at"].items():
        if not isinstance(own, dict):
            raise CatalogueError(f"{where}: at.{provider}: expected an object with the fields that differ there.")
        yield provider, merged(common, cast(Row, own))


def _check(row: Row, kind: str, where: str) -> None:
    """Reads the row as the package does; raises `CatalogueError` for a name or a fact that it would refuse."""
    try:
        profile_of(read_row({("model" if name == "template" else name): row[name] for name in row}, 0).facts)
    except SchemaError as error:
        raise CatalogueError(f"{where}: {kind} {row[kind]!r}: {error}") from error
