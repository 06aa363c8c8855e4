"""What guards see of a stream as it comes, and of what a backend has made."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeAlias, TypeVar, cast

from abstractcore.ports import Edit, TextPiece, part_with_texts
from abstractcore.schema import (
    EMPTY,
    BackendFacts,
    Delta,
    MediaPart,
    MediaResult,
    ModelReply,
    Part,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    Transcript,
    TranscriptResult,
    TranscriptSegment,
    UsageDelta,
    accumulate,
    deltas_of,
)

from ..calls.passthrough import Relay
from .content_guards import ConnectedGuard, GuardDecision, GuardFailure, TextWindow
from .guarding import Guarding, accepted_reply

_BEGINNINGS = (ReplyStart, TextStart, ReasoningStart, UsageDelta)
_Item: TypeAlias = Delta | bytes
"""A delta, or the bytes that the provider has sent for the deltas before them."""


class EventSource(Protocol):
    """The stream of a call, or of all its rounds."""

    async def read(self) -> Sequence[StreamEvent]:
        """Returns the next events; none at the end."""
        ...


class GuardedStream:
    """The deltas of an answer that may be sent, read as those of `stream`. With `is_read_only`, its guards change
    nothing: the provider's bytes may be passed on, by `take_events`.
    """

    def __init__(self, stream: EventSource, relay: Relay, guarding: Guarding) -> None:
        self._stream = stream
        self._relay = relay
        asked = guarding.of_replies
        self.is_read_only = all(guard.read_only for guard in asked)
        self._steps = [_step(guarding, guard) for guard in asked]
        self._bytes: list[bytes] = []

    async def read(self) -> list[Delta]:
        """Returns the next deltas that may be sent; an empty list at the end. Raises `RequestRefused`.

        Beginnings wait for what they begin: an answer that is refused before has a status of its own.
        """
        released: list[Delta] = []
        while batch := await self._stream.read():
            released += await self._allowed_deltas(batch)
            if not all(isinstance(delta, _BEGINNINGS) for delta in released):
                break
        return released

    async def _allowed_deltas(self, batch: Sequence[StreamEvent]) -> list[Delta]:
        items: list[_Item] = [*cast("Sequence[Delta]", batch)]  # a call given as data has no tools that run here
        if self.is_read_only and self._relay.is_untouched:
            items.append(self._relay.take_events())
        for step in self._steps:
            items = await step.feed(items)
        self._bytes += [item for item in items if isinstance(item, bytes)]
        return [item for item in items if not isinstance(item, bytes)]

    def take_events(self) -> bytes:
        """Returns the provider's bytes for the deltas that were returned since the last time."""
        taken, self._bytes = b"".join(self._bytes), []
        return taken

    def take_rest(self) -> bytes:
        """Returns all that is left of the provider's bytes, once the stream has ended."""
        return self.take_events() + self._relay.take_rest()


class _Step(Protocol):
    """One guard of a stream."""

    async def feed(self, items: Sequence[_Item]) -> list[_Item]:
        """Returns the items that the next step gets, all of them once it gets the end of the reply."""
        ...


def _step(guarding: Guarding, guard: ConnectedGuard) -> _Step:
    decision = guarding.decision(guard, "stream")
    return (_WholeStep if guard.check_text is None else _TextStep)(guarding, guard, decision)


class _WholeStep:
    """Holds a stream back to its end, for a guard that checks whole replies only."""

    def __init__(self, guarding: Guarding, guard: ConnectedGuard, decision: GuardDecision) -> None:
        self._guarding = guarding
        self._guard = guard
        self._decision = decision
        self._held: list[_Item] = []

    async def feed(self, items: Sequence[_Item]) -> list[_Item]:
        self._held += items
        if not any(isinstance(item, ReplyEnd) for item in items):
            return []
        held, self._held = self._held, []
        reply = accumulate(item for item in held if not isinstance(item, bytes))
        changed = await self._guarding.checked_reply(self._guard, self._decision, reply)
        if changed is reply:
            return held
        self._guarding.receipt.add_reply_changes(self._decision.changed)
        return [*deltas_of(changed)]


