"""What else a file may become: its text, or a note that it is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from ..ports import MediaHandler, ModelProfile
from ..schema import MEDIA_RULES, MediaDecision, MediaPart, ModelCall
from .parts import can_be_read, handler_for, message_index
from .policies import usable_fallbacks
from .refusals import choices, converted_decision, refused, with_fallbacks

_NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The alternatives of the files of a call. The current turn begins at the message `turn`; `configured` are the
    names of the options for fallbacks that are set.
    """

    call: ModelCall
    parts: Mapping[str, MediaPart]
    profile: ModelProfile
    handlers: Sequence[MediaHandler]
    configured: Set[str]
    turn: int

    def is_earlier(self, decision: MediaDecision) -> bool:
        """Returns whether a file is of an earlier turn."""
        return message_index(decision.part_path) < self.turn

    def handler(self, decision: MediaDecision) -> MediaHandler | None:
        """Returns the handler of a file."""
        return handler_for(self.parts[decision.part_path], self.handlers)[0]

    def can_be_text(self, decision: MediaDecision) -> bool:
        """Returns whether a fallback makes text of a file, and its content can be read here."""
        return can_be_read(self.parts[decision.part_path]) and bool(self._text_fallbacks(decision))

    def as_text(self, decision: MediaDecision, why: str, because: Literal["history", "limits"]) -> MediaDecision:
        """Returns the decision to convert a file to text alone. If that makes room and is not possible, a file of an
        earlier turn is left out.

        Raises `UnsupportedContentError` for other files that cannot be text, and, to make room, for the policy
        "native".
        """
        handler = self.handler(decision)
        if because == "limits" and decision.policy == "native":
            possible = choices(decision, handler, native=True, instead=(), configured=self.configured)
            raise refused(decision, self.call, why, possible)
        if because == "limits" and self.is_earlier(decision) and not self.can_be_text(decision):
            return self.left_out(decision, why)
        usable = self._text_fallbacks(decision)
        outputs = ("text",) if usable else ()
        plain = replace(_unsent(with_fallbacks(decision, usable, outputs)), native_loss="")
        rerouted = converted_decision(plain, self.call, handler, why, (), self.configured)
        return replace(rerouted, text_because=because)

    def left_out(self, decision: MediaDecision, why: str) -> MediaDecision:
        """Returns the decision to send a note instead of a file."""
        noted = _unsent(with_fallbacks(decision, (), ()))
        reason = f"{why}, so a note stands in its place"
        return replace(noted, route="left_out", reason=reason, text_because="limits")

    def _text_fallbacks(self, decision: MediaDecision):
        """Returns the fallbacks that make text of a file: the one that the policy names, or all."""
        handler = self.handler(decision)
        usable, _ = usable_fallbacks(handler, "auto", self.profile, self.configured)
        to_text = [fallback for fallback in usable if "text" in fallback.outputs]
        named = [fallback for fallback in to_text if fallback.name == decision.policy]
        return to_text if decision.policy in MEDIA_RULES else named or to_text


def _unsent(decision: MediaDecision) -> MediaDecision:
    """Returns a decision without how the file itself would be sent."""
    return replace(decision, fit=_NOTHING, fetch=None, stored=None)
