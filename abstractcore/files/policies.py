"""Media policies: their names, and which fallbacks of a handler they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InvalidInputError
from ..ports import MediaHandler, ModelProfile
from ..registry import did_you_mean, nearest_names
from ..schema import MEDIA_RULES, media_kind_of
from ..schema.quoting import shown

if TYPE_CHECKING:
    from ..ports import Fallback
    from ..schema import MediaDecision, MediaHistory, MediaKind


class MediaDefaults(Protocol):
    """What holds for kinds of files for which a call sets nothing."""

    @property
    def media_policy(self) -> Mapping[MediaKind, str]:
        """Policies by kind."""
        ...

    @property
    def media_history(self) -> Mapping[MediaKind, MediaHistory]:
        """How files of earlier turns are sent, by kind."""
        ...


def check_policies(policies: Mapping[Any, str], handlers: Sequence[MediaHandler]) -> None:
    """Raises `InvalidInputError` for a policy that is neither a rule nor the name of a fallback of some handler."""
    for kind, policy in policies.items():
        if policy in MEDIA_RULES:
            continue
        known = dict.fromkeys(fallback.name for handler in handlers for fallback in handler.fallbacks)
        if policy not in known:
            near = nearest_names(str(policy), [*MEDIA_RULES, *known])
            raise InvalidInputError(
                f"unknown policy {shown(policy)}: use {', '.join(MEDIA_RULES)}, or the name of a fallback: "
                f"{', '.join(known) or 'none is installed'}",
                path=f"media_policy.{kind}",
                hint=did_you_mean(near) if near else None,
            )


def usable_fallbacks(
    handler: MediaHandler | None, policy: str, profile: ModelProfile, configured: Set[str]
) -> tuple[tuple[Fallback, ...], tuple[str, ...]]:
    """Returns the fallbacks that a policy allows, the preferred one first, and what the model accepts of their outputs.

    `configured` are the names of the options that are set: without the one that it needs, a fallback is not usable.
    """
    allowed = allowed_fallbacks(handler, policy, configured)
    given = outputs_of(allowed)
    accepted = {output for output in given if _accepts(profile, output, only_natively="text" not in given)}
    possible = [each for each in allowed if each.needs is None or each.needs in configured]
    usable = tuple(fallback for fallback in possible if fallback.outputs & accepted)
    return usable, tuple(sorted(outputs_of(usable) & accepted))


def allowed_fallbacks(
    handler: MediaHandler | None, policy: str, configured: Set[str] = frozenset()
) -> Sequence[Fallback]:
    """Returns the fallbacks of a handler that a policy allows: the one that it names, or all, first those that the
    `configured` options prefer.
    """
    fallbacks = handler.fallbacks if handler is not None else ()
    is_rule = policy in MEDIA_RULES
    ordinary = [each for each in fallbacks if each.preferred_with is None]
    preferred = [
        each
        for each in fallbacks
        if each.preferred_with is not None and (each.preferred_with in configured if is_rule else each.name == policy)
    ]
    if is_rule or preferred:
        return [*preferred, *ordinary]
    return [each for each in ordinary if each.name == policy]


def outputs_of(fallbacks: Sequence[Fallback]) -> set[str]:
    """Returns what conversions by these fallbacks may contain."""
    return {output for fallback in fallbacks for output in fallback.outputs}


def _accepts(profile: ModelProfile, output: str, *, only_natively: bool) -> bool:
    kind = media_kind_of(output)
    return (
        output == "text"
        or profile.supports(kind, output)
        or profile.may_support(kind, output, only_natively=only_natively)
    )


def makes_images(decision: MediaDecision) -> bool:
    """Returns whether the conversion of a file may hold images."""
    return decision.route == "fallback" and any(media_kind_of(output) == "image" for output in decision.outputs)
