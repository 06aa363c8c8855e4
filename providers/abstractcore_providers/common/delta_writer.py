"""Writes the deltas of one streamed reply: numbered in order, without lone surrogates in their texts.

Collects what belongs to a body while it is written: warnings, and the texts of tool-call arguments to insert at the
end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from abstractcore import schema
from abstractcore.schema import (
    NO_OPTIONS,
    CallWarning,
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
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    freeze_object,
)

from .conversations import HOLE, origin_of, sent_text, written_with
from .reading import Object, PendingSurrogates, UnreadValues

Piece: TypeAlias = type[TextDelta] | type[ReasoningDelta] | type[ToolCallDelta]
"""The kind of block for each type of delta with a chunk of its content."""


class DeltaWriter:
    """Collects deltas until they are taken.

    Several blocks may be open at a time. Where only one text or reasoning block is open at a time, `add_current` opens
    and ends them. A decoder that creates deltas itself, for speed, numbers them with `sequence` and increments it.
    """

    __slots__ = (
        "_deltas",
        "_kinds",
        "_reply",
        "_started",
        "awaits_start",
        "current",
        "held",
        "open",
        "origin",
        "sequence",
        "surrogates",
        "unread",
    )

    def __init__(self, origin: str | None = None) -> None:
        self.sequence = 0
        """The number of the next delta."""
        self.origin = origin
        """The model that wrote the reasoning, as "provider/model"."""
        self.surrogates = PendingSurrogates()
        self.open: dict[int, Piece] = {}
        """The kinds of the open blocks, in the order in which they started."""
        self.current: int | None = None
        """The open block of `add_current`."""
        self.unread: UnreadValues = {}
        """The values that were not read; they are warnings at the end of the reply."""
        self.held: dict[int, list[str]] = {}
        """The arguments of tool calls whose names are not known yet."""
        self._kinds: dict[int, Piece] = {}
        self._deltas: list[Delta] = []
        self.awaits_start = True
        """Whether the reply has not started, or its model or id is not known yet."""
        self._reply: ReplyStart | None = None
        """The start of the reply, with what is known by now."""
        self._started: ReplyStart | None = None
        """The start that was written."""

    def take(self) -> list[Delta]:
        """Returns the deltas written since the last call."""
        deltas, self._deltas = self._deltas, []
        if self._started is None and self._reply is not None and (deltas or not self.awaits_start):
            self._started = replace(self._reply)
            deltas.insert(0, self._started)
        return deltas

    def start_reply(self, model: str | None, provider: str, id: str | None = None) -> None:
        """Starts the reply.

        Some servers send a first event with an empty model or id: the start waits for another call, or for content.
        What is known only after content is in the end of the reply.
        """
        if self._reply is None:
            self._reply = ReplyStart(self._number(), model, provider, id)
        elif self.awaits_start:
            self._reply.model = self._reply.model or model
            self._reply.id = id if id and not self._reply.id else self._reply.id
        else:
            self._reply = ReplyStart(self._number(), model or self._reply.model, provider, id or self._reply.id)
            self._deltas.append(self._reply)
        self.origin = origin_of(provider, self._reply.model)
        self.awaits_start = not self._reply.model or self._reply.id == ""

    def end_reply(self, reason: FinishReason, raw: str | None, metadata: Object) -> None:
        """Ends the reply; raises `SchemaError` for invalid metadata."""
        frozen = freeze_object(metadata, "provider_metadata")
        end = ReplyEnd(self._number(), reason, raw, frozen, tuple(self.unread.values()))
        reply, started = self._reply, self._started
        if reply is not None and started is not None:
            end.model = None if started.model else reply.model or None
            end.id = None if started.id else reply.id or None
        self._deltas.append(end)

    def count(self, usage: Usage) -> None:
        """Writes the usage so far."""
        self._deltas.append(UsageDelta(self._number(), usage))

    def start_text(self, block: int, options: ProviderOptions = NO_OPTIONS) -> None:
        """Starts a block of text, or reopens an ended one."""
        self.open[block] = self._kinds[block] = TextDelta
        self._deltas.append(TextStart(self._number(), block, options))

    def start_reasoning(self, block: int) -> None:
        """Starts a block of reasoning."""
        self.open[block] = self._kinds[block] = ReasoningDelta
        self._deltas.append(ReasoningStart(self._number(), block, self.origin))

    def start_call(self, block: int, id: str, name: str, options: ProviderOptions = NO_OPTIONS) -> None:
        """Starts a tool call, with the arguments that were held for it."""
        self.open[block] = self._kinds[block] = ToolCallDelta
        self._deltas.append(ToolCallStart(self._number(), block, id, name, options))
        for text in self.held.pop(block, ()):
            self.write(block, text)

    def hold_call(self, block: int) -> None:
        """Holds the arguments of a tool call until `start_call`."""
        self.held[block] = []

    def resume_call(self, block: int) -> None:
        """Reopens an ended tool call."""
        self.open[block] = ToolCallDelta

    def add(self, block: int, text: str) -> None:
        """Appends to a block that was started. A high surrogate waits for the block's next text."""
        self.write(block, self.surrogates.mend(block, text))

    def flush(self, block: int) -> None:
        """Writes U+FFFD for a pending surrogate of a block."""
        self.write(block, self.surrogates.rest(block))

    def write(self, block: int, text: str) -> None:
        """Appends text without surrogates to a block that was started. Text after the block's end is kept."""
        if block in self.held:
            self.held[block].append(text)
        elif text:
            self._deltas.append(self._kinds[block](self._number(), block, text))

    def end(self, block: int) -> None:
        """Ends an open block without further content."""
        kind = self.open[block]
        if kind is TextDelta:
            self.end_text(block)
        elif kind is ReasoningDelta:
            self.end_reasoning(block)
        else:
            self.end_call(block)

    def end_text(self, block: int, citations: tuple[Citation, ...] = ()) -> None:
        """Ends a block of text."""
        self.open.pop(block, None)
        self._deltas.append(TextEnd(self._number(), block, citations))

    def end_reasoning(self, block: int, signature: str | None = None, redacted: str | None = None) -> None:
        """Ends a block of reasoning."""
        self.open.pop(block, None)
        self._deltas.append(ReasoningEnd(self._number(), block, signature, redacted))

    def end_call(self, block: int, signature: str | None = None) -> None:
        """Ends a tool call."""
        self.open.pop(block, None)
        self._deltas.append(ToolCallEnd(self._number(), block, signature))

    def cite(self, block: int, citations: tuple[Citation, ...]) -> None:
        """Writes citations of a text block that has ended."""
        self.start_text(block)
        self.end_text(block, citations)

    def part(self, block: int, part: Part) -> None:
        """Writes a complete part."""
        self._deltas.append(PartDelta(self._number(), block, part))

    def add_current(self, block: int, kind: Piece, text: str) -> None:
        """Appends text or reasoning. A block starts with its first complete character, which ends the current block."""
        self._add_current(block, kind, self.surrogates.mend(block, text))

    def flush_current(self, block: int, kind: Piece) -> None:
        """Writes U+FFFD for a pending surrogate of a block of `add_current`, whether or not it was started."""
        self._add_current(block, kind, self.surrogates.rest(block))

    def end_current(self) -> None:
        """Ends the current block, if there is one."""
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


@dataclass(slots=True)
class BodyWriter:
    """Collects the warnings and argument texts of one body.

    Options are those for `provider`; `key` is the field for the arguments of a call. With `one_line`, as in the events
    of a stream, argument texts contain no line breaks. `names` are those that the body has in place of the call's.
    """

    provider: str
    key: str
    one_line: bool = False
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    names: schema.SentNames | None = None
    arguments: list[str] = field(default_factory=list[str])

    def json(self, body: Object) -> bytes:
        """Returns the body as JSON, with the arguments' original texts."""
        return written_with(body, self.key, self.arguments)

    def put_arguments(self, body: Object, call: ToolCall, path: str) -> None:
        """Puts the arguments of a call into its object."""
        body[self.key] = HOLE
        self.arguments.append(sent_text(call, path, self.warnings, one_line=self.one_line))
