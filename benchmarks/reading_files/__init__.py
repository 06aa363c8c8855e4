"""Files of many formats, and what each of them says, for the comparison of readers.

A module describes a family of files: above the function that makes a file stand its facts.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module

from .corpus import Family
from .facts import FileWithFacts

FAMILIES = (
    "pdf",
    "pdf_tables",
    "pdf_cases",
    "word",
    "sheets",
    "slides",
    "office_cases",
    "web",
    "mail",
    "plain",
    "web_cases",
    "recorded",
    "recorded_cases",
    "packages",
)


def family(name: str) -> list[FileWithFacts]:
    """The files of a family; raises ImportError if a library that makes them is missing."""
    files: Family = getattr(import_module(f".{name}", __package__), name.upper())
    return files.files


def all_files() -> list[FileWithFacts]:
    """The files of all families; two of them must not have one name."""
    files = [file for name in FAMILIES for file in family(name)]
    twice = [name for name, number in Counter(file.name for file in files).items() if number > 1]
    if twice:
        raise ValueError(f"files of one name: {', '.join(twice)}")
    return files
