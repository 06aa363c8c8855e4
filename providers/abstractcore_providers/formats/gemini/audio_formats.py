"""Sound that comes in pieces: samples without a header, which follow one another as they are."""

from __future__ import annotations

from abstractcore.schema import AudioPart, Blob

_SAMPLES = ("audio/l16", "audio/l24", "audio/pcm")


def is_samples(part: object) -> bool:
    """Whether `part` is nothing but samples, as in `audio/L16;codec=pcm;rate=24000`."""
    if not isinstance(part, AudioPart) or part.blob.form != "bytes":
        return False
    return part.blob.media_type.partition(";")[0].strip() in _SAMPLES


class SoundPieces:
    """The pieces of one sound, of one media type, until it ends."""

    def __init__(self) -> None:
        self._pieces: list[AudioPart] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def takes(self, part: AudioPart) -> bool:
        """Whether `part` may be the next piece."""
        before = self._pieces[-1] if self._pieces else None
        return (
            before is not None
            and before.blob.media_type == part.blob.media_type
            and before.provider_options == part.provider_options
        )

    def add(self, part: AudioPart) -> None:
        """The next piece."""
        self._pieces.append(part)

    def end(self) -> AudioPart:
        """All of it in one part; another sound may begin."""
        first = self._pieces[0]
        whole = b"".join(piece.blob.read() for piece in self._pieces)
        self._pieces = []
        return AudioPart(Blob.from_bytes(whole, first.blob.media_type), provider_options=first.provider_options)
