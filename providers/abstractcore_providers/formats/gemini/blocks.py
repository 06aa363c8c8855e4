"""Converts parts of an answer to deltas, for whole replies and for a stream's chunks."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import NO_OPTIONS, AudioPart, ProviderOptions, TextDelta

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, WrittenArguments
from ...common.delta_writer import DeltaWriter
from ...common.reading import Object, flag_of, object_of, objects_of, text_of
from ...common.sounds import SoundPieces, is_samples
from .grounding import GroundedText, read_grounding
from .known_parts import CALL_FIELDS, TEXT_FIELDS, read_whole
from .transcriptions import FIELD, GeminiTranscription, read_transcription
from .vocabulary import ARGUMENTS


class Blocks:
    """The blocks of one reply. Text continues in the next chunk; a signature ends the block that it signs."""

    def __init__(self, provider: str, out: DeltaWriter) -> None:
        self.calls = 0
        """The number of blocks."""
        self._out = out
        self._ids = ReceivedIds()
        self._provider = provider
        self._next_block = 0
        self._parts = 0
        self._text: int | None = None
        """The open text block."""
        self._thought: int | None = None
        """The open reasoning block."""
        self._transcript: int | None = None
        """The open block of a transcription."""
        self._options = NO_OPTIONS
        """The options of the open text."""
        self._pieces: list[str] = []
        self._texts: list[GroundedText] = []
        self._sound = SoundPieces()

    def feed(self, content: Object, body: bytes) -> None:
        """Reads the parts of one chunk, or of a whole reply (`body`); raises `SchemaError` for invalid parts."""
        written = WrittenArguments(body, ARGUMENTS)
        for index, data in enumerate(objects_of(content, "parts")):
            self._part(data, index > 0, written)

    def more_text(self, text: str) -> TextDelta | None:
        """Returns the delta of a chunk of the open text; None if none is open, or a surrogate is pending in it."""
        out, block = self._out, self._text
        if block is None or out.surrogates:
            return None
        self._pieces.append(text)
        out.sequence += 1
        return TextDelta(out.sequence - 1, block, text)

    def close(self, signature: str | None = None) -> None:
        """Ends open blocks; the signature is that of the reasoning."""
        out = self._out
        if self._sound:
            out.part(self._block(), self._sound.end())
        if self._thought is not None:
            out.flush(self._thought)
            out.end_reasoning(self._thought, signature)
        elif self._transcript is not None:
            out.flush(self._transcript)
            out.end_text(self._transcript)
        elif self._text is not None:
            self._append(out.surrogates.rest(self._text))
            out.end_text(self._text)
            self._texts.append(GroundedText(self._parts - 1, self._text, "".join(self._pieces)))
            self._pieces.clear()
        self._text = self._thought = self._transcript = None

    def cite(self, metadata: Any) -> None:
        """Writes the citations of texts that are complete."""
        for block, citations in read_grounding(metadata, self._texts).items():
            self._out.cite(block, tuple(citations))

    def _part(self, data: Object, separate: bool, written: WrittenArguments) -> None:
        signature = text_of(data, "thoughtSignature")
        transcription = read_transcription(data, self._provider) if FIELD in data else None
        if "functionCall" in data:
            self._call(data, signature, written)
        elif transcription is not None:
            self._add_transcription(transcription, separate)
            self._signature(signature)
        elif "text" in data:
            text = text_of(data, "text") or ""
            if flag_of(data, "thought"):
                self._add_thought(text, signature, separate)
            else:
                self._add_text(text, read_options(data, TEXT_FIELDS, self._provider), separate)
                self._signature(signature)
        else:
            part = read_whole(data, self._provider, written)
            if isinstance(part, AudioPart) and is_samples(part):
                self._sounds(part, separate)
            elif part is not None:
                self.close()
                self._parts += 1
                self._out.part(self._block(), part)
            if part is None or part.type != "opaque":
                self._signature(signature)

    def _add_thought(self, text: str, signature: str | None, separate: bool) -> None:
        if self._thought is None or (separate and text):
            if not text:
                self._signature(signature)
                return
            self.close()
            self._parts += 1
            self._thought = self._block()
            self._out.start_reasoning(self._thought)
        self._out.add(self._thought, text)
        if signature:
            self.close(signature)

    def _add_transcription(self, piece: GeminiTranscription, separate: bool) -> None:
        if not piece.text:
            return
        if self._transcript is None or separate or not piece.is_more:
            self.close()
            self._parts += 1
            self._transcript = self._block()
            self._out.start_text(self._transcript, piece.options)
        self._out.add(self._transcript, piece.text)
        if piece.is_finished:
            self.close()

    def _add_text(self, text: str, options: ProviderOptions, separate: bool) -> None:
        """Reads a chunk of text. One with options is a block of its own."""
        if not text:
            return
        if self._text is None or (separate and self._options) or (options and (separate or options != self._options)):
            self.close()
            self._parts += 1
            self._text, self._options = self._block(), options
            self._out.start_text(self._text, options)
        self._append(self._out.surrogates.mend(self._text, text))

    def _append(self, text: str) -> None:
        if text and self._text is not None:
            self._pieces.append(text)
            self._out.write(self._text, text)

    def _sounds(self, part: AudioPart, separate: bool) -> None:
        """Reads a chunk of audio, which continues in the next chunk."""
        if separate or not self._sound.takes(part):
            self.close()
            self._parts += 1
        self._sound.add(part)

    def _signature(self, signature: str | None) -> None:
        """Reads a signature outside of a thought: a block of its own, after the block that it signs."""
        if signature:
            self.close()
            block = self._block()
            self._out.start_reasoning(block)
            self._out.end_reasoning(block, signature)

    def _call(self, data: Object, signature: str | None, written: WrittenArguments) -> None:
        self.close()
        self._parts += 1
        call = object_of(data, "functionCall")
        options = read_options(data, CALL_FIELDS, self._provider)
        id, options = self._ids.give(text_of(call, "id"), self.calls, options)
        self.calls += 1
        block = self._block()
        self._out.start_call(block, id, text_of(call, "name") or "", options)
        if call.get(ARGUMENTS) is not None:
            self._out.write(block, written.text_of(call[ARGUMENTS]))
        self._out.end_call(block, signature)

    def _block(self) -> int:
        self._next_block += 1
        return self._next_block - 1
