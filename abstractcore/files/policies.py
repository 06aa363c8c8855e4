"""What the policies for kinds of files allow: the fallbacks that may be used, and errors for files that cannot be sent,
with what the user can do about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InvalidInputError, MediaError, UnsupportedContentError
from ..ports import MediaHandler, ModelProfile
from ..registry import did_you_mean, nearest_names
from ..schema import MEDIA_RULES, ModelCall, media_kind_of
from ..schema.base_error import shown

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
    handler: MediaHandler | None, policy: str, profile: ModelProfile, configured: Set[str], media_type: str
) -> tuple[tuple[Fallback, ...], tuple[str, ...]]:
    """Returns the fallbacks that a policy allows for a file, the preferred one first, and what the model accepts of
    their outputs.

    `configured` are the names of the options that are set: without the one that it needs, a fallback is not usable. One
    that makes a type of the model's is only usable for another type, unless no other fallback is.
    """
    allowed = allowed_fallbacks(handler, policy, configured)
    given = outputs_of(allowed)
    accepted = {output for output in given if _accepts(profile, output, only_natively="text" not in given)}
    possible = [each for each in allowed if each.needs is None or each.needs in configured]
    usable = tuple(fallback for fallback in possible if fallback.outputs & accepted)
    usable = tuple(fallback for fallback in usable if media_type not in fallback.outputs & accepted) or usable
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
    """Returns the kinds that conversions by these fallbacks may contain."""
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


def refusal(decision: MediaDecision, call: ModelCall, why: str, choices: Sequence[str]) -> UnsupportedContentError:
    """Returns the error for a file that the model or the policy does not allow."""
    return UnsupportedContentError(
        f"{decision.source} ({decision.type}, {decision.part_path}) cannot be sent: {why}.",
        hint=f"You can {', or '.join(choices)}.",
        provider=call.provider or None,
        model=call.model,
    )


def not_at_hand(decision: MediaDecision, call: ModelCall) -> MediaError:
    """Returns the error for a file that must be converted, and is elsewhere."""
    error = MediaError(
        f"{decision.source} ({decision.part_path}) is only at the provider, and cannot be sent natively: "
        f"{decision.reason}.",
        source=decision.source,
        hint="Pass the path of the file, or its URL without fetch='vendor'.",
    )
    error.provider, error.model = call.provider or None, call.model
    return error


def choices(
    decision: MediaDecision,
    handler: MediaHandler | None,
    *,
    native: bool,
    instead: Sequence[str],
    configured: Set[str],
    may_be_wrong: bool = False,
) -> list[str]:
    """Returns a hint for a refused file.

    `native` says whether the model accepts it, `instead` are accepted types. `may_be_wrong` is True if the profile of
    the model may be wrong.
    """
    found = [f"convert it to {', '.join(instead)}"] if instead else []
    fallbacks = handler.fallbacks if handler is not None else ()
    if not native and not instead:
        types = sorted({media_kind_of(given) for each in fallbacks for given in each.outputs if given != "text"})
        found.append(f"choose a model that accepts {' or '.join(dict.fromkeys([decision.kind, *types]))}")
    if may_be_wrong:
        what = decision.type if instead or decision.kind in ("document", "text") else decision.kind
        found.append(f"declare that this model accepts it with create_llm(..., accepts=[{what!r}])")
    if native:
        found.append(f"allow it with media_policy={{{decision.kind!r}: 'auto'}}")
    elif decision.outputs and handler is not None:
        found.append(
            f"let the {handler.name} handler convert it to {' and '.join(decision.outputs)} "
            f"with media_policy={{{decision.kind!r}: 'auto'}}"
        )
    else:
        needed = dict.fromkeys(each.needs for each in fallbacks if each.needs and each.needs not in configured)
        found += [f"set {name}=..., which the {decision.kind} handler needs" for name in needed]
        found.append("describe it in the prompt")
    return [*found, "leave the file out"]


def why_not_converted(handler: MediaHandler, policy: str, model: str, configured: Set[str]) -> str:
    """Returns why no fallback of a handler is usable, as the end of a sentence."""
    allowed = allowed_fallbacks(handler, policy, configured)
    if not allowed:
        none = policy in MEDIA_RULES
        return "" if none else f", and the {handler.name} handler has no fallback of this name"
    needs = [each for each in allowed if each.needs is not None and each.needs not in configured]
    if len(needs) == len(allowed):
        return ", and " + " and ".join(f"the fallback {each.name!r} needs {each.needs}=..." for each in needs)
    return f", and {not_taken(handler, outputs_of(allowed), model)}"


def not_taken(handler: MediaHandler, left_out: Set[str], model: str) -> str:
    """Returns a clause that names outputs of a handler that the model does not accept."""
    given = ", ".join(sorted(left_out))
    return f"{model} does not accept {given}, which the {handler.name} handler can convert it to"


def with_fallbacks(decision: MediaDecision, usable: Sequence[Fallback], outputs: tuple[str, ...]) -> MediaDecision:
    """Returns the decision with the fallbacks that may be used, the preferred one first."""
    names = tuple(fallback.name for fallback in usable)
    return replace(decision, fallback=names[0] if names else None, alternatives=names[1:], outputs=outputs)


def converted_decision(
    decision: MediaDecision,
    call: ModelCall,
    handler: MediaHandler | None,
    why: str,
    instead: Sequence[str],
    configured: Set[str],
    *,
    may_be_wrong: bool = False,
) -> MediaDecision:
    """Returns the decision to convert a file by its fallbacks; raises `UnsupportedContentError` if it has none."""
    policy, outputs = decision.policy, decision.outputs
    if handler is None or not outputs:
        if handler is not None:
            why += why_not_converted(handler, policy, call.model, configured)
        possible = choices(
            decision, handler, native=False, instead=instead, configured=configured, may_be_wrong=may_be_wrong
        )
        raise refusal(decision, call, why, possible)
    reason = f"{why}, so the {handler.name} handler converts it to {' and '.join(outputs)}"
    left_out = outputs_of(allowed_fallbacks(handler, policy, configured)) - set(outputs)
    if left_out and "text" not in outputs:
        reason += f"; {not_taken(handler, left_out, call.model)}"
    return replace(decision, route="fallback", reason=reason, stored=None)
