"""Speech to text with Whisper, by faster-whisper. Loads a model once and keeps it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.ports import Transcription, native_call
from abstractcore.schema import CallWarning, Transcript, TranscriptSegment, TranscriptWord

from ..common.extras import missing_extra
from .pauses import SpeechPiece
from .sound import SAMPLE_RATE

if TYPE_CHECKING:
    from .options import RecognitionOptions
    from .pauses import Samples

_MAX_PIECE_SECONDS = 28.0
"""Whisper hears 30 seconds at a time."""
_PAUSE_MS = 500
_MAX_TOKENS, _MAX_TERM_TOKENS = 440, 223
_TOKENS_PER_SECOND = 14
"""Twice those of a fast speaker: what repeats itself ends here."""


def find_speech(samples: Samples, longest: int) -> Sequence[tuple[int, int]]:
    """Returns first and last sample of each span of speech, by the voice activity model of faster-whisper.

    Without it, Whisper hears "You" in silence, and in a tone "Beep" a hundred times.
    """
    try:
        from faster_whisper import vad  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise missing_extra("Transcribing audio", "faster-whisper", "audio") from error
    options = vad.VadOptions(min_silence_duration_ms=_PAUSE_MS, max_speech_duration_s=longest / SAMPLE_RATE)
    with native_call("speech"):
        found = cast(Any, vad).get_speech_timestamps(samples, options)
    return [(int(each["start"]), int(each["end"])) for each in found if each["end"] > each["start"]]


class WhisperRecogniser:
    """Recognises the speech of one recording in one language: the given one, or that of the first piece. `load` returns
    the model when it is needed. Nothing is sampled: of `beam_size` texts the likeliest is taken.
    """

    max_seconds, max_bytes, at_once = _MAX_PIECE_SECONDS, math.inf, 1

    def __init__(self, load: Callable[[], Any], options: RecognitionOptions, source: str, beam_size: int = 5) -> None:
        self._beam_size = beam_size
        self._language = options.language
        self._certainty: float | None = None
        self._load, self._options, self._source = load, options, source

    @cached_property
    def _whisper(self) -> Any:
        """The model; raises `InvalidInputError` if it does not know the language."""
        whisper = self._load()
        if self._language is None and not whisper.model.is_multilingual:
            self._language = "en"
        if self._language is not None and self._language not in whisper.supported_languages:
            raise InvalidInputError(
                f"{self._options.model} does not know the language {self._language!r}",
                path="transcription_language",
                hint=f"It knows {', '.join(whisper.supported_languages)}. whisper-base knows 99 languages.",
            )
        return whisper

    def __call__(self, piece: SpeechPiece) -> Transcription:
        """Returns the segments of a piece; raises `MediaError` if that fails."""
        segments = tuple(map(_segment, self._recognised(piece)))
        transcript = Transcript(segments, language=self._language, certainty=self._certainty)
        return Transcription(transcript, warnings=unsupported_options(self._options))

    def _recognised(self, piece: SpeechPiece) -> list[Any]:
        whisper, terms = self._whisper, ", ".join(self._options.terms)
        room = _MAX_TOKENS
        if terms:
            room -= min(len(whisper.hf_tokenizer.encode(terms).ids), _MAX_TERM_TOKENS)
        try:
            with native_call(self._source):
                segments, info = whisper.transcribe(
                    piece.samples,
                    language=self._language,
                    beam_size=self._beam_size,
                    temperature=0.0,
                    condition_on_previous_text=False,
                    max_new_tokens=min(room, 32 + _TOKENS_PER_SECOND * len(piece.samples) // SAMPLE_RATE),
                    word_timestamps=self._options.words,
                    hotwords=terms or None,
                )
                found = list(segments)
        except (RuntimeError, ValueError) as error:
            raise MediaError(f"{self._source} cannot be transcribed: {error}", source=self._source) from error
        if self._language is None:
            self._language, self._certainty = info.language, float(info.language_probability)
        return found


def unsupported_options(options: RecognitionOptions) -> tuple[CallWarning, ...]:
    """Returns warnings about what was asked for, and Whisper cannot do."""
    if not options.speakers:
        return ()
    message = f"{options.model} does not tell speakers apart"
    return (CallWarning("unsupported_option", "transcription_speakers", message, True),)


def _segment(found: Any) -> TranscriptSegment:
    return TranscriptSegment(
        found.text.strip(),
        *_times(found),
        tuple(TranscriptWord(word.word.strip(), *_times(word)) for word in found.words or ()),
        log_probability=round(float(found.avg_logprob), 3),
        no_speech=round(float(found.no_speech_prob), 3),
    )


def _times(found: Any) -> tuple[float, float]:
    start = float(found.start)
    return start, max(start, float(found.end))
