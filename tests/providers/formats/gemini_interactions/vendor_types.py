"""What the vendor's types do not know in data that they accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

NEWER = ("hologram",)
"""Types of steps of a later version."""


def unknown_fields(value: Any, path: str = "") -> Iterator[str]:
    """The paths of fields and variants that the vendor's types do not know; types without fields are of any data."""
    if isinstance(value, BaseModel):
        if getattr(value, "is_unknown", False):
            kind = value.raw.get("type")  # type: ignore[attr-defined]
            yield from [] if kind in NEWER else [f"{path}={kind}"]
            return
        fields = type(value).model_fields
        yield from (f"{path}.{name}" for name in value.model_extra or {} if fields)
        for name in fields:
            yield from unknown_fields(vars(value)[name], f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from unknown_fields(item, f"{path}[{index}]")
