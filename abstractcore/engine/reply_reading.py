"""Reads tool calls in the text of replies, whole and streamed, where tools are not the provider's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeAlias

from ..outputs.output_types import OUTPUT_CALL
from ..ports import Answer, CallContext, OperationResult
from ..schema import (
    NO_OPTIONS,
    CallWarning,
    Citation,
    Delta,
    FinishReason,
    ModelCall,
    ModelReply,
    PartDelta,
    ProviderOptions,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyReading,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
    freeze_object,
)
from ..schema.replies import CallIds
from ..tools.prompted import CallParser, ParsedCall, ParsedReasoning, Piece, tool_format
from ..tools.prompted.fenced_calls import ALL_FORMATS, JSON_FORMATS, FencedCalls, RescueParser
from .delta_reading import ReadStream, read_reply

_Other: TypeAlias = (
    ReasoningStart | ReasoningDelta | ReasoningEnd | ToolCallStart | ToolCallDelta | ToolCallEnd | PartDelta
)
_COMPLETE: Final = ("stop", "unknown", "tool_calls")
"""The reasons for which a reply with calls ends with them."""


def read_answer(answer: Answer, reading: ReplyReading, context: CallContext) -> Answer:
    """Returns the answer with the calls in its text as calls."""
    if isinstance(answer, ModelReply):
        return read_reply(answer, ReplyReader(reading, context.call))
    if isinstance(answer, OperationResult):
        return answer
    return ReadStream(answer, ReplyReader(reading, context.call), context)


class ReplyReader:
    """Reads the deltas of one reply. Their blocks and sequence are counted anew. `warnings` are those so far."""

    def __init__(self, reading: ReplyReading, call: ModelCall) -> None:
        self._reading = reading
        self._call = call
        self._origin = f"{call.provider}/{call.model}"
        self._ids = CallIds(call.messages)
        self._blocks: dict[int, int] = {}
        self._next = 0
        self._sequence = 0
        self._text = _Text()
        self._calls = 0
        self._cut = False
        self._output = _Output()
        self._length = 0
        self.warnings: list[CallWarning] = []

    def feed(self, deltas: list[Delta]) -> list[Delta]:
        """Returns the deltas that are certain so far."""
        out: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, TextDelta):
                self._enter(delta.block, out)
                self._put(self._parser().feed(delta.text), out)
            elif isinstance(delta, TextStart):
                self._enter(delta.block, out)
                self._text.options = delta.provider_options
            elif isinstance(delta, TextEnd):
                self._enter(delta.block, out)
                self._text.citations += delta.citations
            elif isinstance(delta, ReplyEnd):
                self._leave(out, truncated=delta.finish_reason == "length")
                self._add(out, self._reply_end(delta))
            elif isinstance(delta, ReplyStart | UsageDelta):
                self._add(out, replace(delta))
            elif isinstance(delta, ToolCallStart) and self._is_output(delta.name):
                self._leave(out)
                self._output = _Output(delta.block, delta.id, delta.name, self._length)
                self._put_text("", out)
            elif isinstance(delta, ToolCallDelta | ToolCallEnd) and delta.block == self._output.number:
                self._put_output(delta, out)
            else:
                self._pass(delta, out)
        return out

    def finish(self) -> list[Delta]:
        """Returns the rest of a reply that has ended, also without its last delta."""
        out: list[Delta] = []
        self._leave(out, truncated=True)
        return out

    def _is_output(self, name: str) -> bool:
        """Returns whether a call is of the output tool, of which the first one counts."""
        return name == self._reading.output_tool and not self._output.id

    def _put_output(self, delta: ToolCallDelta | ToolCallEnd, out: list[Delta]) -> None:
        """Puts out the arguments of the output tool as the text of the answer."""
        if isinstance(delta, ToolCallDelta):
            self._put_text(delta.arguments_text, out)
            return
        self._end_text(out)
        self._output.number = None

    def _reply_end(self, end: ReplyEnd) -> ReplyEnd:
        metadata, output = end.provider_metadata, self._output
        if output.id:
            noted = {"id": output.id, "name": output.name, "start": output.start}
            metadata = freeze_object({**metadata, OUTPUT_CALL: noted})
        return replace(end, finish_reason=self._reason(end), provider_metadata=metadata)

    def _reason(self, end: ReplyEnd) -> FinishReason:
        is_complete = end.finish_reason in _COMPLETE or (self._cut and end.finish_reason == "length")
        if self._output.id and not self._calls and is_complete:
            return "stop"
        return "tool_calls" if self._calls and is_complete else end.finish_reason

    def _add(self, out: list[Delta], delta: Delta) -> None:
        delta.sequence = self._sequence
        self._sequence += 1
        out.append(delta)

    def _pass(self, delta: _Other, out: list[Delta]) -> None:
        """Passes on a delta of a block that is not text."""
        number = delta.block
        self._calls += isinstance(delta, ToolCallStart)
        if number not in self._blocks:
            self._leave(out)
            self._blocks[number] = self._new_block()
        passed = replace(delta, block=self._blocks[number])
        if isinstance(passed, ToolCallStart):
            passed.id = self._ids.unique(passed.id)
        self._add(out, passed)

    def _new_block(self) -> int:
        self._next += 1
        return self._next - 1

    def _parser(self) -> CallParser:
        text = self._text
        if text.parser is None:
            reading, name = self._reading, self._reading.tool_format
            inner = tool_format(name).parser(reading.tools) if name is not None else None
            if inner is None and not reading.rescue:
                text.parser = _PlainText()
            elif inner is None:
                text.parser = RescueParser(reading.tools, None, ALL_FORMATS)
            elif reading.rescue and name not in JSON_FORMATS:
                text.parser = RescueParser(reading.tools, FencedCalls(reading.tools, inner), JSON_FORMATS)
            else:
                text.parser = inner
        return text.parser

    def _enter(self, number: int, out: list[Delta]) -> None:
        """Begins to read a block of text, unless it is being read."""
        if self._text.number != number:
            self._leave(out)
            self._text = _Text(number)

    def _leave(self, out: list[Delta], *, truncated: bool = False) -> None:
        """Ends the block of text that is being read."""
        text = self._text
        if text.number is None:
            return
        if text.parser is not None:
            parser = text.parser
            self._put(parser.finish(truncated=truncated), out)
            self._report(parser)
        self._end_text(out, text.citations if not text.has_calls else ())
        self._text = _Text()

    def _report(self, parser: CallParser) -> None:
        if parser.cut_at is not None:
            self._cut = True
            message = f"the model invented what follows a call: its text from {parser.cut_at.strip()!r} on is left out"
            self.warnings.append(CallWarning("invented_result_cut", "text", message))
        if isinstance(parser, RescueParser) and parser.rescued:
            message = "the reply was nothing but tool calls as text: it is read as calls"
            self.warnings.append(CallWarning("tool_call_rescued", "text", message))
        if isinstance(parser, RescueParser) and parser.shown:
            names = ", ".join(map(repr, dict.fromkeys(parser.shown)))
            message = (
                f"the text shows calls of {names} in code blocks, which are not run: among text only valid calls of"
            )
            self.warnings.append(CallWarning("tool_call_as_text", "text", f"{message} read_only tools are"))

    def _put(self, pieces: list[Piece], out: list[Delta]) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self._put_text(piece, out)
            elif isinstance(piece, ParsedCall):
                self._end_text(out)
                self._put_call(piece, out)
            else:
                self._end_text(out)
                self._put_reasoning(piece, out)

    def _put_text(self, piece: str, out: list[Delta]) -> None:
        text = self._text
        self._length += len(piece)
        if text.block is None:
            text.block = self._new_block()
            self._add(out, TextStart(0, text.block, text.options))
        if piece:
            self._add(out, TextDelta(0, text.block, piece))

    def _end_text(self, out: list[Delta], citations: tuple[Citation, ...] = ()) -> None:
        if self._text.block is not None:
            self._add(out, TextEnd(0, self._text.block, citations))
            self._text.block = None

    def _put_call(self, call: ParsedCall, out: list[Delta]) -> None:
        self._text.has_calls = True
        if self._is_output(call.name):
            self._output = _Output(None, self._ids.new(), call.name, self._length)
            self._put_text(call.arguments_text, out)
            self._end_text(out)
            return
        if self._reading.single and self._calls:
            message = f"a further call, of {call.name!r}, is left out: parallel_tool_calls is False"
            self.warnings.append(CallWarning("tool_call_left_out", "parallel_tool_calls", message, False))
            return
        id, block = self._ids.new(), self._new_block()
        self._add(out, ToolCallStart(0, block, id, call.name))
        self._add(out, ToolCallDelta(0, block, call.arguments_text))
        self._add(out, ToolCallEnd(0, block))
        if call.repair is not None:
            message = f"the call of {call.name!r} was repaired: {call.repair}"
            self.warnings.append(CallWarning("tool_call_repaired", f"tool_calls[{self._calls}]", message))
        self._calls += 1

    def _put_reasoning(self, reasoning: ParsedReasoning, out: list[Delta]) -> None:
        self._text.has_calls = True
        block = self._new_block()
        self._add(out, ReasoningStart(0, block, self._origin))
        self._add(out, ReasoningDelta(0, block, reasoning.text))
        self._add(out, ReasoningEnd(0, block))


class _Output:
    """The call of the output tool, if there is one: the number of its block while it is read, and where its text begins
    in the text of the reply.
    """

    def __init__(self, number: int | None = None, id: str = "", name: str = "", start: int = 0) -> None:
        self.number = number
        self.id = id
        self.name = name
        self.start = start


class _PlainText:
    """Text of a reply that is read for the output tool alone."""

    cut_at: str | None = None

    def feed(self, text: str) -> list[Piece]:
        return [text]

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        return []


class _Text:
    """The block of text that is being read. `block` is the number of the one that is put out."""

    def __init__(self, number: int | None = None) -> None:
        self.number = number
        self.block: int | None = None
        self.parser: CallParser | None = None
        self.options: ProviderOptions = NO_OPTIONS
        self.citations: tuple[Citation, ...] = ()
        self.has_calls = False
