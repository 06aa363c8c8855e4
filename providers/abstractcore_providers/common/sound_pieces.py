"""Audio in chunks: raw samples without a header, which can be concatenated."""

from __future__ import annotations

from abstractcore.schema import AudioPart, Blob

_SAMPLES = ("audio/l16", "audio/l24", "audio/pcm")


def is_samples(part: object) -> bool:
    """Whether `part` is raw samples, as in `audio/L16;codec=pcm;rate=24000`."""
    if not isinstance(part, AudioPart) or part.blob.form != "bytes":
        return False
    return part.blob.media_type.partition(";")[0].strip() in _SAMPLES


class SoundPieces:
    """The chunks of one audio part, of one media type."""

    def __init__(self) -> None:
        self._pieces: list[AudioPart] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def takes(self, part: AudioPart) -> bool:
        """Whether `part` can be the next chunk."""
        before = self._pieces[-1] if self._pieces else None
        return (
            before is not None
            and before.blob.media_type == part.blob.media_type
            and before.provider_options == part.provider_options
        )

    def add(self, part: AudioPart) -> None:
        """Adds the next chunk."""
        self._pieces.append(part)

    def end(self) -> AudioPart:
        """Returns the whole audio as one part, and starts anew."""
        first = self._pieces[0]
        whole = b"".join(piece.blob.read() for piece in self._pieces)
        self._pieces = []
        return AudioPart(Blob.from_bytes(whole, first.blob.media_type), provider_options=first.provider_options)
