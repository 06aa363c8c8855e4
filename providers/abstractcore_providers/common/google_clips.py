"""Part of a recording, and its frames a second, as Google's APIs write them.

`VideoMetadata` on https://ai.google.dev/api/generate-content; `processing` of a video on
https://ai.google.dev/gemini-api/docs/video-understanding. Offsets are durations: decimal seconds and an "s".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from abstractcore.schema import MediaControls, MediaResolution, SchemaError

from .json_reading import Object, as_object

_SECONDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")
_OFFSETS = ("start", "end")


def write_clip(controls: MediaControls, names: Mapping[str, str]) -> Object:
    """Returns the fields for `start`, `end` and `fps`, under the format's `names` for them."""
    given = {name: getattr(controls, name) for name in names if getattr(controls, name) is not None}
    return {names[name]: _duration(value) if name in _OFFSETS else value for name, value in given.items()}


def read_clip(value: Any, names: Mapping[str, str]) -> dict[str, float] | None:
    """Returns `start`, `end` and `fps` of an object with these fields; None if it has others, or invalid ones."""
    fields = as_object(value)
    if not fields or not fields.keys() <= set(names.values()):
        return None
    given: dict[str, Any] = {name: fields[field] for name, field in names.items() if field in fields}
    for name in _OFFSETS:
        if name in given:
            found = _SECONDS.fullmatch(given[name]) if isinstance(given[name], str) else None
            if found is None:
                return None
            given[name] = float(found[1])
    try:
        MediaControls(**given)
    except SchemaError:
        return None
    return given


def with_controls(clip: Mapping[str, float] | None, resolution: MediaResolution | None) -> MediaControls | None:
    """Returns the controls of a part that was read; None without any."""
    if not clip and resolution is None:
        return None
    given: dict[str, Any] = {**(clip or {})}
    return MediaControls(**given, resolution=resolution)


def _duration(seconds: float) -> str:
    return f"{Decimal(repr(seconds)):f}s"
