"""Converts the steps of an interaction to deltas, for whole replies and for the events of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from abstractcore.schema import AudioPart, HostedToolCall, OpaquePart, Part, TextDelta

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, WrittenArguments, arguments_piece
from ...common.delta_writer import DeltaWriter
from ...common.reading import Object, mend_texts, object_of, objects_of, text_of
from ...common.sounds import SoundPieces, is_samples
from .content import CONTENT_TYPES, read_annotations, read_content, text_options
from .known_steps import CALL_FIELDS, CALLS, RESULTS, THOUGHT, is_plain, is_plain_text, read_hosted, read_thought
from .vocabulary import ARGUMENTS

_OUTPUT, _CALL, _RESULT, _INPUT = "model_output", "function_call", "function_result", "user_input"
_ROOM = 1000
"""The largest number of blocks of a step. Further content goes to the last one."""
_IMPLIED = {**dict.fromkeys(CONTENT_TYPES, _OUTPUT), "thought_summary": THOUGHT, "thought_signature": THOUGHT}
"""The type of a step without a start, by the type of its first delta."""


@dataclass(slots=True)
class OpenStep:
    """A step that was started, as the `number`th of its interaction; `data` is the step so far."""

    number: int
    data: Object
    kind: str
    blocks: int = 0
    ended: bool = False
    text: int | None = None
    """The block of the open text."""
    pieces: list[str] = field(default_factory=list[str])
    notes: list[Object] = field(default_factory=list[Object])
    """The chunks and the annotations of the open text."""
    arguments: str = ""
    """The arguments of a call as a text, unless they are streamed in chunks."""
    streamed: bool = False
    summary: list[Object] = field(default_factory=list[Object])
    sound: SoundPieces = field(default_factory=SoundPieces)

    def block(self) -> int:
        """Returns the number of the step's next block."""
        self.blocks += 1
        return self.number * _ROOM + min(self.blocks, _ROOM) - 1


