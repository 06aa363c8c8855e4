"""Writes the deltas of one streamed reply: numbered in order, with no half of a character in their texts."""

from __future__ import annotations

from typing import TypeAlias

from abstractcore.schema import (
    NO_OPTIONS,
    Citation,
    Delta,
    FinishReason,
    Part,
    PartDelta,
    ProviderOptions,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    freeze_object,
)

from .json_reading import Object
from .surrogates import WaitingHalves

Piece: TypeAlias = type[TextDelta] | type[ReasoningDelta] | type[ToolCallDelta]
"""The kind of a block, as the delta that holds a piece of it."""


class DeltaWriter:
    """Gathers deltas until they are taken.

    Blocks may be open side by side. Where one text or reasoning is open at a time, `add_current` opens and ends them.
    A decoder that makes the delta of a piece by itself, for speed, gives it the number `sequence` and raises that.
    """

    __slots__ = ("_deltas", "_kinds", "current", "halves", "open", "origin", "sequence")

    def __init__(self, origin: str | None = None) -> None:
        self.sequence = 0
        """The number of the next delta."""
        self.origin = origin
        """The model that reasoning belongs to, as "provider/model"."""
        self.halves = WaitingHalves()
        self.open: dict[int, Piece] = {}
        """The kinds of the blocks that have begun and not ended, in the order in which they began."""
        self.current: int | None = None
        """The block that `add_current` has open."""
        self._kinds: dict[int, Piece] = {}
        self._deltas: list[Delta] = []

    def take(self) -> list[Delta]:
        """The deltas written since the last time."""
        deltas, self._deltas = self._deltas, []
        return deltas

    def start_reply(self, model: str | None, provider: str, id: str | None = None) -> None:
        """The reply begins."""
        self._deltas.append(ReplyStart(self._number(), model, provider, id))

    def end_reply(self, reason: FinishReason, raw: str | None, metadata: Object) -> None:
        """The reply is over; raises `SchemaError` for metadata that the schema does not take."""
        frozen = freeze_object(metadata, "provider_metadata")
        self._deltas.append(ReplyEnd(self._number(), reason, raw, frozen))

    def count(self, usage: Usage) -> None:
        """The tokens so far."""
        self._deltas.append(UsageDelta(self._number(), usage))

    def start_text(self, block: int, options: ProviderOptions = NO_OPTIONS) -> None:
        """A block of text begins, or goes on after its end."""
        self.open[block] = self._kinds[block] = TextDelta
        self._deltas.append(TextStart(self._number(), block, options))

    def start_reasoning(self, block: int) -> None:
        """A block of reasoning begins."""
        self.open[block] = self._kinds[block] = ReasoningDelta
        self._deltas.append(ReasoningStart(self._number(), block, self.origin))

    def start_call(self, block: int, id: str, name: str, options: ProviderOptions = NO_OPTIONS) -> None:
        """A tool call begins."""
        self.open[block] = self._kinds[block] = ToolCallDelta
        self._deltas.append(ToolCallStart(self._number(), block, id, name, options))

    def resume_call(self, block: int) -> None:
        """A tool call goes on after its end."""
        self.open[block] = ToolCallDelta

    def add(self, block: int, text: str) -> None:
        """More of a block that has begun. The first half of a character waits for the block's next text."""
        self.write(block, self.halves.mend(block, text))

    def flush(self, block: int) -> None:
        """U+FFFD for half a character that waits in a block."""
        self.write(block, self.halves.rest(block))

    def write(self, block: int, text: str) -> None:
        """More of a block that has begun, in whole characters. Text that comes after a block's end is not lost."""
        if text:
            self._deltas.append(self._kinds[block](self._number(), block, text))

    def end(self, block: int) -> None:
        """An open block is over, with nothing more to say of it."""
        kind = self.open[block]
        if kind is TextDelta:
            self.end_text(block)
        elif kind is ReasoningDelta:
            self.end_reasoning(block)
        else:
            self.end_call(block)

    def end_text(self, block: int, citations: tuple[Citation, ...] = ()) -> None:
        """A block of text is over."""
        self.open.pop(block, None)
        self._deltas.append(TextEnd(self._number(), block, citations))

    def end_reasoning(self, block: int, signature: str | None = None, redacted: str | None = None) -> None:
        """A block of reasoning is over."""
        self.open.pop(block, None)
        self._deltas.append(ReasoningEnd(self._number(), block, signature, redacted))

    def end_call(self, block: int, signature: str | None = None) -> None:
        """A tool call is over."""
        self.open.pop(block, None)
        self._deltas.append(ToolCallEnd(self._number(), block, signature))

    def cite(self, block: int, citations: tuple[Citation, ...]) -> None:
        """Citations of a text that has ended."""
        self.start_text(block)
        self.end_text(block, citations)

    def part(self, block: int, part: Part) -> None:
        """A whole part."""
        self._deltas.append(PartDelta(self._number(), block, part))

    def add_current(self, block: int, kind: Piece, text: str) -> None:
        """More text or reasoning. A block begins with its first whole character, which ends the current one."""
        self._add_current(block, kind, self.halves.mend(block, text))

    def flush_current(self, block: int, kind: Piece) -> None:
        """U+FFFD for half a character that waits in a block of `add_current`, begun or not."""
        self._add_current(block, kind, self.halves.rest(block))

    def end_current(self) -> None:
        """The current block, if there is one, is over."""
        if self.current is not None:
            block, self.current = self.current, None
            self.end(block)

    def _add_current(self, block: int, kind: Piece, text: str) -> None:
        if not text:
            return
        if self.current != block:
            self.end_current()
            self.current = block
            if kind is TextDelta:
                self.start_text(block)
            else:
                self.start_reasoning(block)
        self.write(block, text)

    def _number(self) -> int:
        self.sequence += 1
        return self.sequence - 1
