"""Decodes audio of any format, in blocks of samples for speech recognition."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from ..common.av_files import duration, open_recording
from ..common.content import source_of

if TYPE_CHECKING:
    import numpy as np
    from av.audio.frame import AudioFrame
    from av.container.input import InputContainer
    from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Samples per second, mono."""
_RESAMPLING = f"{SAMPLE_RATE}:filter_size=128:cutoff=0.98:linear_interp=1"
"""A steeper filter than FFmpeg's default: consonants above 6 kHz stay."""


class SoundReader:
    """Reads the first audio track of a file.

    `seconds` is what was read, `announced` the duration in the header (0 if there is none), `begin` the time of the
    first sample.
    """

    def __init__(
        self,
        part: MediaPart,
        max_seconds: float,
        start: float = 0.0,
        end: float | None = None,
        check_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self.seconds = self.announced = self.begin = 0.0
        self._part, self._max_seconds, self._check_stop = part, max_seconds, check_stop
        self._start, self._end = start, end

    def blocks(self) -> Generator[NDArray[np.float32]]:
        """Yields the samples, from -1 to 1, from `start` to `end`. Corrupt packets are skipped.

        Raises `MediaError` if the track is missing, corrupt, empty or too long.
        """
        source = source_of(self._part)
        with open_recording(self._part, "Transcribing audio", "faster-whisper", "audio") as container:
            self.announced = duration(container)
            if not container.streams.audio:
                raise MediaError(f"{source} has no audio track.", source=source)
            position = 0
            for block in _resampled(self._frames(container)):
                self._check_stop()
                first, position = position, position + len(block)
                if self._end is not None:
                    block = block[: max(0, self._sample(self._end) - first)]
                    if not len(block):
                        break
                block = block[max(0, self._sample(self._start) - first) :]
                self.seconds += len(block) / SAMPLE_RATE
                if self.seconds > self._max_seconds:
                    raise _too_long(source, self._max_seconds)
                if len(block):
                    yield block
        self.begin = max(self.begin, self._start)
        if not self.seconds:
            raise MediaError(f"{source} has no audio: its length is 0 seconds.", source=source)

    def _sample(self, time: float) -> int:
        return max(0, round((time - self.begin) * SAMPLE_RATE))

    def _frames(self, container: InputContainer) -> Iterator[AudioFrame]:
        """Yields the frames that can be decoded."""
        from av.error import InvalidDataError

        is_first = True
        for packet in container.demux(container.streams.audio[0]):
            self._check_stop()
            try:
                frames = packet.decode()
            except InvalidDataError:
                continue
            for frame in frames:
                if is_first and frame.time is not None and 0 <= frame.time <= self._max_seconds:
                    self.begin = frame.time
                is_first = False
                frame.pts = None  # timestamps of corrupt files go backwards
                yield frame


def _resampled(frames: Iterator[AudioFrame]) -> Iterator[NDArray[np.float32]]:
    graph: Any = None
    layout: object = None
    for frame in frames:
        found = (frame.format.name, frame.layout.name, frame.sample_rate)
        if found != layout:  # some streams change it on the way
            if graph is not None:
                yield from _ended(graph)
            graph, layout = _graph(frame), found
        graph.push(frame)
        yield from _pulled(graph)
    if graph is not None:
        yield from _ended(graph)


def _graph(frame: AudioFrame) -> Any:
    from fractions import Fraction

    from av.filter import Graph

    graph: Any = Graph()
    source = graph.add_abuffer(
        sample_rate=frame.sample_rate,
        format=frame.format.name,
        layout=frame.layout.name,
        time_base=Fraction(1, frame.sample_rate),
    )
    resample = graph.add("aresample", _RESAMPLING)
    form = graph.add("aformat", f"sample_fmts=s16:channel_layouts=mono:sample_rates={SAMPLE_RATE}")
    sink = graph.add("abuffersink")
    source.link_to(resample)
    resample.link_to(form)
    form.link_to(sink)
    graph.configure()
    return graph


def _ended(graph: Any) -> Iterator[NDArray[np.float32]]:
    graph.push(None)
    yield from _pulled(graph)


def _pulled(graph: Any) -> Iterator[NDArray[np.float32]]:
    import numpy as np
    from av.error import BlockingIOError, EOFError

    while True:
        try:
            piece = graph.pull()
        except (BlockingIOError, EOFError):
            return
        yield piece.to_ndarray().reshape(-1).astype(np.float32) / 32768.0


def _too_long(source: str, max_seconds: float) -> MediaError:
    return MediaError(
        f"{source} is longer than {max_seconds / 60:g} minutes.",
        source=source,
        hint="Send a part of it: File(..., start=0, end=3600), or split it: "
        "ffmpeg -i long.wav -f segment -segment_time 3600 part%d.wav",
    )
