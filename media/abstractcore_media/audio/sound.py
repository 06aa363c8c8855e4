"""Decodes audio of any format, in blocks of samples: for speech recognition, and to be encoded again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from ..common.av_files import duration, first_track, open_recording
from ..common.content import check_unchanged, source_of
from ..common.stopping import StopCheck
from .mixing import Mixer
from .read_length import ReadLength

if TYPE_CHECKING:
    import numpy as np
    from av.audio.frame import AudioFrame
    from av.container.input import InputContainer
    from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Samples per second for speech recognition, mono."""
SECONDS_PER_BLOCK = 60.0
"""The limit for decoding one block."""
_RESAMPLING = "filter_size=128:cutoff=0.98:linear_interp=1"
"""A steeper filter than FFmpeg's default: consonants above 6 kHz stay."""
_SAMPLE_BYTES = 2
_BLOCK_SECONDS = 5
_WIDEST = 32768.0


@dataclass(frozen=True, slots=True)
class SampleFormat:
    """Samples of 16 bits: how many a second, and of how many channels, one or two, which alternate."""

    rate: int = SAMPLE_RATE
    channels: int = 1

    @property
    def frame_bytes(self) -> int:
        """The bytes of a sample of each channel."""
        return self.channels * _SAMPLE_BYTES

    @property
    def bytes_per_second(self) -> int:
        """The bytes of a second."""
        return self.rate * self.frame_bytes


SPEECH = SampleFormat()
Run: TypeAlias = Callable[..., Generator[Any, Any, None]]
"""Runs a generator function with arguments, such as `MediaContext.isolated`."""


def run_unisolated(function: Run, *arguments: object) -> Generator[Any, Any, None]:
    """Runs a generator function in this process."""
    return function(*arguments)


class SoundReader:
    """Reads the first audio track of a file; `run` runs the decoder.

    `seconds` is what was read, `announced` the duration in the header (0 if there is none), `begin` the time of the
    first sample. After the last block, `missing` has the seconds that could not be read, and `has_end` is False if the
    file is cut.
    """

    def __init__(
        self,
        part: MediaPart,
        max_seconds: float,
        start: float = 0.0,
        end: float | None = None,
        timeout: float | None = None,
        run: Run = run_unisolated,
    ) -> None:
        self.seconds = self.announced = self.begin = self.missing = 0.0
        self.has_end = True
        self._run = run
        self._part, self._source, self._max_seconds = part, source_of(part), max_seconds
        self._arguments = part, max_seconds, start, end, timeout

    def blocks(self) -> Generator[NDArray[np.float32]]:
        """Yields the samples, from -1 to 1, from `start` to `end`. Corrupt packets are skipped.

        Raises `MediaError` if the track is missing, corrupt, empty or too long, or the file has changed.
        """
        import numpy as np

        check_unchanged(self._part)
        with closing(self._run(decoded_sound, *self._arguments)) as decoded:
            for self.announced, self.begin, missing, has_end, samples in decoded:
                self.missing, self.has_end = missing, has_end
                self.seconds += len(samples) / _SAMPLE_BYTES / SAMPLE_RATE
                if self.seconds > self._max_seconds + _BLOCK_SECONDS:  # a hostile process would never end
                    raise _too_long(self._source, self._max_seconds)
                if samples:
                    yield np.frombuffer(samples, "<i2").astype(np.float32) / _WIDEST


def announced_seconds(part: MediaPart) -> Generator[float, Any, None]:
    """Yields the seconds that the header of a recording says, 0 for none; raises `MediaError` if it cannot be read."""
    with open_recording(part, "Measuring recordings", "av", "audio") as container:
        yield duration(container)


def sound_facts(part: MediaPart) -> tuple[int, int, float]:
    """Returns the samples a second and the channels of the first audio track, and the seconds that the header says, 0
    for none; raises `MediaError` if it cannot be read or has no audio track.
    """
    with open_recording(part, "Converting recordings", "av", "audio") as container:
        codec = first_track(container, "audio", source_of(part)).codec_context
        return codec.sample_rate or SAMPLE_RATE, max(codec.channels, 1), duration(container)


def announced_between(seconds: float, start: float, end: float | None) -> float:
    """Returns how many of the seconds in a header are between two times."""
    return max(0.0, min(seconds, end if end is not None else seconds) - start) if seconds else 0.0


