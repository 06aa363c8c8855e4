"""Controls of files, such as their pages, in the words of the model: those that nothing follows are taken out, with a
warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, cast

from ..ports import HasExcerpts, MediaHandler, ModelProfile
from ..schema import (
    CallWarning,
    ImagePart,
    MediaControls,
    MediaDecision,
    MediaPart,
    MediaResolution,
    ModelCall,
    Part,
)
from .parts import media_parts, with_parts

_DETAIL, _ORIGINAL, _RESOLUTION = "image.detail", "image.detail.original", "image.resolution"
_CODE = "control_not_followed"
Options = dict[str, Any]


def lower_controls(
    call: ModelCall, decisions: Iterable[MediaDecision], profile: ModelProfile, handlers: Sequence[MediaHandler]
) -> tuple[ModelCall, list[CallWarning]]:
    """Returns `call` without the controls of files that neither the provider nor the handler follows, and a warning for
    each of them. The detail of an image becomes its resolution, and the reverse, where the model has the other one.
    """
    decisions = tuple(decisions)
    parts, named = dict(media_parts(call)), {handler.name: handler for handler in handlers}
    call, of_request = _with_resolution(call, decisions, parts, profile)
    changed: dict[str, tuple[Part, ...]] = {}
    warnings: list[CallWarning] = []
    for decision in decisions:
        given = part = parts[decision.part_path]
        if isinstance(part, ImagePart) and decision.route == "native" and (part.detail or part.controls):
            part = _in_words_of(profile, part, decision, warnings)
        if part.controls is not None:
            followed = followed_controls(part, decision, profile, named.get(decision.handler or ""))
            if of_request:
                part = replace(part, controls=_without_resolution(part.controls))
            part = _with_only(followed, part, decision, warnings, profile) if part.controls is not None else part
        if part is not given:
            changed[decision.part_path] = (part,)
    return (with_parts(call, changed) if changed else call), warnings


def _with_resolution(
    call: ModelCall, decisions: Sequence[MediaDecision], parts: Mapping[str, MediaPart], profile: ModelProfile
) -> tuple[ModelCall, bool]:
    """Returns the call with the resolution of all its files, if that is how the model gets it, and whether it is."""
    if not profile.request_resolution:
        return call, False

    resolution = request_resolution(decisions, parts, profile)
    changed = with_resolution(call, resolution, profile) if resolution is not None else None
    return (call, False) if changed is None else (changed, True)


def _without_resolution(controls: MediaControls) -> MediaControls | None:
    rest = replace(controls, resolution=None)
    return rest if rest.names else None


def _in_words_of(
    profile: ModelProfile, part: ImagePart, decision: MediaDecision, warnings: list[CallWarning]
) -> ImagePart:
    """Returns an image whose detail or resolution the model has a field for, as far as one says the other."""
    controls, known = part.controls or MediaControls(), profile.media_controls
    if part.detail == "original" and known & {_DETAIL, _RESOLUTION} and _ORIGINAL not in known:
        message = f"{decision.source}: this model has no detail 'original'"
        warnings.append(CallWarning(_CODE, f"{decision.part_path}.detail", message, part.detail, "high"))
        part = replace(part, detail="high")
    if _RESOLUTION in known and part.detail is not None and _DETAIL not in known:
        resolution = None if part.detail == "auto" else part.detail
        assert resolution != "original"
        return replace(part, detail=None, controls=replace(controls, resolution=controls.resolution or resolution))
    if _DETAIL in known and _RESOLUTION not in known and controls.resolution in ("low", "high"):
        detail = part.detail or controls.resolution
        return replace(part, detail=detail, controls=replace(controls, resolution=None))
    return part


def followed_controls(
    part: MediaPart, decision: MediaDecision, profile: ModelProfile, handler: MediaHandler | None
) -> Set[str]:
    """Returns the names of the controls that the provider or the handler follows, as a file is to be sent."""
    if decision.route == "native":
        prefix = f"{part.type}."
        native = {name.removeprefix(prefix) for name in profile.media_controls if name.startswith(prefix)}
        is_here = decision.fetch != "vendor" and part.blob.form != "provider_file"
        return native | (handler.excerpt_controls if is_here and isinstance(handler, HasExcerpts) else frozenset())
    fallbacks = handler.fallbacks if handler is not None else ()
    return {name for each in fallbacks if each.name == decision.fallback for name in each.controls}


def _with_only(
    followed: Set[str], part: MediaPart, decision: MediaDecision, warnings: list[CallWarning], profile: ModelProfile
) -> MediaPart:
    """Returns the part without controls that are not `followed`, and adds a warning for each of them."""
    assert part.controls is not None
    names = [name for name in part.controls.names if name not in followed]
    warnings += (_warning(part, decision, name, profile) for name in names if name != "fetch")
    if decision.route == "native" and part.controls.fetch == "us" and part.blob.form == "url":
        names.remove("fetch")  # the engine downloads it
    return replace(part, controls=replace(part.controls, **dict.fromkeys(names))) if names else part


def _warning(part: MediaPart, decision: MediaDecision, name: str, profile: ModelProfile) -> CallWarning:
    value = getattr(part.controls, name)
    if name == "resolution" and value in profile.request_resolution and decision.route == "native":
        why = "the model has one resolution for all files of a request, and they, or provider options, differ"
        message = f"{decision.source}: {why}"
        return CallWarning(_CODE, f"{decision.part_path}.controls.{name}", message, value)
    how = "sent natively" if decision.route == "native" else f"converted by the fallback {decision.fallback!r}"
    message = f"{decision.source} is {how}, which has no control {name}={value!r}"
    return CallWarning(_CODE, f"{decision.part_path}.controls.{name}", message, value)


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
    added = _merge(call.provider_options.get(call.provider, {}), profile.request_resolution[resolution])
    return None if added is None else call.with_(provider_options={**call.provider_options, call.provider: added})


def _has_pictures(decision: MediaDecision) -> bool:
    if decision.route == "native":
        return decision.kind in ("image", "video", "document")
    return any(output.startswith("image/") for output in decision.outputs)


def _resolution(part: MediaPart) -> MediaResolution | None:
    return part.controls.resolution if part.controls is not None else None


def _merge(given: Mapping[str, Any], more: Mapping[str, Any]) -> Options | None:
    """Returns options with more of them; None if both have the same one."""
    both: Options = {**given}
    for name, value in more.items():
        if name not in both:
            both[name] = value
            continue
        inner = (both[name], value)
        if not all(isinstance(each, Mapping) for each in inner):
            return None
        joined = _merge(*cast("tuple[Options, Options]", inner))
        if joined is None:
            return None
        both[name] = joined
    return both
