"""Recognises speech by a transcriber elsewhere: encodes each piece of speech, sends it, and places what comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import AudioPart, Blob

from .encoding import FLAC, MP3, WAV, Target, written
from .pauses import BYTES_PER_SECOND
from .sound import SAMPLE_RATE, SPEECH
from .speakers import Speakers

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext, Transcriber, Transcription

    from ..common.stopping import StopCheck
    from .options import RecognitionOptions
    from .pauses import Samples, SpeechPiece

_EXTENSIONS = {FLAC: "flac", WAV: "wav", MP3: "mp3"}
_MP3_BITS = 64_000
_SECONDS, _SECONDS_WITHOUT_TIMES = 300.0, 60.0
"""The longest piece. Longer ones gain nothing but for speakers, and are done again as a whole if a request fails. Where
no times are reported, that of the piece is the time of its sentences."""
_AT_ONCE = 4
"""Requests at once; one where a piece needs the voices of those before it."""
_ENCODED_SHARE = 0.97
"""How much of the limit on bytes the samples may have: noise is a little larger as FLAC."""


class RemoteRecogniser:
    """Recognises the speech of one recording by a transcriber; every piece is one request."""

    def __init__(
        self, transcriber: Transcriber, options: RecognitionOptions, context: MediaContext, check_stop: StopCheck
    ) -> None:
        self._transcriber, self._options = transcriber, options
        self._context, self._check_stop = context, check_stop
        limits = transcriber.limits(options.language, options.speakers)
        self._media_type = next((each for each in _EXTENSIONS if each in limits.media_types), "")
        if not self._media_type:
            raise UnsupportedContentError(
                f"{transcriber.name} accepts no recording in a format that is written here.",
                hint=f"It needs one of {', '.join(_EXTENSIONS)}: set facts={{'accepts': [...]}}, or use another model.",
            )
        own = _SECONDS if limits.has_times else _SECONDS_WITHOUT_TIMES
        most = limits.max_seconds or own
        self.max_seconds = most if limits.has_speakers else min(most, own)
        self.max_bytes = float("inf")
        if limits.max_bytes is not None:
            share = BYTES_PER_SECOND * 8 / _MP3_BITS if self._media_type == MP3 else 1
            self.max_bytes = _ENCODED_SHARE * share * limits.max_bytes
        self.at_once = 1 if limits.has_speakers else _AT_ONCE
        self._speakers = Speakers(limits.known_speakers, self._recording)

    def __call__(self, piece: SpeechPiece) -> Transcription:
        """Returns the segments of a piece; raises the errors of the transcriber."""
        found = self._transcriber(
            self._recording(piece.samples, "speech"),
            seconds=len(piece.samples) / SAMPLE_RATE,
            language=self._options.language,
            terms=self._options.terms,
            words=self._options.words,
            speakers=self._options.speakers,
            voices=self._speakers.voices(),
            timeout=self._check_stop.seconds_left,
            parent_id=self._context.trace_id,
        )
        segments = self._speakers.named(found.transcript.segments, piece.samples)
        transcript = replace(found.transcript, segments=tuple(segments))
        return replace(found, transcript=transcript, warnings=(*found.warnings, *self._speakers.warnings))

    def _recording(self, samples: Samples, name: str) -> AudioPart:
        """Returns samples as a file that the transcriber accepts."""
        import numpy as np

        data = np.rint(samples * 32768).astype("<i2").tobytes()
        target = Target(self._media_type, SPEECH, 2 * len(data) + 65_536, _MP3_BITS)
        encoded = written([data], target) or b""
        file = f"{name}.{_EXTENSIONS[self._media_type]}"
        return AudioPart(Blob.from_bytes(encoded, self._media_type, name=file))
