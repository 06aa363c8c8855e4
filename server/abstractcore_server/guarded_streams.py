"""`GuardedStream`: a streamed answer, of which guards see each part before it is sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeAlias, cast

from abstractcore.ports import part_with_texts
from abstractcore.schema import (
    EMPTY,
    Delta,
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
    UsageDelta,
    accumulate,
    deltas_of,
)

from .guard_decisions import GuardDecision
from .guarding import Guarding
from .guards import ConnectedGuard
from .passthrough import Relay
from .text_windows import TextWindow

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
            released += await self._released(batch)
            if not all(isinstance(delta, _BEGINNINGS) for delta in released):
                break
        return released

    async def _released(self, batch: Sequence[StreamEvent]) -> list[Delta]:
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
        """Returns what may go on. All has gone on once the end of the reply has."""
        ...


def _step(guarding: Guarding, guard: ConnectedGuard) -> _Step:
    decision = guarding.decision(guard, "stream")
    return (_WholeStep if guard.check_text is None else _TextStep)(guarding, guard, decision)


class _WholeStep:
    """Holds a stream back to its end, for a guard that looks at whole replies only."""

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
            part = await self._checked(item.part, item.block)
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
            checked = cast("ToolCall", await self._checked(call, block))
            if checked is not call:
                changed[block] = checked.arguments_text
        return changed

    async def _checked(self, part: Part, block: int) -> Part:
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
