"""Audio files: recognised by their first bytes, converted to a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.ports import Fallback
from abstractcore.schema import CallWarning, MediaPart

from ..common.content import check_family, content_of, source_of
from ..common.media_types import extensions_of
from ..common.recognition import recognised
from .speech import Transcriber

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext, Recognised

    from .sound import Sound

_REEXPORT = "Record or export it again; the rest can often be recovered with: ffmpeg -i broken.wav clean.wav"


class AudioHandler:
    """Handles audio files: transcribes them with the model of the option `transcription_model`."""

    name = "audio"
    fallbacks = (Fallback("transcript", frozenset({"text"})),)
    extensions = extensions_of("audio/")
    max_seconds = 4 * 3600.0

    def __init__(self) -> None:
        self._transcriber = Transcriber()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of an audio file; None for any other."""
        return recognised("audio", _is_audio, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` if the header is not one of an audio file, or a WAV file is truncated or empty.

        MP4 and Matroska pass as audio, whatever tracks they have: their headers may be at the end of the file.
        """
        if check_family(part, "audio/", "video/") != "audio/wav":
            return
        from .wav import read_wav_header

        source = source_of(part)
        try:
            header = read_wav_header(content_of(part))
        except ValueError as error:
            raise MediaError(f"{source} is a corrupt WAV file: {error}.", source=source, hint=_REEXPORT) from error
        if not header.present:
            raise MediaError(f"{source} has no audio: its length is 0 seconds.", source=source, hint=_REEXPORT)
        if header.present < header.announced:
            raise MediaError(
                f"{source} is truncated: it has {header.present:.1f} of {header.announced:.1f} seconds.",
                source=source,
                hint=_REEXPORT,
            )

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the transcript.

        Raises `MediaError` also if there is no speech: an empty transcript would invite the model to invent one.
        """
        from abstractcore.ports import Conversion

        from .sound import decode_sound

        model = context.options.get("transcription_model", "whisper-tiny.en")
        if not isinstance(model, str):
            raise InvalidInputError(f"expected a model name, got {model!r}", path="transcription_model")
        self.check(part)
        source = source_of(part)
        sound = decode_sound(content_of(part), source, self.max_seconds)
        text = self._transcriber.transcribe(sound, source, model, context)
        if not text:
            raise MediaError(
                f"No speech was found in {source} ({sound.seconds:.1f} s).",
                source=source,
                hint="For audio other than speech, use a model that accepts audio.",
            )
        return Conversion(text, "transcript", warnings=_shortfall(sound, source))


def _is_audio(media_type: str) -> bool:
    return media_type.startswith("audio/")


def _shortfall(sound: Sound, source: str) -> tuple[CallWarning, ...]:
    """Returns a warning if clearly less was decoded than the header announces; compressed formats estimate it."""
    if sound.seconds > 0.9 * sound.announced - 1:
        return ()
    message = (
        f"{source} is truncated or corrupt: only {sound.seconds:.1f} of {sound.announced:.1f} seconds "
        "could be decoded and transcribed."
    )
    return (CallWarning("media_damaged", "", message, requested=sound.announced, sent=sound.seconds),)
