"""What the docstring of a tool says: its description, and a text for each argument."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

_LONGEST = 50_000
"""A longer docstring is used as it is: parsing it would take long."""


@dataclass(frozen=True, slots=True)
class Documentation:
    """The prose of a docstring before its sections, and the texts of its arguments by name."""

    description: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])


def documentation_of(text: str | None) -> Documentation:
    """Returns the content of a docstring in Google, NumPy, Sphinx or Epydoc style; another one is all prose."""
    if not text or not text.strip():
        return Documentation()
    text = inspect.cleandoc(text)
    if len(text) > _LONGEST or not _has_sections(text):
        return Documentation(text)
    from docstring_parser import parse

    try:
        found = parse(text)
    except Exception:  # besides its own error the parser raises `IndexError` for some texts
        return Documentation(text)
    if not found.meta:
        return Documentation(text)
    arguments = {
        parameter.arg_name.lstrip("*"): inspect.cleandoc(parameter.description)
        for parameter in found.params
        if parameter.description
    }
    return Documentation((found.description or "").strip(), arguments)


def _has_sections(text: str) -> bool:
    """Returns whether any style could find a section: most docstrings are prose, and need no parser."""
    return any(line.rstrip().endswith(":") or line.lstrip()[:1] in (":", "@", "-", "=") for line in text.splitlines())
