"""Further arguments of backends on the command line: `--option steps=8`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import abstractcore


def backend_options(given: Sequence[str]) -> dict[str, Any]:
    """Returns arguments by name. Values are JSON where they are valid JSON, else texts.

    Raises `InvalidInputError` for a text without `=`.
    """
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            hint = "Write --option NAME=VALUE, as in --option steps=8."
            raise abstractcore.InvalidInputError(f"--option {text!r} is not an argument.", hint=hint)
        try:
            options[name.strip()] = json.loads(value)
        except ValueError:
            options[name.strip()] = value
    return options
