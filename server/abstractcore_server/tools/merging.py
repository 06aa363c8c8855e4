"""`MergedReply`: the replies of all rounds of a tool loop as one reply, whose calls the server has run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from abstractcore.schema import (
    Delta,
    FinishReason,
    HostedToolCall,
    HostedToolResult,
    Part,
    PartDelta,
    PendingCall,
    ReplyEnd,
    ReplyStart,
    StreamEvent,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    ToolStep,
    Usage,
    UsageDelta,
)


class CallParts(Protocol):
    """What a client is shown of the tools and calls of the server, as parts of a reply."""

    def begin(self) -> Sequence[Part]:
        """Returns the parts before the answer."""
        ...

    def started_call(self, call: ToolCall) -> HostedToolCall | None:
        """Returns a call that begins to run."""
        ...

    def ended_call(self, step: ToolStep) -> tuple[HostedToolCall, HostedToolResult] | None:
        """Returns a call with its result."""
        ...

    def waiting_call(self, pending: PendingCall) -> ToolCall | None:
        """Returns the question about a call that waits."""
        ...

    def shown_part(self, part: Part) -> Part:
        """Returns a part, of which guards may have changed the texts, as the wire format writes it."""
        ...


class NoParts:
    """The client is shown nothing."""

    def begin(self) -> Sequence[Part]:
        """Returns nothing."""
        return ()

    def started_call(self, call: ToolCall) -> None:
        """Returns nothing."""

    def ended_call(self, step: ToolStep) -> None:
        """Returns nothing."""

    def waiting_call(self, pending: PendingCall) -> None:
        """Returns nothing."""

    def shown_part(self, part: Part) -> Part:
        """Returns the part."""
        return part


class MergedReply:
    """Makes one sequence of deltas of those of all rounds, with `parts` for the calls that the server runs.

    Calls of the tools `own_tools`, which the client runs, stay as they are. Usage is the sum. `model` is the name of a
    reply that begins with the result of a tool.
    """

    def __init__(self, own_tools: Collection[str], parts: CallParts, model: str) -> None:
        self._own = own_tools
        self._parts = parts
        self._model = model
        self._has_begun = False
        self._sequence = 0
        self._base = 0
        self._next = 0
        self._hidden: set[int] = set()
        self._blocks: dict[str, int] = {}
        """The block of each call that was started."""
        self._before = Usage()
        self._usage = Usage()
        self._end: ReplyEnd | None = None
        self._calls_client = False

    def feed(self, events: Iterable[StreamEvent]) -> list[Delta]:
        """Returns the deltas of some events."""
        return [delta for event in events for delta in self._deltas_of(event)]

    def finish(self, pending: Iterable[PendingCall]) -> list[Delta]:
        """Returns the last deltas; `pending` are the calls that wait."""
        asked = [question for each in pending if (question := self._parts.waiting_call(each)) is not None]
        deltas = [delta for question in asked for delta in self._whole_call(question)]
        end = self._end or ReplyEnd(0, "stop")
        reason: FinishReason = end.finish_reason
        if asked:
            reason = "tool_calls"
        elif reason == "tool_calls" and not self._calls_client:  # of the server alone, after the last round
            reason = "stop"
        return [*deltas, replace(end, sequence=self._number(), finish_reason=reason)]

    def _deltas_of(self, event: StreamEvent) -> list[Delta]:
        if isinstance(event, ReplyStart):
            return self._begin(event)
        if isinstance(event, ToolProgress):
            return []
        if isinstance(event, ToolStarted | ToolEnded):
            begin = [] if self._has_begun else self._begin(ReplyStart(0, self._model))
            return begin + (
                self._start_call(event.call) if isinstance(event, ToolStarted) else self._end_call(event.step)
            )
        if isinstance(event, ReplyEnd):
            self._end = event
            self._before, self._usage = self._before + self._usage, Usage()
            self._base = self._next
            self._hidden.clear()
            return []
        if isinstance(event, UsageDelta):
            self._usage = event.usage
            return [UsageDelta(self._number(), self._before + event.usage)]
        return self._of_block(event)

    def _begin(self, start: ReplyStart) -> list[Delta]:
        if self._has_begun:
            return []
        self._has_begun = True
        deltas: list[Delta] = [replace(start, sequence=self._number())]
        return deltas + [self._part(part) for part in self._parts.begin()]

    def _of_block(self, event: Delta) -> list[Delta]:
        assert not isinstance(event, ReplyStart | ReplyEnd | UsageDelta)
        call = event.part if isinstance(event, PartDelta) and isinstance(event.part, ToolCall) else None
        if isinstance(event, ToolCallStart) or call is not None:
            name = event.name if isinstance(event, ToolCallStart) else call.name if call is not None else ""
            if name not in self._own:
                self._hidden.add(event.block)
            else:
                self._calls_client = True
        if event.block in self._hidden:
            return []
        block = self._base + event.block
        self._next = max(self._next, block + 1)
        return [replace(event, sequence=self._number(), block=block)]

    def _start_call(self, call: ToolCall) -> list[Delta]:
        part = self._parts.started_call(call)
        if part is None:
            return []
        self._blocks[call.id] = self._new_block()
        self._new_block()  # of its result
        return [PartDelta(self._number(), self._blocks[call.id], part)]

    def _end_call(self, step: ToolStep) -> list[Delta]:
        parts = self._parts.ended_call(step)
        if parts is None:
            return []
        call, result = parts
        if step.call.id not in self._blocks:
            self._blocks[step.call.id] = self._new_block()
            self._new_block()
        block = self._blocks.pop(step.call.id)
        return [PartDelta(self._number(), block, call), PartDelta(self._number(), block + 1, result)]

    def _whole_call(self, call: ToolCall) -> list[Delta]:
        """Returns the deltas of a whole call."""
        block = self._new_block()
        return [
            ToolCallStart(self._number(), block, call.id, call.name, call.provider_options),
            ToolCallDelta(self._number(), block, call.arguments_text),
            ToolCallEnd(self._number(), block),
        ]

    def _part(self, part: Part) -> Delta:
        return PartDelta(self._number(), self._new_block(), part)

    def _new_block(self) -> int:
        block = self._next
        self._next = self._base = block + 1
        return block

    def _number(self) -> int:
        self._sequence += 1
        return self._sequence - 1
