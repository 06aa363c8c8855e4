"""Errors for files that cannot be sent, with what the user can do about them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import MediaError, UnsupportedContentError
from ..ports import MediaHandler
from ..schema import (
    MEDIA_RULES,
    ModelCall,
    media_kind_of,
)
from .policies import allowed_fallbacks, outputs_of

if TYPE_CHECKING:
    from ..ports import Fallback
    from ..schema import MediaDecision


def refused(decision: MediaDecision, call: ModelCall, why: str, choices: Sequence[str]) -> UnsupportedContentError:
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
    """Returns what the user can do about a refused file.

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
        raise refused(decision, call, why, possible)
    reason = f"{why}, so the {handler.name} handler converts it to {' and '.join(outputs)}"
    left_out = outputs_of(allowed_fallbacks(handler, policy, configured)) - set(outputs)
    if left_out and "text" not in outputs:
        reason += f"; {not_taken(handler, left_out, call.model)}"
    return replace(decision, route="fallback", reason=reason, stored=None)
