"""The tables of words for what is written otherwise, of `tables.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def table(name: str) -> dict[str, str]:
    """Returns a table: what is said by what is written."""
    return _TABLES[name]


def word_list(name: str) -> list[str]:
    """Returns a list of words, in its order."""
    return _TABLES["words"][name].split()


def one_of(written: dict[str, str]) -> str:
    """Returns a pattern for what a table has, the longest first."""
    return "|".join(re.escape(each) for each in sorted(written, key=len, reverse=True))