class Steps:
    """The steps of one interaction. Text, thoughts and calls are written as they arrive, others at their stop."""

    def __init__(self, provider: str, out: DeltaWriter) -> None:
        self.calls = 0
        """The number of function calls."""
        self.error: Object = {}
        """The error of the last step that had one."""
        self.count = 0
        self._provider = provider
        self._out = out
        self._ids = ReceivedIds()
        self._open: dict[int, OpenStep] = {}

    def start(self, index: int, data: Object, written: WrittenArguments) -> OpenStep:
        """Starts a step, which may already have content; `written` has the arguments in the body of `data`."""
        before = self._open.get(index)
        if before is not None:
            self._end(before)
        step = self._open[index] = OpenStep(self.count, data, text_of(data, "type") or "")
        self.count += 1
        if data.get(ARGUMENTS) is not None:
            step.arguments = written.text_of(mend_texts(data[ARGUMENTS]))
        if step.kind == _OUTPUT:
            for item in objects_of(data, "content"):
                self._content(step, item, chunked=False)
        elif step.kind == THOUGHT:
            self._out.start_reasoning(step.block())
            for item in objects_of(data, "summary"):
                self._add_summary(step, item)
        elif step.kind == _CALL:
            self._start_call(step)
        return step

    def add(self, index: int, delta: Object, written: WrittenArguments) -> OpenStep | None:
        """Adds a delta to the step at `index`; None if that was not started and cannot be."""
        kind = text_of(delta, "type") or ""
        step = self._open.get(index)
        if step is None:
            if kind not in _IMPLIED:
                return None
            step = self.start(index, {"type": _IMPLIED[kind]}, written)
        if step.kind == _OUTPUT:
            self._add_output(step, kind, delta)
        elif step.kind == THOUGHT:
            if kind == "thought_signature":
                step.data["signature"] = text_of(delta, "signature") or step.data.get("signature")
            elif kind == "thought_summary":
                self._add_summary(step, object_of(delta, "content"))
        elif step.kind == _CALL:
            if kind == "arguments_delta":
                step.streamed = True
                step.pieces.append(arguments_piece(delta, ARGUMENTS, is_first=not any(step.pieces)))
                self._out.add(step.number * _ROOM, step.pieces[-1])
        else:
            self._merge(step, delta, written)
        return step

    def read(self, steps: Sequence[Object], written: WrittenArguments) -> None:
        """Reads whole steps; raises `SchemaError` for invalid ones."""
        for index, data in enumerate(steps):
            self.start(index, data, written)
            self.stop(index)

    def stop(self, index: int) -> None:
        """Ends the step at `index`, if it was started."""
        step = self._open.get(index)
        if step is not None:
            self._end(step)

    def end(self) -> None:
        """Ends all steps."""
        for step in self._open.values():
            self._end(step)

    def more_text(self, step: OpenStep, text: str) -> TextDelta | None:
        """Returns the delta of a chunk of a step's open text; None if none is open, or a surrogate is pending in it."""
        out, block = self._out, step.text
        if block is None or out.surrogates:
            return None
        step.pieces.append(text)
        out.sequence += 1
        return TextDelta(out.sequence - 1, block, text)

    def _add_output(self, step: OpenStep, kind: str, delta: Object) -> None:
        if kind == "text" and step.text is not None:
            self._add_text(step, text_of(delta, "text") or "")
        elif kind == "text_annotation_delta":
            step.notes += objects_of(delta, "annotations")
        elif kind:
            self._content(step, delta, chunked=True)

    def _content(self, step: OpenStep, item: Object, *, chunked: bool) -> None:
        """Adds content: a text continues with further chunks, and if `chunked`, raw samples with more of their type."""
        if (item.get("type") == "text" or "text" in item) and text_of(item, "text") is not None:
            self._end_content(step)
            step.text = step.block()
            self._out.start_text(step.text, text_options(item, self._provider))
            step.notes = objects_of(item, "annotations")
            self._add_text(step, item["text"])
            return
        part = read_content(item, self._provider)
        if chunked and isinstance(part, AudioPart) and is_samples(part):
            if not step.sound.takes(part):
                self._end_content(step)
            step.sound.add(part)
        else:
            self._end_content(step)
            self._out.part(step.block(), part)

    def _add_text(self, step: OpenStep, text: str) -> None:
        assert step.text is not None
        self._write_text(step, self._out.surrogates.mend(step.text, text))

    def _write_text(self, step: OpenStep, text: str) -> None:
        if text and step.text is not None:
            step.pieces.append(text)
            self._out.write(step.text, text)

    def _end_content(self, step: OpenStep) -> None:
        if step.sound:
            self._out.part(step.block(), step.sound.end())
        if step.text is not None:
            self._write_text(step, self._out.surrogates.rest(step.text))
            text = "".join(step.pieces)
            self._out.end_text(step.text, read_annotations(step.notes, text))
            step.text, step.pieces, step.notes = None, [], []

    def _add_summary(self, step: OpenStep, item: Object) -> None:
        """Adds to a thought, whose text is written at once."""
        if is_plain_text(item):
            if step.summary and is_plain_text(step.summary[-1]):
                step.summary[-1]["text"] += item["text"]
            else:
                step.summary.append({"type": "text", "text": item["text"]})
            self._out.add(step.number * _ROOM, item["text"])
        elif item:
            step.summary.append(item)

    def _start_call(self, step: OpenStep) -> None:
        options = read_options(step.data, CALL_FIELDS, self._provider)
        id, options = self._ids.give(text_of(step.data, "id"), self.calls, options)
        self.calls += 1
        self._out.start_call(step.block(), id, text_of(step.data, "name") or "", options)

    def _merge(self, step: OpenStep, delta: Object, written: WrittenArguments) -> None:
        """Adds a delta of a step that is written at its end: its fields replace those of the step.

        Texts of an unknown step are appended.
        """
        known = step.kind in CALLS or step.kind in RESULTS
        for name, value in delta.items():
            if name == "type":
                continue
            before = step.data.get(name)
            appended = not known and isinstance(before, str) and isinstance(value, str)
            step.data[name] = f"{before}{value}" if appended else value
        if delta.get(ARGUMENTS) is not None:
            step.arguments = written.text_of(mend_texts(delta[ARGUMENTS]))

    def _end(self, step: OpenStep) -> None:
        if step.ended:
            return
        step.ended = True
        block = step.number * _ROOM
        if step.kind == _OUTPUT:
            self._end_content(step)
            self._rest_of_output(step)
        elif step.kind == THOUGHT:
            self._end_thought(step)
        elif step.kind == _CALL:
            if not step.streamed:
                self._out.add(block, step.arguments)
            self._out.flush(block)
            self._out.end_call(block)
        elif step.kind == _RESULT:
            self._end_result(step)
        elif step.kind and step.kind != _INPUT:
            self._out.part(step.block(), self._part(step))

    def _part(self, step: OpenStep) -> Part:
        if step.kind in CALLS or step.kind in RESULTS:
            return read_hosted(step.data, step.arguments, self._provider)
        return OpaquePart(self._provider, step.kind, step.data)

    def _end_result(self, step: OpenStep) -> None:
        """Writes the result of a function that an agent ran itself; its call needs none, then."""
        id = text_of(step.data, "call_id") or ""
        call = next((each for each in self._open.values() if each.kind == _CALL and each.data.get("id") == id), None)
        if call is not None:
            self._end(call)
            self.calls -= 1
            call.kind = ""
            arguments = "".join(call.pieces) if call.streamed else call.arguments
            name, metadata = text_of(call.data, "name") or "", {self._provider: {"type": _CALL}}
            self._out.part(call.number * _ROOM, HostedToolCall(id, name, mend_texts(arguments), metadata))
        self._out.part(step.block(), read_hosted(step.data, "", self._provider))

    def _rest_of_output(self, step: OpenStep) -> None:
        """Writes the other fields of an output, such as its error, which are sent back unchanged."""
        rest = {name: value for name, value in step.data.items() if name != "content" and value is not None}
        self.error = object_of(rest, "error") or self.error
        if len(rest) > 1:
            self._out.part(step.block(), OpaquePart(self._provider, _OUTPUT, rest))

    def _end_thought(self, step: OpenStep) -> None:
        block = step.number * _ROOM
        signature = text_of(step.data, "signature") or None
        whole = {**step.data, "summary": step.summary} if step.summary else step.data
        self._out.flush(block)
        self._out.end_reasoning(block, signature)
        if not is_plain(whole):
            self._out.part(block, read_thought(whole, self._provider, self._out.origin))
