"""The formats of tools in prompts, by family of open-weight models: `tool_prompts.jsonl`, applied to every provider.

A model has the format that its maker trained it on, wherever it runs. Makers, paths and capitals do not matter:
`Qwen/Qwen3-8B`, `qwen.qwen3-32b` and `accounts/fireworks/models/qwen3-8b` are all of the family `qwen3`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rows import CatalogueError, Row, json_lines, resolved

from abstractcore.catalogue.rows import Families

FORMATS = frozenset(
    {
        *("deepseek", "gemma3", "gemma4", "glm", "harmony", "hermes", "kimi_k2"),
        *("llama3", "minimax", "mistral", "pythonic", "qwen_coder", "react"),
    }
)
"""The names of the formats that the library writes and reads."""
_MAKER = re.compile(r"^[a-z]+\.")
_POINT = re.compile(r"(?<=\d)p(?=\d)")
"""Fireworks writes "kimi-k2p5" for "kimi-k2.5"."""


class ToolPrompts:
    """The format of each family; raises `CatalogueError` for an unknown format or source, and for a repeated family."""

    def __init__(self, path: Path, sources: Mapping[str, str]) -> None:
        self._formats: dict[str, str | None] = {}
        for number, line in json_lines(path):
            where, given = f"{path.name}:{number}", line["tool_prompt"]
            if given is not None and given not in FORMATS:
                raise CatalogueError(f"{where}: tool_prompt: {given!r} is not one of {', '.join(sorted(FORMATS))}.")
            if line["source"] not in sources:
                raise CatalogueError(f"{where}: sources.json does not name {line['source']!r}.")
            for family in line["families"]:
                if family in self._formats:
                    raise CatalogueError(f"{where}: {family!r} has a format already.")
                self._formats[family] = given
        self._families = Families(self._formats)

    def add_to(self, rows: Mapping[str, Row], templates: Mapping[str, Row]) -> None:
        """Adds its format to each row of a model or family that does not state one."""
        for name, row in rows.items():
            found = self._format(name)
            if found is not None and "alias_of" not in row and "tool_prompt" not in resolved(row, templates):
                row["tool_prompt"] = found

    def add_families(self, families: dict[str, Row]) -> None:
        """Adds a row for each family, so that a model without a row has its format, too.

        A family without a format has a row as well: without it, its models would be of the family that it is part of.
        """
        for name, given in self._formats.items():
            families.setdefault(name, {} if given is None else {"tool_prompt": given})

    def _format(self, name: str) -> str | None:
        plain = _POINT.sub(".", name.rpartition("/")[2].lower())
        family = self._families.of((plain, _MAKER.sub("", plain)))
        return None if family is None else self._formats[family]