class _TextStep:
    """Shows texts to a guard as they come, each through a window. From its first tool call on, an answer is held back
    to its end: arguments can be read when they are complete, and nobody acts on them before.
    """

    def __init__(self, guarding: Guarding, guard: ConnectedGuard, decision: GuardDecision) -> None:
        self._guarding = guarding
        self._guard = guard
        self._decision = decision
        self._windows: dict[int, TextWindow] = {}
        self._held: list[_Item] = []
        """What came since the first tool call began."""
        self._marks: deque[tuple[bytes, list[tuple[TextWindow, int]]]] = deque()
        """Bytes, each with how much of which window has to be released before them."""
        self._out: list[_Item] = []

    async def feed(self, items: Sequence[_Item]) -> list[_Item]:
        for item in items:
            if isinstance(item, ReplyEnd):
                await self._release_all()
                self._out.append(replace(item, provider_metadata=EMPTY) if self._decision.changed else item)
            elif self._held or isinstance(item, ToolCallStart):
                self._held.append(item)
            else:
                await self._pass(item)
        if self._has_failed:
            await self._release_all()
        for block in self._windows:
            await self._release(block, is_last=False)
        self._pass_bytes()
        out, self._out = self._out, []
        return out

    @property
    def _has_failed(self) -> bool:
        """Whether the guard has failed, and the stream goes on without it."""
        return self._decision.outcome == "failed_open"

    async def _pass(self, item: _Item) -> None:
        """Passes an item on, a text as far as it may be."""
        if isinstance(item, TextDelta | ReasoningDelta):
            self._window(item).feed(item.text)
        elif isinstance(item, TextStart | ReasoningStart):
            self._window(item)
            self._out.append(item)
        elif isinstance(item, TextEnd | ReasoningEnd):
            await self._release(item.block, is_last=True)
            self._out.append(self._end(item))
        elif isinstance(item, PartDelta):
            part = await self._check_part(item.part, item.block)
            if isinstance(part, TextPart):  # of sound that said something else
                block, text = item.block, part.text
                self._out += [TextStart(0, block), TextDelta(0, block, text), TextEnd(0, block)] if text else []
            else:
                self._out.append(item if part is item.part else replace(item, part=part))
        elif isinstance(item, bytes):
            waits = [(window, window.fed) for window in self._windows.values() if not window.is_empty]
            self._marks.append((item, waits))
        else:
            self._out.append(item)

    def _window(self, item: TextDelta | ReasoningDelta | TextStart | ReasoningStart) -> TextWindow:
        if item.block not in self._windows:
            kind = "text" if isinstance(item, TextDelta | TextStart) else "reasoning"
            self._windows[item.block] = TextWindow(kind, self._guard.hold_back)
        return self._windows[item.block]

    def _end(self, item: TextEnd | ReasoningEnd) -> TextEnd | ReasoningEnd:
        """Returns the end of a block; what is about its text is left out if that was changed."""
        window = self._windows.get(item.block)
        if window is None or not window.is_changed:
            return item
        if isinstance(item, TextEnd):
            return replace(item, citations=())
        return replace(item, signature=None, redacted_data=None)

    async def _release(self, block: int, *, is_last: bool) -> None:
        """Passes on what may be sent of a text."""
        window = self._windows.get(block)
        if window is None or window.is_empty or not (is_last or window.is_fresh):
            return
        edits = await self._guarding.edits(self._guard, self._decision, window.piece(is_last=is_last))
        text = window.release(edits, is_last=is_last or self._has_failed)
        if window.is_changed:
            self._note_change(f"blocks[{block}].text")
        if text:
            delta = TextDelta if window.kind == "text" else ReasoningDelta
            self._out.append(delta(0, block, text))

    async def _release_all(self) -> None:
        """Passes on all that is held back."""
        held, self._held = self._held, []
        changed = await self._changed_arguments(held)
        for item in held:
            if isinstance(item, ToolCallDelta) and item.block in changed:
                text, changed[item.block] = changed[item.block], ""
                self._out += [replace(item, arguments_text=text)] if text else []
            else:
                await self._pass(item)
        for block in self._windows:
            await self._release(block, is_last=True)

    async def _changed_arguments(self, held: Sequence[_Item]) -> dict[int, str]:
        """Returns the arguments of the tool calls that the guard changes, by block."""
        texts: dict[int, list[str]] = {}
        for item in held:
            if isinstance(item, ToolCallDelta):
                texts.setdefault(item.block, []).append(item.arguments_text)
        changed: dict[int, str] = {}
        for block, pieces in texts.items():
            call = ToolCall("call", "tool", "".join(pieces))
            checked = cast("ToolCall", await self._check_part(call, block))
            if checked is not call:
                changed[block] = checked.arguments_text
        return changed

    async def _check_part(self, part: Part, block: int) -> Part:
        """Returns a whole part as the guard leaves it."""
        apply = partial(part_with_texts, part)
        checked = await self._guarding.checked_texts(self._guard, self._decision, apply)
        if checked is not part:
            self._note_change(f"blocks[{block}]")
        return checked

    def _note_change(self, path: str) -> None:
        if path not in self._decision.changed:
            self._decision.add_changes((path,))
            self._guarding.receipt.add_reply_changes((path,))

    def _pass_bytes(self) -> None:
        """Passes on the bytes whose texts were released."""
        while self._marks and all(window.released >= fed for window, fed in self._marks[0][1]):
            self._out.append(self._marks.popleft()[0])


