"""The hand-kept rows: one line a model or template, expanded into one row a provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

Row: TypeAlias = dict[str, Any]
NAMES = ("model", "family", "template")
"""A line has one of these keys: the id of a model, the beginning of a family's names, or the name of a template."""
_MERGED = ("thinking", "settings")
_KINDS = ("accepts", "assumed", "encodable")


class CatalogueError(Exception):
    """A source of the catalogue has an error; the message names the file and the line."""


@dataclass
class ProviderRows:
    """The rows of one provider: `models` and `families` by name, and the templates that they may use."""

    models: dict[str, Row] = field(default_factory=dict[str, Row])
    families: dict[str, Row] = field(default_factory=dict[str, Row])
    templates: dict[str, Row] = field(default_factory=dict[str, Row])

    def table(self, kind: str) -> dict[str, Row]:
        """Returns the rows of a kind of line."""
        return {"model": self.models, "family": self.families, "template": self.templates}[kind]


def hand_rows(folder: Path) -> dict[str, ProviderRows]:
    """Returns the rows of a folder, by provider; raises `CatalogueError` for an invalid or repeated line."""
    found: dict[str, ProviderRows] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in _lines(path):
            where = f"{path.name}:{number}"
            kind = _kind(line, where)
            for provider, row in _expanded(line, kind, where):
                table = found.setdefault(provider, ProviderRows()).table(kind)
                name = row.pop(kind)
                if name in table:
                    raise CatalogueError(f"{where}: {provider} has the {kind} {name!r} already.")
                table[name] = row
    return found


def merged(row: Row, more: Mapping[str, Any]) -> Row:
    """Returns the row with the fields of `more`, which win; thinking and settings are merged field by field."""
    result = {**row, **more}
    for name in _MERGED:
        if isinstance(row.get(name), dict) and isinstance(more.get(name), dict):
            result[name] = {**row[name], **more[name]}
    return result


def resolved(row: Row, templates: Mapping[str, Row]) -> Row:
    """Returns the row with the fields of its templates, which it overrides."""
    result: Row = {}
    for name in row.get("like", ()):
        result = merged(result, resolved(templates.get(name, {}), templates))
    return merged(result, row)


def with_types(row: Row, kinds: Mapping[str, list[str]]) -> Row:
    """Returns the row with the media types of a provider in place of a kind, such as "image"."""
    changed = dict(row)
    for name in _KINDS:
        if name in row:
            changed[name] = sorted({each for item in row[name] for each in kinds.get(item, [item])})
    return changed


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip():
            continue
        try:
            yield number, json.loads(text)
        except json.JSONDecodeError as error:
            raise CatalogueError(f"{path.name}:{number}:{error.colno}: {error.msg}.") from error


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
