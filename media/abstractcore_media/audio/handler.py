"""Audio files: recognised by their first bytes, converted to a transcript."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import MediaError
from abstractcore.ports import Fallback
from abstractcore.schema import CallWarning, MediaFacts, MediaPart

from ..common.content import check_family, source_of
from ..common.media_types import extensions_of
from ..common.recognition import recognised
from .speech_models import SpeechModels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstractcore.ports import Conversion, MediaContext, Recognised, Transcription

    from .headers import WavHeader

_REEXPORT = "Record or export it again; the rest can often be recovered with: ffmpeg -i broken.wav clean.wav"
_CERTAIN = 0.5
_TIMES = frozenset({"start", "end"})


class AudioHandler:
    """Handles audio files: transcribes them with the model of the option `transcription_model`.

    `models` are loaded speech models to share with another handler.
    """

    name = "audio"
    fallbacks = (
        Fallback("convert", frozenset({"audio/wav", "audio/mpeg"}), controls=_TIMES, packages={"av": "av"}),
        Fallback("transcript", frozenset({"text"}), controls=_TIMES, packages={"faster-whisper": "faster_whisper"}),
    )
    extensions = extensions_of("audio/")
    max_seconds = 4 * 3600.0

    def __init__(self, models: SpeechModels | None = None) -> None:
        self._models = models if models is not None else SpeechModels()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of an audio file; None for any other."""
        return recognised("audio", _is_audio, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` if the header is not one of an audio file, or a WAV file is empty or truncated: its rest
        can be converted, with a warning, but would be sent without one.

        MP4 and Matroska pass as audio, whatever tracks they have: their headers may be at the end of the file.
        """
        header = self._check_readable(part)
        if header is None or not header.announced or not header.present or header.present >= header.announced:
            return
        source = source_of(part)
        raise MediaError(
            f"{source} is truncated: it has {header.present:.1f} of {header.announced:.1f} seconds.",
            source=source,
            hint=f"{_REEXPORT}. What is there is transcribed with media_policy={{'audio': 'transcript'}}",
        )

    def measure(self, part: MediaPart, context: MediaContext | None = None) -> MediaFacts:
        """Returns the seconds that the header says; estimated for MP3 without a table of contents.

        Raises `MediaError` for a file that cannot be read, and `MissingExtraError` without PyAV, except for WAV.
        """
        if part.blob.media_type == "audio/wav":
            from ..common.av_files import opened_file
            from .headers import read_wav_header

            with suppress(ValueError), opened_file(part) as file:
                if (seconds := read_wav_header(file).present) is not None:
                    return MediaFacts(seconds=seconds)
        from ..common.isolation import first_value
        from .sound import announced_seconds

        return MediaFacts(seconds=first_value(context, announced_seconds, part) or None)

    def _check_readable(self, part: MediaPart) -> WavHeader | None:
        """Returns the header of a WAV file; raises `MediaError` if there is no sound in it."""
        if check_family(part, "audio/", "video/") != "audio/wav":
            return None
        from ..common.av_files import opened_file
        from .headers import read_wav_header

        source = source_of(part)
        try:
            with opened_file(part) as file:
                header = read_wav_header(file)
        except ValueError as error:
            raise MediaError(f"{source} is a corrupt WAV file: {error}.", source=source, hint=_REEXPORT) from error
        if header.present == 0:
            raise MediaError(f"{source} has no audio: its length is 0 seconds.", source=source, hint=_REEXPORT)
        return header

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the recording as WAV or MP3, or the transcript, a line with the time for each sentence.

        "convert" holds for recordings of a type that the model does not accept, unless they are too large for a
        request: these are transcribed, with a warning, or refused if that is not allowed. Raises `MediaError` also if
        there is no speech to transcribe: an empty transcript would invite the model to invent one.
        """
        self._check_readable(part)
        may_transcribe = "transcript" in (context.fallbacks or ("transcript",))
        if "convert" not in context.fallbacks or (may_transcribe and part.blob.media_type in context.accepted_outputs):
            return self._transcribed(part, context)
        from .converting import converted_recording, too_large

        converted = converted_recording(part, context, self.max_seconds)
        if converted is not None:
            return converted
        error = too_large(source_of(part))
        if not may_transcribe:
            raise error
        conversion = self._transcribed(part, context)
        warning = CallWarning("recording_too_large", "", f"{error.message} It is transcribed instead.")
        return replace(conversion, warnings=(warning, *conversion.warnings))

    def retranscribe(self, part: MediaPart, spans: Sequence[tuple[float, float]], context: MediaContext) -> Conversion:
        """Returns a transcript of `spans`, as another model on this machine hears it: see `Retranscribes`."""
        from .retranscription import retranscribed

        return retranscribed(part, spans, context, self._models, self.max_seconds)

    def _transcribed(self, part: MediaPart, context: MediaContext) -> Conversion:
        from abstractcore.ports import Conversion

        from .transcript import sound_losses, transcript_text
        from .transcription import transcribe

        source = source_of(part)
        found = transcribe(part, context, self._models, self.max_seconds)
        transcript = found.transcript
        if not transcript.segments:
            raise MediaError(
                f"No speech was found in {source} ({transcript.seconds or 0.0:.1f} s).",
                source=source,
                hint="For audio other than speech, use a model that accepts audio.",
            )
        text, anchors = transcript_text(transcript.segments)
        return Conversion(
            text,
            "transcript",
            usage=found.usage,
            warnings=transcript_warnings(found, source),
            anchors=anchors,
            fallback="transcript" if context.fallbacks else None,
            model=transcript.model,
            lost=sound_losses(transcript),
        )


def transcript_warnings(found: Transcription, source: str) -> tuple[CallWarning, ...]:
    """Returns the warnings of a transcription, and that its language is a guess."""
    transcript, certainty = found.transcript, found.transcript.certainty
    if not transcript.segments or certainty is None or certainty >= _CERTAIN:
        return tuple(found.warnings)
    message = (
        f"The language of {source} was detected as {transcript.language!r}, with a probability of "
        f"{certainty:.2f}. Set transcription_language=... in create_llm."
    )
    return (*found.warnings, CallWarning("language_uncertain", "", message, sent=transcript.language))


def _is_audio(media_type: str) -> bool:
    return media_type.startswith("audio/")
