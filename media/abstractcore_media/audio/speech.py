"""Speech to text with Whisper, by faster-whisper. Loads a model once and keeps it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import InvalidInputError, MediaError

from ..common.extras import missing_extra
from .pauses import SpeechPiece
from .sound import SAMPLE_RATE
from .transcript import Dropped, Segment, Word

if TYPE_CHECKING:
    from .options import SpeechOptions
    from .pauses import Samples

MAX_PIECE_SECONDS = 28.0
"""Whisper hears 30 seconds at a time."""
_PAUSE_MS = 500
_MAX_TOKENS, _MAX_TERM_TOKENS = 440, 223
_TOKENS_PER_SECOND = 14
"""Twice those of a fast speaker: what repeats itself ends here."""
_REPETITION = 2.4
"""The ratio of compression of a text that repeats itself: Whisper's own limit."""
_REPEATED = 6
"""Segments in a row with the same text, which nobody says so often."""
_NOT_UNDERSTOOD, _NO_SPEECH = -1.0, 0.6
_UNCERTAIN = -0.5


def find_speech(samples: Samples, longest: int) -> Sequence[tuple[int, int]]:
    """Returns first and last sample of each span of speech, by the voice activity model of faster-whisper.

    Without it, Whisper hears "You" in silence, and in a tone "Beep" a hundred times.
    """
    try:
        from faster_whisper import vad  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise missing_extra("Transcribing audio", "faster-whisper", "audio") from error
    options = vad.VadOptions(min_silence_duration_ms=_PAUSE_MS, max_speech_duration_s=longest / SAMPLE_RATE)
    found = cast(Any, vad).get_speech_timestamps(samples, options)
    return [(int(each["start"]), int(each["end"])) for each in found if each["end"] > each["start"]]


class Recogniser:
    """Recognises the speech of one recording, piece by piece, in one language. Nothing is sampled.

    `language` and `certainty` are known after the first piece.
    """

    def __init__(self, whisper: Any, options: SpeechOptions, source: str) -> None:
        self.language = options.language or ("" if whisper.model.is_multilingual else "en")
        self.certainty = 1.0 if self.language else 0.0
        self._whisper, self._options, self._source = whisper, options, source
        if self.language not in ("", *whisper.supported_languages):
            raise InvalidInputError(
                f"{options.model} does not know the language {self.language!r}",
                path="transcription_language",
                hint=f"It knows {', '.join(whisper.supported_languages)}. whisper-base knows 99 languages.",
            )

    def segments(self, piece: SpeechPiece) -> tuple[list[Segment], list[Dropped]]:
        """Returns what is said in a piece, and what is left out because it is no speech or not understood."""
        said: list[Segment] = []
        dropped: list[Dropped] = []
        recognised = self._recognised(piece)
        repeated = _repeated([each.text for each in recognised])
        for index, each in enumerate(recognised):
            start, end = piece.times(each.start, each.end)
            reason = "repetition" if index in repeated else _reason_to_drop(each)
            if reason:
                dropped.append(Dropped(start, end, reason))
            elif each.text.strip():
                words = (Word(*piece.times(word.start, word.end), word.word) for word in each.words or ())
                said.append(Segment(start, end, each.text.strip(), tuple(words)))
        return said, dropped

    def _recognised(self, piece: SpeechPiece) -> list[Any]:
        terms = ", ".join(self._options.terms)
        room = _MAX_TOKENS
        if terms:
            room -= min(len(self._whisper.hf_tokenizer.encode(terms).ids), _MAX_TERM_TOKENS)
        try:
            segments, info = self._whisper.transcribe(
                piece.samples,
                language=self.language or None,
                beam_size=5,
                temperature=0.0,
                condition_on_previous_text=False,
                max_new_tokens=min(room, 32 + _TOKENS_PER_SECOND * len(piece.samples) // SAMPLE_RATE),
                word_timestamps=self._options.words,
                hotwords=terms or None,
            )
            found = list(segments)
        except (RuntimeError, ValueError) as error:
            raise MediaError(f"{self._source} cannot be transcribed: {error}", source=self._source) from error
        if not self.language:
            self.language, self.certainty = info.language, float(info.language_probability)
        return found


def _reason_to_drop(segment: Any) -> str | None:
    # Not the ratio of faster-whisper: it is of all segments of a piece, in which a speaker may repeat a sentence.
    text: bytes = segment.text.encode()
    if len(text) / len(zlib.compress(text)) > _REPETITION:
        return "repetition"
    if segment.no_speech_prob > _NO_SPEECH and segment.avg_logprob < _UNCERTAIN:
        return "no speech"
    return "not understood" if segment.avg_logprob < _NOT_UNDERSTOOD else None


def _repeated(texts: Sequence[str]) -> set[int]:
    """Returns the indices of texts that are in a row of equal ones."""
    found: set[int] = set()
    for _, group in groupby(range(len(texts)), key=lambda index: texts[index].strip().lower()):
        row = list(group)
        if len(row) >= _REPEATED:
            found.update(row)
    return found