def decoded_sound(
    part: MediaPart,
    max_seconds: float,
    start: float,
    end: float | None,
    timeout: float | None,
    form: SampleFormat = SPEECH,
) -> Generator[tuple[float, float, float, bool, bytes], Any, None]:
    """Yields blocks of the first audio track of a file, between two times: the duration in the header, the time of the
    first sample, the seconds that could not be read, whether the file has its end, and samples of 16 bits. The last
    block may be empty; only there the seconds and the end are known.

    Raises `MediaError` if the track is missing, corrupt, empty or longer than `max_seconds`.
    """
    source = source_of(part)
    check_stop = StopCheck(source, timeout)
    with open_recording(part, "Transcribing audio", "faster-whisper", "audio") as container:
        announced = duration(container)
        track = _Track(part, container, max_seconds, check_stop)
        block = bytearray()
        position = kept = 0
        is_whole = True
        for piece in _resampled(track.frames(), form):
            check_stop()
            first, position = position, position + len(piece)
            until = None if end is None else _place(end - track.begin, first, form)
            piece = piece[_place(start - track.begin, first, form) : until]
            kept += len(piece)
            block += piece
            if kept > max_seconds * form.bytes_per_second:
                raise _too_long(source, max_seconds)
            if len(block) >= _BLOCK_SECONDS * form.bytes_per_second:
                yield announced, max(track.begin, start), 0.0, True, bytes(block)
                block.clear()
            if end is not None and _place(end - track.begin, position, form) == 0:
                is_whole = False
                break
        missing, has_end = (track.length.missing(start, end), track.length.has_end) if is_whole else (0.0, True)
        yield announced, max(track.begin, start), missing, has_end, bytes(block)
    if not kept and position:
        ends = track.begin + position / form.bytes_per_second
        raise MediaError(
            f"{source} has no audio from {start:g} seconds on: it ends at {ends:.1f}.",
            source=source,
            hint=f"Begin before that: File(..., start=0, end={ends:.0f}).",
        )
    if not kept:
        raise MediaError(
            f"{source} has no audio: its length is 0 seconds.", source=source, hint="Record it, or export it again."
        )


def _place(seconds: float, first: int, form: SampleFormat) -> int:
    """Returns the byte of a time in a piece that begins with byte `first`; 0 if it is before."""
    return max(0, form.frame_bytes * max(0, round(seconds * form.rate)) - first)


class _Track:
    """The frames of the first audio track that can be decoded, the time of the first one, and how far they reach."""

    def __init__(
        self, part: MediaPart, container: InputContainer, max_seconds: float, check_stop: Callable[[], None]
    ) -> None:
        self.begin = 0.0
        self.length = ReadLength(part, container)
        self._source = source_of(part)
        self._container = container
        self._max_seconds = max_seconds
        self._check_stop = check_stop

    def frames(self) -> Iterator[AudioFrame]:
        from av.error import InvalidDataError

        is_first = True
        track = first_track(self._container, "audio", self._source)
        for packet in self.length.packets(self._container, track.index):
            self._check_stop()
            try:
                frames = packet.decode()
            except InvalidDataError:
                self.length.skip(packet)
                continue
            for frame in frames:
                if is_first and frame.time is not None and 0 <= frame.time <= self._max_seconds:
                    self.begin = frame.time
                is_first = False
                frame.pts = None  # timestamps of corrupt files go backwards
                yield frame


def _resampled(frames: Iterator[AudioFrame], form: SampleFormat) -> Iterator[bytes]:
    """Yields samples in a form. What has several channels becomes one channel by `Mixer`."""
    graph: Any = None
    layout: object = None
    mixer = Mixer(form.rate)
    channels = form.channels
    for frame in frames:
        found = (frame.format.name, frame.layout.name, frame.sample_rate)
        if found != layout:  # some streams change it on the way
            if graph is not None:
                yield from _ended(graph, mixer, channels, form)
            channels = min(frame.layout.nb_channels, 2)
            graph, layout = _graph(frame, SampleFormat(form.rate, max(channels, form.channels))), found
        graph.push(frame)
        yield from _mixed(_pulled(graph), mixer, channels, form)
    if graph is not None:
        yield from _ended(graph, mixer, channels, form)


def _mixed(pieces: Iterator[bytes], mixer: Mixer, channels: int, form: SampleFormat) -> Iterator[bytes]:
    return mixer.mixed(pieces) if channels > form.channels else pieces


def _graph(frame: AudioFrame, form: SampleFormat) -> Any:
    from fractions import Fraction

    from av.filter import Graph

    graph: Any = Graph()
    source = graph.add_abuffer(
        sample_rate=frame.sample_rate,
        format=frame.format.name,
        layout=frame.layout.name,
        time_base=Fraction(1, frame.sample_rate),
    )
    resample = graph.add("aresample", f"{form.rate}:{_RESAMPLING}")
    layout = "mono" if form.channels == 1 else "stereo"
    wanted = graph.add("aformat", f"sample_fmts=s16:channel_layouts={layout}:sample_rates={form.rate}")
    sink = graph.add("abuffersink")
    source.link_to(resample)
    resample.link_to(wanted)
    wanted.link_to(sink)
    graph.configure()
    return graph


def _ended(graph: Any, mixer: Mixer, channels: int, form: SampleFormat) -> Iterator[bytes]:
    graph.push(None)
    yield from _mixed(_pulled(graph), mixer, channels, form)
    yield mixer.rest()


def _pulled(graph: Any) -> Iterator[bytes]:
    from av.error import BlockingIOError, EOFError

    while True:
        try:
            piece = graph.pull()
        except (BlockingIOError, EOFError):
            return
        yield bytes(piece.planes[0])[: piece.samples * piece.layout.nb_channels * _SAMPLE_BYTES]


def _too_long(source: str, max_seconds: float) -> MediaError:
    return MediaError(
        f"{source} is longer than {max_seconds / 60:g} minutes.",
        source=source,
        hint="Send a part of it: File(..., start=0, end=3600), or split it: "
        "ffmpeg -i long.wav -f segment -segment_time 3600 part%d.wav",
    )
