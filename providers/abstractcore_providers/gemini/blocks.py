"""Parts of an answer as they come, turned into deltas: of a whole reply, or of a stream's chunks."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import (
    Delta,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

from ..json_reading import Object, as_object, as_objects, text_of
from ..raw_arguments import WrittenArguments
from .grounding import AnswerText, read_grounding
from .known_parts import read_whole
from .writing import ARGUMENTS


class Blocks:
    """The blocks of one reply. Text goes on in the next chunk where it stopped; a signature ends what it signs."""

    def __init__(self, provider: str) -> None:
        self.origin: str | None = None
        self.call_ids: list[str] = []
        self._provider = provider
        self._sequence = 0
        self._next_block = 0
        self._parts = 0
        self._open: TextStart | ReasoningStart | None = None
        self._pieces: list[str] = []
        self._texts: list[AnswerText] = []

    def next(self) -> int:
        """The number of the next delta."""
        self._sequence += 1
        return self._sequence - 1

    def feed(self, parts: Any, body: bytes, deltas: list[Delta]) -> None:
        """The parts of one chunk, or of a whole reply, which is `body`; raises `SchemaError` for what does not fit."""
        written = WrittenArguments(body, ARGUMENTS)
        for index, data in enumerate(as_objects(parts)):
            self._part(data, index > 0, written, deltas)

    def more_text(self, text: str) -> TextDelta | None:
        """The delta of a piece of the open text; None if none is open, or the piece is empty."""
        if not text or type(self._open) is not TextStart:
            return None
        self._pieces.append(text)
        self._sequence += 1
        return TextDelta(self._sequence - 1, self._open.block, text)

    def close(self, deltas: list[Delta], signature: str | None = None) -> None:
        """End the open block; the signature is of a block of reasoning."""
        if isinstance(self._open, ReasoningStart):
            deltas.append(ReasoningEnd(self.next(), self._open.block, signature))
        elif self._open is not None:
            deltas.append(TextEnd(self.next(), self._open.block))
            text = "".join(self._pieces)
            self._texts.append(AnswerText(self._parts - 1, self._open.block, text))
            self._pieces.clear()
        self._open = None

    def cite(self, metadata: Any, deltas: list[Delta]) -> None:
        """The citations of texts that are complete."""
        for block, citations in read_grounding(metadata, self._texts).items():
            deltas.append(TextStart(self.next(), block))
            deltas.append(TextEnd(self.next(), block, tuple(citations)))

    def _part(self, data: Object, separate: bool, written: WrittenArguments, deltas: list[Delta]) -> None:
        signature = text_of(data, "thoughtSignature")
        if "functionCall" in data:
            self._call(as_object(data["functionCall"]), signature, written, deltas)
        elif "text" in data:
            text = text_of(data, "text") or ""
            if data.get("thought") is True:
                self._thought(text, signature, separate, deltas)
            else:
                self._said(text, signature, deltas)
        else:
            part = read_whole(data, self._provider, written)
            if part is not None:
                self.close(deltas)
                self._parts += 1
                deltas.append(PartDelta(self.next(), self._block(), part))
            if part is None or part.type != "opaque":
                self._signature(signature, deltas)

    def _thought(self, text: str, signature: str | None, separate: bool, deltas: list[Delta]) -> None:
        if not isinstance(self._open, ReasoningStart) or (separate and text):
            if not text:
                self._signature(signature, deltas)
                return
            self.close(deltas)
            self._parts += 1
            self._open = ReasoningStart(self.next(), self._block(), self.origin)
            deltas.append(self._open)
        if text:
            deltas.append(ReasoningDelta(self.next(), self._open.block, text))
        if signature:
            self.close(deltas, signature)

    def _said(self, text: str, signature: str | None, deltas: list[Delta]) -> None:
        if text:
            if not isinstance(self._open, TextStart):
                self.close(deltas)
                self._parts += 1
                self._open = TextStart(self.next(), self._block())
                deltas.append(self._open)
            self._pieces.append(text)
            deltas.append(TextDelta(self.next(), self._open.block, text))
        self._signature(signature, deltas)

    def _signature(self, signature: str | None, deltas: list[Delta]) -> None:
        """A signature that is not a thought's: a block of its own, behind what it signs."""
        if signature:
            self.close(deltas)
            block = self._block()
            deltas.append(ReasoningStart(self.next(), block, self.origin))
            deltas.append(ReasoningEnd(self.next(), block, signature))

    def _call(self, call: Object, signature: str | None, written: WrittenArguments, deltas: list[Delta]) -> None:
        self.close(deltas)
        self._parts += 1
        id = text_of(call, "id")
        if not id or id in self.call_ids:
            id = f"call_{len(self.call_ids)}"
            while id in self.call_ids:
                id += "_"
        self.call_ids.append(id)
        block = self._block()
        deltas.append(ToolCallStart(self.next(), block, id, text_of(call, "name") or ""))
        if call.get(ARGUMENTS) is not None:
            deltas.append(ToolCallDelta(self.next(), block, written.text_of(call[ARGUMENTS])))
        deltas.append(ToolCallEnd(self.next(), block, signature))

    def _block(self) -> int:
        self._next_block += 1
        return self._next_block - 1
