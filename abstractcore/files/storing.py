"""Which files go to the provider's file store, instead of into the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ports import ModelProfile
from ..schema import CallWarning, MediaPart, ModelCall

if TYPE_CHECKING:
    from ..schema import MediaDecision
    from .contents import MadeFiles


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
