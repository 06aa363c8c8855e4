"""Controls of files, such as their pages: those that nothing follows are taken out, with a warning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from ...ports import HasExcerpts, MediaHandler, ModelProfile
from ...schema import MEDIA_PARTS, CallWarning, MediaDecision, MediaPart, ModelCall, ToolResult
from .media_routes import media_parts


def lower_controls(
    call: ModelCall, decisions: Iterable[MediaDecision], profile: ModelProfile, handlers: Sequence[MediaHandler]
) -> tuple[ModelCall, list[CallWarning]]:
    """Returns `call` without the controls of files that neither the provider nor the handler follows, and a warning for
    each of them.
    """
    parts, named = dict(media_parts(call)), {handler.name: handler for handler in handlers}
    unfollowed: dict[str, list[str]] = {}
    warnings: list[CallWarning] = []
    for decision in decisions:
        part = parts[decision.part_path]
        if part.controls is None:
            continue
        followed = _followed(decision, profile, named.get(decision.handler or ""))
        unfollowed[decision.part_path] = names = [name for name in part.controls.names if name not in followed]
        warnings += (_warning(part, decision, name) for name in names if name != "fetch")
        if decision.route == "native" and part.controls.fetch == "us" and part.blob.form == "url":
            names.remove("fetch")  # the engine downloads it
    return (_without(call, unfollowed) if any(unfollowed.values()) else call), warnings


def _followed(decision: MediaDecision, profile: ModelProfile, handler: MediaHandler | None) -> Set[str]:
    if decision.route == "native":
        return {*profile.media_controls, *(handler.excerpt_controls if isinstance(handler, HasExcerpts) else ())}
    fallbacks = handler.fallbacks if handler is not None else ()
    return {name for each in fallbacks if each.name == decision.fallback for name in each.controls}


def _warning(part: MediaPart, decision: MediaDecision, name: str) -> CallWarning:
    value = getattr(part.controls, name)
    how = "sent natively" if decision.route == "native" else f"converted by the fallback {decision.fallback!r}"
    message = f"{decision.source} is {how}, which has no control {name}={value!r}"
    return CallWarning("control_not_followed", f"{decision.part_path}.controls.{name}", message, value)


def _without(call: ModelCall, unfollowed: Mapping[str, Sequence[str]]) -> ModelCall:
    messages = (
        replace(message, parts=_parts_without(message.parts, f"messages[{index}].parts", unfollowed))
        for index, message in enumerate(call.messages)
    )
    return call.with_(messages=tuple(messages))


def _parts_without(parts: Sequence[Any], path: str, unfollowed: Mapping[str, Sequence[str]]) -> tuple[Any, ...]:
    return tuple(_part_without(part, f"{path}[{index}]", unfollowed) for index, part in enumerate(parts))


def _part_without(part: Any, path: str, unfollowed: Mapping[str, Sequence[str]]) -> Any:
    if isinstance(part, ToolResult):
        return replace(part, content=_parts_without(part.content, f"{path}.content", unfollowed))
    if isinstance(part, MEDIA_PARTS) and part.controls is not None and unfollowed.get(path):
        return replace(part, controls=replace(part.controls, **dict.fromkeys(unfollowed[path])))
    return part