def edited_transcript(transcript: Transcript, edits: Sequence[Edit]) -> Transcript:
    """Returns a transcript with edits of `transcript.text`, which are in order.

    Segments that one edit touches become one, with the time of all of them and the first speaker. A changed segment has
    no words and probabilities, which are those of the text as it was; one without any text is left out.
    """
    segments = transcript.segments
    ends = [
        after - 1 for after in itertools.accumulate(len(each.text) + 1 for each in segments)
    ]  # spaces are between them
    starts = [end - len(each.text) for end, each in zip(ends, segments, strict=True)]
    kept: list[TranscriptSegment] = []
    following = 0
    for first, last, inside in _groups(edits, starts, ends):
        kept += segments[following:first]
        text = _apply_edits(transcript.text, starts[first], ends[last], inside)
        if text.strip():
            end = segments[last].end
            begin = None if end is None else segments[first].start
            kept.append(TranscriptSegment(text, begin, None if begin is None else end, speaker=segments[first].speaker))
        following = last + 1
    return replace(transcript, segments=(*kept, *segments[following:]))


def _groups(edits: Sequence[Edit], starts: Sequence[int], ends: Sequence[int]) -> list[tuple[int, int, list[Edit]]]:
    """Returns the segments, from the first to the last one, that become one by some edits."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        first, last = bisect_left(ends, edit.start), bisect_right(starts, edit.end) - 1
        if groups and first <= groups[-1][1]:
            begin, end, inside = groups.pop()
            inside.append(edit)
            groups.append((begin, max(end, last), inside))
        else:
            groups.append((first, last, [edit]))
    return groups


def _apply_edits(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """Returns a text from `start` to `end`, changed by edits in it."""
    pieces: list[str] = []
    for edit in edits:
        pieces += (text[start : edit.start], edit.text)
        start = edit.end
    return "".join((*pieces, text[start:end]))


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
        transcript = edited_transcript(transcript, edits) if edits else transcript
    return transcript


async def _edits(guarding: Guarding, guard: ConnectedGuard, decision: GuardDecision, text: str) -> Sequence[Edit]:
    """Returns the edits of a guard in the text of a transcript; raises `RequestRefused`."""
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
