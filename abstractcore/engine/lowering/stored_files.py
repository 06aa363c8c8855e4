"""Which files go to the provider's file store, instead of into the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...ports import ModelProfile
from ...schema import CallWarning, MediaPart, ModelCall

if TYPE_CHECKING:
    from ...schema import MediaDecision


def store_all(
    call: ModelCall, decisions: Sequence[MediaDecision], parts: Mapping[str, MediaPart], profile: ModelProfile
) -> list[MediaDecision]:
    """Returns the decisions of a call with `file_store="always"`: all files that can be stored are."""
    why = "file_store is 'always'"
    return [
        to_store(each, why) if can_be_stored(each, parts[each.part_path], call, profile) else each for each in decisions
    ]


def can_be_stored(decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile) -> bool:
    """Returns whether a file can be uploaded and named by id: one that is sent natively, and whose size is known."""
    limit, blob = profile.stored_bytes, part.blob
    if limit is None or call.file_store == "never" or decision.route != "native":
        return False
    is_at_hand = blob.form in ("bytes", "file", "artifact") and blob.size is not None
    return is_at_hand and (blob.size or 0) <= limit and profile.accepts_id(decision.kind, blob.media_type)


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
