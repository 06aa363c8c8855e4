"""Names and descriptions of a server's tools without characters that a person cannot see but a model reads."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, cast

_VISIBLE = frozenset("\n\t\u200c\u200d")
"""Kept, though not printable: line breaks, tabs, and the joiners of Arabic, Indic scripts and emoji."""
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Unicode categories: control, format (direction marks, tag characters), private use, surrogates."""
_TEXTS_OF_SCHEMAS = frozenset({"description", "title"})


def cleaned(text: str) -> str:
    """Returns the text without invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character for character in text if character in _VISIBLE or unicodedata.category(character) not in _INVISIBLE
    )


def cleaned_name(name: str) -> str:
    """Returns a name on one line without invisible characters and outer blanks."""
    return "".join(character for character in cleaned(name) if character not in _VISIBLE).strip()


def cleaned_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON Schema whose titles and descriptions are without invisible characters."""
    return {key: _cleaned_value(key, value) for key, value in schema.items()}


def _cleaned_value(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return cleaned(value) if key in _TEXTS_OF_SCHEMAS else value
    if isinstance(value, Mapping):
        return cleaned_schema(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return [_cleaned_value("", item) for item in cast("list[Any]", value)]
    return value
