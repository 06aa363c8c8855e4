"""Names of tools that every provider and every prompted format can carry."""

from __future__ import annotations

import re
import unicodedata

from ..errors import InvalidInputError
from ..schema.base_error import shown

LONGEST_NAME = 64
"""OpenAI's, Mistral's and Amazon's limit; those of others are longer (`common/name_rules.py` of the providers)."""
_VALID = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")


def check_name(name: object) -> None:
    """Raises `InvalidInputError` with a valid name for one that some provider refuses for a tool."""
    if not isinstance(name, str):
        raise InvalidInputError(f"expected text, got {type(name).__name__}", path="name")
    if not _VALID.fullmatch(name):
        raise InvalidInputError(
            f"{shown(name)} is not a name that all providers accept for a tool: expected 1 to {LONGEST_NAME} ASCII "
            "letters, digits, '_' and '-', the first a letter or '_'",
            path="name",
            hint=f'Use @tool(name="{nearest_name(name)}").',
        )


def nearest_name(name: str) -> str:
    """Returns the closest valid name: without accents, with `_` for other characters."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", name[:1000]) if not unicodedata.combining(each))
    plain = _OTHERS.sub("_", plain).strip("_") or "tool"
    return (plain if _VALID.match(plain) else f"_{plain}")[:LONGEST_NAME]
