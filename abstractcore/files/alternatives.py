"""What else a file may become: its text, also because it is of an earlier turn; a file of the provider's store; or a
note that it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..ports import MediaHandler, ModelProfile
from ..schema import MEDIA_RULES, CallWarning, MediaDecision, MediaKind, MediaPart, ModelCall
from .parts import can_be_read, handler_for, message_index
from .policies import choices, converted_decision, makes_images, refusal, usable_fallbacks, with_fallbacks

if TYPE_CHECKING:
    from ..schema import MediaDecision
    from .contents import MadeFiles

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
            raise refusal(decision, self.call, why, possible)
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
        usable, _ = usable_fallbacks(handler, "auto", self.profile, self.configured, decision.type)
        to_text = [fallback for fallback in usable if "text" in fallback.outputs]
        named = [fallback for fallback in to_text if fallback.name == decision.policy]
        return to_text if decision.policy in MEDIA_RULES else named or to_text


def _unsent(decision: MediaDecision) -> MediaDecision:
    """Returns a decision without how the file itself would be sent."""
    return replace(decision, fit=_NOTHING, fetch=None, stored=None)


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


def store_all(
    call: ModelCall,
    decisions: Sequence[MediaDecision],
    parts: Mapping[str, MediaPart],
    profile: ModelProfile,
    made: MadeFiles | None,
) -> list[MediaDecision]:
    """Returns the decisions of a call with `file_store="always"`: all files that can be stored are, those at URLs when
    they were downloaded.
    """

    def size(decision: MediaDecision) -> int | None:
        content = None if made is None else made.contents.get(decision.part_path)
        return parts[decision.part_path].blob.size if content is None else content.other_bytes + sum(content.images)

    def stored(decision: MediaDecision) -> MediaDecision:
        is_new = decision.stored is None and (made is None or decision.fetch == "us")
        part = parts[decision.part_path]
        if not is_new or not can_be_stored(decision, part, call, profile, size(decision)):
            return decision
        return to_store(decision, "file_store is 'always'")

    return list(map(stored, decisions))


def can_be_stored(
    decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile, size: int | None
) -> bool:
    """Returns whether a file of `size` bytes can be uploaded and named by id: one that is sent natively, and is at hand
    or was downloaded here.
    """
    limit, blob = profile.stored_bytes, part.blob
    if limit is None or call.file_store == "never" or decision.route != "native" or size is None:
        return False
    is_at_hand = blob.form in ("bytes", "file", "artifact") or (blob.form == "url" and decision.fetch == "us")
    return is_at_hand and 0 < size <= limit and profile.accepts_id(decision.kind, blob.media_type)


def to_store(decision: MediaDecision, why: str) -> MediaDecision:
    """Returns the decision to upload a file, for a reason."""
    reason = f"{decision.reason}; {why}, so it is uploaded to the provider's file store"
    return replace(decision, stored="planned", reason=reason)


def no_store(call: ModelCall, decisions: Sequence[MediaDecision], profile: ModelProfile) -> list[CallWarning]:
    """Returns a warning if a call wants its files to be stored, and the provider has no store for them."""
    if profile.stored_bytes is not None or not any(each.route == "native" for each in decisions):
        return []
    message = f"no files are stored at {call.provider or call.model}: they are part of the request"
    return [CallWarning("no_effect", "file_store", message, call.file_store)]
