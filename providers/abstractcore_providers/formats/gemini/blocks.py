"""Parts of an answer as they come, turned into deltas: of a whole reply, or of a stream's chunks."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import (
    NO_OPTIONS,
    AudioPart,
    Delta,
    PartDelta,
    ProviderOptions,
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

from ...common.call_ids import ReceivedIds
from ...common.item_options import read_options
from ...common.json_reading import Object, as_object, as_objects, text_of
from ...common.raw_arguments import WrittenArguments
from ...common.surrogates import WaitingHalves
from .audio_formats import SoundPieces, is_samples
from .grounding import AnswerText, read_grounding
from .known_parts import CALL_FIELDS, TEXT_FIELDS, read_whole
from .writing import ARGUMENTS


class Blocks:
    """The blocks of one reply. Text goes on in the next chunk where it stopped; a signature ends what it signs."""

    def __init__(self, provider: str) -> None:
        self.origin: str | None = None
        self.calls = 0
        """How many there are."""
        self._ids = ReceivedIds()
        self._provider = provider
        self._sequence = 0
        self._next_block = 0
        self._parts = 0
        self._open: TextStart | ReasoningStart | None = None
        self._pieces: list[str] = []
        self._texts: list[AnswerText] = []
        self._halves = WaitingHalves()
        self._sound = SoundPieces()

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
        """The delta of a whole piece of the open text; None if none is open, or a half of a character waits in it."""
        if type(self._open) is not TextStart or self._halves:
            return None
        self._pieces.append(text)
        self._sequence += 1
        return TextDelta(self._sequence - 1, self._open.block, text)

    def close(self, deltas: list[Delta], signature: str | None = None) -> None:
        """End what is open; the signature is of a block of reasoning."""
        if self._sound:
            deltas.append(PartDelta(self.next(), self._block(), self._sound.end()))
        if self._open is not None:
            self._append(self._halves.rest(self._open.block), deltas)
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
            self._call(data, signature, written, deltas)
        elif "text" in data:
            text = text_of(data, "text") or ""
            if data.get("thought") is True:
                self._thought(text, signature, separate, deltas)
            else:
                self._said(text, read_options(data, TEXT_FIELDS, self._provider), separate, deltas)
                self._signature(signature, deltas)
        else:
            part = read_whole(data, self._provider, written)
            if isinstance(part, AudioPart) and is_samples(part):
                self._sounds(part, separate, deltas)
            elif part is not None:
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
            self._begin(ReasoningStart(0, 0, self.origin), deltas)
        self._text(text, deltas)
        if signature:
            self.close(deltas, signature)

    def _said(self, text: str, options: ProviderOptions, separate: bool, deltas: list[Delta]) -> None:
        """A piece of text. Options set it apart from what was said before, and from the part behind it."""
        if not text:
            return
        going_on = self._open if isinstance(self._open, TextStart) else None
        before = going_on.provider_options if going_on is not None else NO_OPTIONS
        if going_on is None or (separate and before) or (options and (separate or options != before)):
            self._begin(TextStart(0, 0, options), deltas)
        self._text(text, deltas)

    def _begin(self, start: TextStart | ReasoningStart, deltas: list[Delta]) -> None:
        self.close(deltas)
        self._parts += 1
        start.sequence, start.block = self.next(), self._block()
        self._open = start
        deltas.append(start)

    def _text(self, text: str, deltas: list[Delta]) -> None:
        if self._open is not None:
            self._append(self._halves.mend(self._open.block, text), deltas)

    def _append(self, text: str, deltas: list[Delta]) -> None:
        if not text or self._open is None:
            return
        if isinstance(self._open, ReasoningStart):
            deltas.append(ReasoningDelta(self.next(), self._open.block, text))
        else:
            self._pieces.append(text)
            deltas.append(TextDelta(self.next(), self._open.block, text))

    def _sounds(self, part: AudioPart, separate: bool, deltas: list[Delta]) -> None:
        """A piece of sound, which goes on in the next chunk."""
        if separate or not self._sound.takes(part):
            self.close(deltas)
            self._parts += 1
        self._sound.add(part)

    def _signature(self, signature: str | None, deltas: list[Delta]) -> None:
        """A signature that is not a thought's: a block of its own, behind what it signs."""
        if signature:
            self.close(deltas)
            block = self._block()
            deltas.append(ReasoningStart(self.next(), block, self.origin))
            deltas.append(ReasoningEnd(self.next(), block, signature))

    def _call(self, data: Object, signature: str | None, written: WrittenArguments, deltas: list[Delta]) -> None:
        self.close(deltas)
        self._parts += 1
        call = as_object(data["functionCall"])
        options = read_options(data, CALL_FIELDS, self._provider)
        id, options = self._ids.give(text_of(call, "id"), self.calls, options)
        self.calls += 1
        block = self._block()
        deltas.append(ToolCallStart(self.next(), block, id, text_of(call, "name") or "", options))
        if call.get(ARGUMENTS) is not None:
            deltas.append(ToolCallDelta(self.next(), block, written.text_of(call[ARGUMENTS])))
        deltas.append(ToolCallEnd(self.next(), block, signature))

    def _block(self) -> int:
        self._next_block += 1
        return self._next_block - 1
