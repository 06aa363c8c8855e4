"""Numbers as models write them: `12`, `"12px"`, `"50%"`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_WRITTEN = re.compile(rf"\s*({_NUMBER.pattern})\s*+(?:(?:px|pt|deg|units?)\s*)?")
LARGEST = 100_000.0
"""The largest coordinate; what is farther away is not near any canvas."""


def _read(value: object) -> object:
    if isinstance(value, str) and (written := _WRITTEN.fullmatch(value)):
        value = float(written[1])
    if isinstance(value, float | int) and not isinstance(value, bool) and value == value:
        return min(max(float(value), -LARGEST), LARGEST)
    return value


Number = Annotated[float, BeforeValidator(_read), Field(allow_inf_nan=False)]
"""A number of at most `LARGEST`, of either sign; units such as `px` are dropped."""


def numbers_in(text: str) -> list[float]:
    """Returns all numbers in a text, within `LARGEST`."""
    return [min(max(float(each), -LARGEST), LARGEST) for each in _NUMBER.findall(text)]


def written(value: float) -> str:
    """Returns a number with at most two decimals, as short as possible."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text
