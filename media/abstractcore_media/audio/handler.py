"""Sound files: known by their first bytes, turned into a transcript of what is said."""

from __future__ import annotations

from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.ports import Conversion, MediaContext, Recognised
from abstractcore.schema import CallWarning, MediaPart

from ..common.content import check_family, content_of, source_of
from ..common.media_types import endings_of
from ..common.recognition import recognised
from .sound import Sound, decode_sound
from .speech import Transcriber
from .wav import read_wav_header

_REEXPORT = "Record or export it again; what there is can often be saved with: ffmpeg -i broken.wav clean.wav"


class AudioHandler:
    """Knows sound files, and transcribes them with the model that the option `transcription_model` names."""

    name = "audio"
    gives = frozenset({"text"})
    endings = endings_of("audio/")
    max_seconds = 4 * 3600.0

    def __init__(self) -> None:
        self._transcriber = Transcriber()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """A sound file; None for any other."""
        return recognised("audio", _is_sound, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raise `MediaError` if the header is not one of a sound file, or a WAV file is cut off or empty.

        MP4 and Matroska pass as sound, whatever tracks they have: their headers can stand at the end of the file.
        """
        if check_family(part, "audio/", "video/") != "audio/wav":
            return
        source = source_of(part)
        try:
            header = read_wav_header(content_of(part))
        except ValueError as error:
            raise MediaError(f"{source} is a broken WAV file: {error}.", source=source, hint=_REEXPORT) from error
        if not header.present:
            raise MediaError(f"{source} holds no sound: its length is 0 seconds.", source=source, hint=_REEXPORT)
        if header.present < header.announced:
            raise MediaError(
                f"{source} is cut off: it has {header.present:.1f} of the {header.announced:.1f} seconds it announces.",
                source=source,
                hint=_REEXPORT,
            )

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """The transcript.

        Raises `MediaError` also where nothing is said: an empty transcript would invite the model to make one up.
        """
        model = context.options.get("transcription_model", "whisper-tiny.en")
        if not isinstance(model, str):
            raise InvalidInputError(f"expected a model's name, got {model!r}", path="transcription_model")
        self.check(part)
        source = source_of(part)
        sound = decode_sound(content_of(part), source, self.max_seconds)
        text = self._transcriber.transcribe(sound, source, model, context)
        if not text:
            raise MediaError(
                f"No speech was found in {source} ({sound.seconds:.1f} s).",
                source=source,
                hint="For sounds other than speech, use a model that takes audio natively.",
            )
        return Conversion(text, "transcript", warnings=_shortfall(sound, source))


def _is_sound(media_type: str) -> bool:
    return media_type.startswith("audio/")


def _shortfall(sound: Sound, source: str) -> tuple[CallWarning, ...]:
    """A warning if clearly less was decoded than announced; compressed formats announce estimates."""
    if sound.seconds > 0.9 * sound.announced - 1:
        return ()
    message = (
        f"{source} is cut off or damaged: {sound.seconds:.1f} of the {sound.announced:.1f} seconds it announces "
        "could be decoded and transcribed."
    )
    return (CallWarning("media_damaged", "", message, requested=sound.announced, sent=sound.seconds),)
