"""What a backend has made, as guards of answers see and leave it: files, or a transcript as one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, cast

from abstractcore.ports import Edit, TextPiece
from abstractcore.schema import BackendFacts, MediaPart, MediaResult, ModelReply, TextPart, Transcript, TranscriptResult

from .edited_transcripts import edited
from .guard_decisions import GuardDecision
from .guarding import Guarding, accepted_reply
from .guards import ConnectedGuard, GuardFailure

F = TypeVar("F", bound=BackendFacts)


async def guarded_result(guarding: Guarding, result: F) -> F:
    """Returns a result as guards leave it, with their warnings; raises `RequestRefused`."""
    if isinstance(result, TranscriptResult):
        transcript = await _guarded_transcript(guarding, result.transcript)
        result = cast("F", replace(result, transcript=transcript))
    elif isinstance(result, MediaResult):
        files = await _guarded_files(guarding, cast("MediaResult[MediaPart]", result))
        result = cast("F", files)
    return replace(result, warnings=(*result.warnings, *guarding.warnings))


async def _guarded_files(guarding: Guarding, result: MediaResult[MediaPart]) -> MediaResult[MediaPart]:
    """Shows files to the guards that look at whole replies: no other sees more than texts."""
    reply = ModelReply(result.parts, "stop")
    for guard in guarding.of_replies:
        if guard.check_reply is not None:
            reply = await guarding.checked_reply(guard, guarding.decision(guard, "reply"), reply, _accepted_files)
    return replace(result, parts=cast("tuple[MediaPart, ...]", reply.parts))


def _accepted_files(verdict: object, reply: ModelReply) -> ModelReply | None:
    accepted = accepted_reply(verdict, reply)
    kind = type(reply.parts[0])
    parts = () if accepted is None else accepted.parts
    if accepted is not None and not (parts and all(type(part) is kind for part in parts)):
        raise GuardFailure(f"check_reply returned other parts than {kind.__name__}")
    for part in parts:
        cast("MediaPart", part).blob.read()  # raises for content that is elsewhere
    return accepted


async def _guarded_transcript(guarding: Guarding, transcript: Transcript) -> Transcript:
    for guard in guarding.of_replies:
        if not transcript.text:
            break
        edits = await _edits(guarding, guard, guarding.decision(guard, "reply"), transcript.text)
        transcript = edited(transcript, edits) if edits else transcript
    return transcript


async def _edits(guarding: Guarding, guard: ConnectedGuard, decision: GuardDecision, text: str) -> Sequence[Edit]:
    """Returns what a guard changes in the text of a transcript; raises `RequestRefused`."""
    reply = ModelReply((TextPart(text),), "stop")
    if guard.check_reply is not None:
        changed = await guarding.checked_reply(guard, decision, reply, _accepted_text)
        return () if changed is reply else [_difference(text, changed.text)]
    edits = await guarding.edits(guard, decision, TextPiece(text, "text", is_last=True))
    if edits:
        decision.add_changes(("parts[0].text",))
    return edits


def _accepted_text(verdict: object, reply: ModelReply) -> ModelReply | None:
    accepted = accepted_reply(verdict, reply)
    if accepted is not None and not all(isinstance(part, TextPart) for part in accepted.parts):
        raise GuardFailure("check_reply returned other parts than the text of a transcript")
    return accepted


def _difference(before: str, after: str) -> Edit:
    """Returns the edit of a text from the first character that differs to the last one."""
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    return Edit(start, len(before) - end, after[start : len(after) - end])


def _same(one: str, other: str) -> int:
    """Returns how many characters at the beginning of two texts are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
