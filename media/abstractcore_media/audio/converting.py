"""Converts recordings to WAV or MP3, for models that accept sound, but not of this type."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError
from abstractcore.ports import Conversion
from abstractcore.schema import Blob, MediaLoss, MediaPart

from ..common.content import check_unchanged, source_of
from .encoding import MP3, WAV, Target, written
from .read_length import damage_losses, damage_warnings
from .sound import SampleFormat, announced_between, decoded_sound, sound_facts

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

MAX_BYTES = 20 * 1024 * 1024
"""The largest recording that is made. The vendors of these models publish no limit of their own."""
_MAX_WHOLE_BYTES = 8 * 1024 * 1024
"""Up to this size the sample rate and two channels are kept."""
_WHOLE_RATE, _REDUCED_RATE = 48_000, 24_000
_WHOLE_BITS, _REDUCED_BITS = 128_000, 64_000
_MP3_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_SECONDS = 300.0
"""The limit for converting one recording; what is made has less than an hour."""
_EXTENSIONS = {WAV: "wav", MP3: "mp3"}


def converted_recording(part: MediaPart, context: MediaContext, max_seconds: float) -> Conversion | None:
    """Returns a recording as WAV or MP3, whichever the model accepts, within its controls; None if it is too long.

    Short ones keep their sample rate and up to two channels, as WAV if possible. Longer ones are reduced to one channel
    and 24,000 samples a second, as MP3 if possible. Raises `MediaError` if it cannot be decoded, or has changed.
    """
    source, controls = source_of(part), part.controls
    start = controls.start or 0.0 if controls is not None else 0.0
    end = controls.end if controls is not None else None
    types = [each for each in (WAV, MP3) if each in context.accepted_outputs]
    arguments = part, types, max_seconds, start, end, context.timeout
    check_unchanged(part)
    with closing(context.isolated(source, _SECONDS, encoded_recording, *arguments)) as encoded:
        found = next(encoded)
    if found is None:
        return None
    media_type, data, seconds, missing, has_end, rates, channels = found
    name = f"{source.rpartition('.')[0] or source}.{_EXTENSIONS[media_type]}"
    made = replace(part, blob=Blob.from_bytes(data, media_type, name=name), controls=None)
    return Conversion(
        (made,),
        "recording in another format",
        fallback="convert",
        warnings=tuple(damage_warnings(source, seconds, missing, has_end)),
        lost=(*damage_losses(seconds, missing), *_losses(seconds, rates, channels)),
    )


def too_large(source: str) -> MediaError:
    """Returns the error for a recording that is too long to be converted."""
    return MediaError(
        f"{source} is too long to be sent in another format: it would have more than {MAX_BYTES:,} bytes.",
        source=source,
        hint="Send a part of it: File(..., start=0, end=600), or set media_policy={'audio': 'transcript'}.",
    )


def encoded_recording(
    part: MediaPart,
    types: Sequence[str],
    max_seconds: float,
    start: float,
    end: float | None,
    timeout: float | None,
) -> Generator[tuple[str, bytes, float, float, bool, tuple[int, int], tuple[int, int]] | None, Any, None]:
    """Yields the media type, the content, its seconds, those that could not be read, whether the file has its end, and
    the sample rates and the channels, those of the file first; None for a recording that is too long.
    """
    rate, channels, announced = sound_facts(part)
    for target in _targets(types, rate, channels):
        if announced_between(announced, start, end) > target.max_seconds:
            continue
        sound = _CountedSamples(decoded_sound(part, max_seconds, start, end, timeout, target.form))
        data = written(sound, target)
        if data is not None:
            form = target.form
            yield (
                target.media_type,
                data,
                sound.size / form.bytes_per_second,
                sound.missing,
                sound.has_end,
                (rate, form.rate),
                (channels, form.channels),
            )
            return
    yield None


class _CountedSamples:
    """Blocks of samples, how many bytes they have had, and what could not be read."""

    def __init__(self, blocks: Iterable[tuple[float, float, float, bool, bytes]]) -> None:
        self._blocks = blocks
        self.size = 0
        self.missing = 0.0
        self.has_end = True

    def __iter__(self) -> Iterator[bytes]:
        for _, _, missing, has_end, block in self._blocks:
            self.missing, self.has_end = missing, has_end
            self.size += len(block)
            yield block


def _targets(types: Sequence[str], rate: int, channels: int) -> Iterator[Target]:
    """Yields the forms that a recording may be converted to, the best first."""
    whole, reduced = types[0], types[-1]
    for media_type, most_hertz, most_channels, max_bytes, bits in (
        (whole, _WHOLE_RATE, 2, _MAX_WHOLE_BYTES, _WHOLE_BITS),
        (reduced, _REDUCED_RATE, 1, MAX_BYTES, _REDUCED_BITS),
    ):
        hertz = min(rate, most_hertz)
        if media_type == MP3:
            hertz = next((each for each in _MP3_RATES if each >= hertz), _MP3_RATES[-1])
        form = SampleFormat(hertz, min(channels, most_channels))
        yield Target(media_type, form, max_bytes, bits if media_type == MP3 else form.bytes_per_second * 8)


def _losses(seconds: float, rates: tuple[int, int], channels: tuple[int, int]) -> Iterator[MediaLoss]:
    (rate, sent_rate), (given, sent) = rates, channels
    if sent_rate < rate:
        places = (f"{sent_rate:,} of {rate:,} a second",)
        yield MediaLoss("samples", round(seconds * (rate - sent_rate)), round(seconds * rate), places)
    if sent < given:
        yield MediaLoss("channels", given - sent, given, (f"{given} mixed to {sent}",))
