"""Part of a recording, and its frames a second, as Google's APIs write them.

`VideoMetadata` on https://ai.google.dev/api/generate-content; `processing` of a video on
https://ai.google.dev/gemini-api/docs/video-understanding. Offsets are durations: decimal seconds and an "s".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from abstractcore.schema import (
    AudioPart,
    CallWarning,
    MediaControls,
    MediaPart,
    MediaResolution,
    SchemaError,
    VideoPart,
)

from .format_warnings import FormatWarnings
from .json_reading import Object, as_object

_SECONDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")
_OFFSETS = ("start", "end")


def write_controls(
    part: MediaPart, path: str, names: Mapping[str, str], of_format: FormatWarnings, warnings: list[CallWarning]
) -> tuple[Object, MediaResolution | None]:
    """Returns the fields for `start`, `end` and `fps` of a video, under the format's `names` for them, and the
    resolution of a file that has pictures. Warns of other controls.
    """
    controls = part.controls
    if controls is None:
        return {}, None
    clip: Object = {}
    followed: tuple[str, ...] = () if isinstance(part, AudioPart) else ("resolution",)
    if isinstance(part, VideoPart):
        given = {name: getattr(controls, name) for name in names if getattr(controls, name) is not None}
        clip = {names[name]: _duration(value) if name in _OFFSETS else value for name, value in given.items()}
        followed = (*followed, *names)
    of_format.controls(part, path, followed, warnings)
    return clip, controls.resolution if "resolution" in followed else None


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
