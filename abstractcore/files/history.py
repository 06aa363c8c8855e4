"""Files of earlier turns become text, where `media_history` says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..schema import MediaDecision, MediaKind
from .alternatives import Alternatives
from .policies import makes_images


def lower_history(
    decision: MediaDecision, histories: Mapping[MediaKind, str], alternatives: Alternatives
) -> MediaDecision:
    """Returns the decision for a file that is to be text after its turn; one that cannot be text stays. Pure."""
    if histories.get(decision.kind, "keep") != "text" or not alternatives.is_earlier(decision):
        return decision
    if decision.route != "native" and not makes_images(decision):
        return decision
    if not alternatives.can_be_text(decision):
        return stays(decision, "nothing here converts it to text")
    why = "it is of an earlier turn, and media_history is 'text'"
    return alternatives.as_text(decision, why, "history")


def stays(decision: MediaDecision, why: str) -> MediaDecision:
    """Returns the decision for a file of an earlier turn that cannot be text."""
    reason = f"{decision.reason}; it is of an earlier turn, and stays although media_history is 'text': {why}"
    return replace(decision, reason=reason)
