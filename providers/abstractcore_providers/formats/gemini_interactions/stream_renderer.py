"""Renders deltas as the events of an interaction (server side)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, UnsupportedContentError
from abstractcore.schema import (
    NO_OPTIONS,
    Delta,
    Part,
    PartDelta,
    ProviderOptions,
    ReasoningDelta,
    ReasoningEnd,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)

from ...common.conversations import own_text
from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .content import fit_citations, write_annotations, write_text
from .errors import error_event
from .known_steps import THOUGHT, signature_of
from .render import ending, head
from .vocabulary import ARGUMENTS, finish_reason_to_theirs
from .write_steps import StepWriter

_DONE = b"event: done\ndata: [DONE]\n\n"


@dataclass(slots=True)
class _RenderedStep:
    """A step that was started: its index, and its text so far."""

    index: int
    pieces: list[str] = field(default_factory=list[str])
    stopped: bool = False


class InteractionRenderer:
    """Renders one stream. Each block is a step, which is started by its first content."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._steps: dict[int, _RenderedStep] = {}
        self._count = 0
        self._options: dict[int, ProviderOptions] = {}
        """The options of the texts that were not started yet."""
        self._calls: dict[int, tuple[ToolCallStart, list[str]]] = {}
        self._called = False
        """Whether a tool was called."""
        self._id: str | None = None
        self._model: str | None = None
        self._usage = Usage()

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of one delta; empty for those without a counterpart."""
        if isinstance(delta, TextDelta):
            return self._text(delta) if delta.text else b""
        if isinstance(delta, ReasoningDelta):
            return self._thought(delta) if delta.text else b""
        if isinstance(delta, ToolCallStart):
            self._calls[delta.block] = (delta, [])
        elif isinstance(delta, ToolCallDelta):
            self._calls[delta.block][1].append(delta.arguments_text)
        elif isinstance(delta, ToolCallEnd):
            return self._call(delta.block)
        else:
            return self._rare(delta)
        return b""

    def finish(self) -> bytes:
        """Returns the end mark."""
        return _DONE

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return b"event: error\ndata: " + error_event(error) + b"\n\n"

    def _rare(self, delta: Delta) -> bytes:
        if isinstance(delta, ReplyStart):
            self._id, self._model = delta.id, delta.model
            return _event("interaction.created", interaction=head(delta.id, delta.model, "in_progress"))
        if isinstance(delta, TextStart):
            self._options[delta.block] = delta.provider_options
        elif isinstance(delta, TextEnd):
            return self._end_text(delta)
        elif isinstance(delta, ReasoningEnd):
            return self._end_thought(delta)
        elif isinstance(delta, PartDelta):
            return self._whole(delta.part)
        elif isinstance(delta, UsageDelta):
            self._usage = delta.usage
        elif isinstance(delta, ReplyEnd):
            return self._end(delta)
        return b""

    def _begin(self, block: int, step: Object) -> bytes:
        self._steps[block] = _RenderedStep(self._count)
        self._count += 1
        return _event("step.start", index=self._count - 1, step=step)

    def _add(self, block: int, delta: Object) -> bytes:
        return _event("step.delta", index=self._steps[block].index, delta=delta)

    def _stop(self, block: int) -> bytes:
        step = self._steps.get(block)
        if step is None or step.stopped:
            return b""
        step.stopped = True
        return _event("step.stop", index=step.index)

    def _text(self, delta: TextDelta) -> bytes:
        begin = b""
        if delta.block not in self._steps:
            begin = self._begin(delta.block, self._output(self._options.get(delta.block, NO_OPTIONS)))
        self._steps[delta.block].pieces.append(delta.text)
        return begin + self._add(delta.block, {"type": "text", "text": delta.text})

    def _output(self, options: ProviderOptions) -> Object:
        """Returns the start of a text, whose options are in an empty one."""
        if self._provider not in options:
            return {"type": "model_output"}
        text = write_text(TextPart("_", provider_options=options), "", self._provider, [])
        return {"type": "model_output", "content": [{**text, "text": ""}]}

    def _end_text(self, delta: TextEnd) -> bytes:
        step = self._steps.get(delta.block)
        if step is None:
            return b""
        cited = b""
        if delta.citations:
            part = fit_citations(TextPart("".join(step.pieces), delta.citations), "", [])
            notes = write_annotations(part)
            cited = self._add(delta.block, {"type": "text_annotation_delta", "annotations": notes})
        return cited + self._stop(delta.block)

    def _thought(self, delta: ReasoningDelta) -> bytes:
        begin = b"" if delta.block in self._steps else self._begin(delta.block, {"type": THOUGHT})
        content = {"type": "text", "text": delta.text}
        return begin + self._add(delta.block, {"type": "thought_summary", "content": content})

    def _end_thought(self, delta: ReasoningEnd) -> bytes:
        signature = signature_of(delta.signature)
        if signature is None:
            return self._stop(delta.block)
        begin = b"" if delta.block in self._steps else self._begin(delta.block, {"type": THOUGHT})
        return (
            begin
            + self._add(delta.block, {"type": "thought_signature", "signature": signature})
            + self._stop(delta.block)
        )

    def _call(self, block: int) -> bytes:
        """Returns a call at its end: only then is it known whether its arguments are an object."""
        self._called = True
        start, pieces = self._calls.pop(block)
        call = ToolCall(start.id, start.name, "".join(pieces), provider_options=start.provider_options)
        (step,) = self._written(call)[0]
        delta = {"type": "arguments_delta", ARGUMENTS: own_text(call)}
        return self._begin(block, {**step, ARGUMENTS: {}}) + self._add(block, delta) + self._stop(block)

    def _whole(self, part: Part) -> bytes:
        try:
            steps, writer = self._written(part)
        except UnsupportedContentError:
            return b""
        events = b""
        for step in steps:
            data: Object = {"index": self._count, "step": step, "event_type": "step.start"}
            events += b"event: step.start\ndata: " + writer.json(data) + b"\n\n"
            events += _event("step.stop", index=self._count)
            self._count += 1
        return events

    def _written(self, part: Part) -> tuple[list[Object], BodyWriter]:
        writer = BodyWriter(self._provider, ARGUMENTS, one_line=True)
        steps = StepWriter(writer)
        steps.add(part, "", part.id if isinstance(part, ToolCall) else "")
        return steps.finish(), writer

    def _end(self, delta: ReplyEnd) -> bytes:
        stops = b"".join(map(self._stop, self._steps))
        interaction = head(self._id, self._model, finish_reason_to_theirs(delta.finish_reason, self._called))
        interaction |= ending(self._usage, delta.provider_metadata, [])
        return stops + _event("interaction.completed", interaction=interaction)


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + to_json({**fields, "event_type": kind}) + b"\n\n"
