"""Reads TOML; what is not TOML is an error with its line and column."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ..errors import ConfigurationError
from .documents import Document

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def read_toml(document: Document) -> dict[str, Any]:
    """Returns the tables of a document; raises `ConfigurationError` with the place of what is not TOML."""
    try:
        return tomllib.loads(document.text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(document, str(error)) from None
    except RecursionError:
        raise document.error("nested too deeply", 1) from None
    except ValueError as error:  # an integer of thousands of digits
        raise document.error(f"not TOML: {error}", 1) from None


def key_position(text: str, key: str) -> tuple[int, int]:
    """Returns the line and column, from 1, of the first line that begins with a key or its table; 1 and 1 without."""
    found = re.search(rf"^[ \t]*+(?:\[++[ \t]*+)?[\"']?{re.escape(key)}", text, re.MULTILINE)
    return (text.count("\n", 0, found.start()) + 1, 1) if found else (1, 1)


def _syntax_error(document: Document, message: str) -> ConfigurationError:
    """Returns the error of a text that is not TOML; `message` is tomllib's, with the place at its end."""
    place = _PLACE.search(message)
    if place is None:
        lines = document.text.removesuffix("\n").split("\n")
        return document.error(
            f"not TOML: {message.removesuffix(' (at end of document)')}", len(lines), len(lines[-1]) + 1
        )
    return document.error(f"not TOML: {message[: place.start()]}", int(place[1]), int(place[2]))
