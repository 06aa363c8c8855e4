"""Catalogues made on the spot: the file of one provider, and the user's file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abstractcore.catalogue import FileCatalogue
from abstractcore.ports import CatalogueFile

PROVIDER = "acme"


def write_file(path: Path, *rows: Mapping[str, Any] | str, provider: str = PROVIDER, **header: Any) -> Path:
    """Writes a provider's file; a row may be the text of its line."""
    lines = [{"provider": provider, **header}, *rows]
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def catalogue_of(folder: Path, *rows: Mapping[str, Any] | str, user: str | None = None, **header: Any) -> FileCatalogue:
    """Returns a catalogue of one provider, with the text of the user's file."""
    file = CatalogueFile(PROVIDER, write_file(folder / f"{PROVIDER}.jsonl", *rows, **header))
    user_file = folder / "models.toml"
    if user is not None:
        user_file.write_text(user, encoding="utf-8")
    named = {} if user is None else {"ABSTRACTCORE_MODELS": str(user_file)}
    return FileCatalogue(lambda: {PROVIDER: file}, named, updates=folder / "updates")
