"""The resolution of all files of a request, where the model has none for each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from ..ports import ModelProfile
from ..schema import MediaDecision, MediaPart, MediaResolution, ModelCall

Options = dict[str, Any]


def request_resolution(
    decisions: Iterable[MediaDecision], parts: Mapping[str, MediaPart], profile: ModelProfile
) -> MediaResolution | None:
    """Returns the resolution on which all files with pictures agree, if the model has it for a request; None if they do
    not agree, or one says nothing: it would be changed too.
    """
    wanted: set[MediaResolution | None] = {
        _resolution(parts[each.part_path]) for each in decisions if _has_pictures(each)
    }
    found = wanted.pop() if len(wanted) == 1 else None
    return None if found is None or profile.request_resolution.get(found) is None else found


def with_resolution(call: ModelCall, resolution: MediaResolution, profile: ModelProfile) -> ModelCall | None:
    """Returns `call` with the provider options for a resolution; None if it has other ones in their place."""
    added = _merged(call.provider_options.get(call.provider, {}), profile.request_resolution[resolution])
    return None if added is None else call.with_(provider_options={**call.provider_options, call.provider: added})


def _has_pictures(decision: MediaDecision) -> bool:
    if decision.route == "native":
        return decision.kind in ("image", "video", "document")
    return any(output.startswith("image/") for output in decision.outputs)


def _resolution(part: MediaPart) -> MediaResolution | None:
    return part.controls.resolution if part.controls is not None else None


def _merged(given: Mapping[str, Any], more: Mapping[str, Any]) -> Options | None:
    """Returns options with more of them; None if both have the same one."""
    both: Options = {**given}
    for name, value in more.items():
        if name not in both:
            both[name] = value
            continue
        inner = (both[name], value)
        if not all(isinstance(each, Mapping) for each in inner):
            return None
        joined = _merged(*cast("tuple[Options, Options]", inner))
        if joined is None:
            return None
        both[name] = joined
    return both
