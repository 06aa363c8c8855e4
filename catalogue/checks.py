"""Checks of built files with the reader of the package, whose errors name the file and line of the hand-kept row."""

from __future__ import annotations

import json
import re

from rows import CatalogueError, ProviderRows, Row

from abstractcore.catalogue.documents import Document
from abstractcore.catalogue.provider_file import CatalogueProvider
from abstractcore.catalogue.provider_models import ProviderModels
from abstractcore.errors import ConfigurationError
from abstractcore_providers.common.endpoints import check_setting_names

_PLACE = re.compile(r"^[^:]*:(\d+):\d+: ")


def check(provider: str, text: str, rows: ProviderRows, price_file: str) -> None:
    """Looks up every model of a built file, and its prices, which are from `price_file`; raises `CatalogueError`."""
    try:
        ProviderModels(provider, CatalogueProvider(Document(f"{provider}.jsonl", text), provider), None).check()
    except ConfigurationError as error:
        place = _PLACE.match(str(error))
        if place is None:
            raise CatalogueError(f"{provider}.jsonl: {error}") from error
        row: Row = json.loads(text.splitlines()[int(place[1]) - 1])
        message = str(error)[place.end() :]
        origin = f"prices/{price_file}" if ": prices" in message else _origin(provider, row, message, rows)
        raise CatalogueError(f"{origin}: {provider}: {message}") from error


def check_settings(provider: str, text: str, rows: ProviderRows, known: frozenset[str]) -> None:
    """Checks that the wire format of a provider knows the settings in its built file: it would ignore others.

    Raises `CatalogueError` with the place of the hand-kept row, and the nearest name.
    """
    for line in text.splitlines():
        row: Row = json.loads(line)
        tables = {"": row, "unknown.": row.get("unknown", {})}
        tables |= {f"templates.{name}.": facts for name, facts in row.get("templates", {}).items()}
        for path, facts in tables.items():
            try:
                check_setting_names(facts.get("settings", ()), known, provider)
            except ConfigurationError as error:
                message = f"{path}{error.message} {error.hint}"
                raise CatalogueError(f"{_origin(provider, row, message, rows)}: {provider}: {message}") from error


def _origin(provider: str, row: Row, message: str, rows: ProviderRows) -> str:
    """Returns the file, and the line if it has one, that a line of a built file is from."""
    for kind in ("model", "family"):
        if kind in row:
            return rows.places.get((kind, row[kind]), "model_facts.jsonl")
    templates = [
        (len(name), place)
        for (kind, name), place in rows.places.items()
        if kind == "template" and f"templates.{name}." in message
    ]
    return max(templates)[1] if templates else f"providers/{provider}.json"
