"""Reads frames of a video with PyAV: at given times, or all of them or the keyframes, to measure them."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from ..audio.read_length import ReadLength
from ..common.av_files import duration, first_track, open_recording
from ..common.content import source_of
from ..common.extras import missing_module
from .measures import brightness, sharpness
from .survey import Surveyor, VideoSurvey

if TYPE_CHECKING:
    from av.container.input import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream
    from PIL.Image import Image

_LAST_SECONDS = 10.0
"""What is read to see that a file is not cut."""
_ALL_PIXELS = 1_500_000_000
"""Videos with fewer pixels are looked at frame by frame, others by keyframe: 12 s of 1080p, a minute of 480p."""
_KEYFRAME_PIXELS = 20 * _ALL_PIXELS
_EQUAL = 0.001
_BLURRED = 0.5
_NEIGHBOURS = 12
_JPEG_QUALITY = 85


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame, its time in seconds, and how sharp it is."""

    time: float
    image: Image
    sharpness: float

    def jpeg(self) -> bytes:
        """Returns the frame as JPEG."""
        return jpeg(self.image)


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What the header of a video says: its seconds and number of frames (0: not known), and its tracks.

    `spoken` is the language tag of the sound, "" for none, `subtitles` the number of their tracks.
    """

    seconds: float
    frames: int
    has_video: bool
    has_sound: bool
    spoken: str = ""
    subtitles: int = 0


def measured(part: MediaPart) -> Generator[tuple[int | None, int | None, float | None], Any, None]:
    """Yields width and height of the frames of a video, and the seconds that its header says."""
    with open_recording(part, "Measuring videos", "av", "video") as container:
        if not container.streams.video:
            yield None, None, duration(container) or None
            return
        stream = first_track(container, "video", source_of(part))
        size = stream.codec_context.width or None, stream.codec_context.height or None
        yield *size, _seconds(container, stream) or None


def jpeg(image: Image) -> bytes:
    """Returns an image as JPEG."""
    out = io.BytesIO()
    image.save(out, "JPEG", quality=_JPEG_QUALITY)
    return out.getvalue()


class VideoReader:
    """Reads the first video track of a file.

    `max_side` is the longer side of images in pixels, `max_pixels` the limit for a frame of the file.
    """

    def __init__(
        self, part: MediaPart, *, max_side: int, max_pixels: int, threads: int, check_stop: Callable[[], None]
    ) -> None:
        self._part, self._source = part, source_of(part)
        self._max_side, self._max_pixels, self._threads = max_side, max_pixels, threads
        self._check_stop = check_stop
        self._aspect = 1.0

    def info(self) -> VideoInfo:
        """Returns the facts in the header."""
        with open_recording(self._part, "Reading videos", "av", "video") as container:
            sounds = container.streams.audio
            about = bool(sounds), (sounds[0].language or "") if sounds else "", len(container.streams.subtitles)
            if not container.streams.video:
                return VideoInfo(duration(container), 0, False, *about)
            stream = container.streams.video[0]
            seconds = _seconds(container, stream)
            frames = stream.frames or round(seconds * float(stream.average_rate or 0))
            return VideoInfo(seconds, frames, True, *about)

    def survey(self, start: float, end: float) -> VideoSurvey:
        """Returns what the frames from `start` to `end` show: all of them, or only keyframes, as in long videos.

        Of a very long one, the end is not looked at.
        """
        with self._opened(frame_threads=True) as (container, stream):
            context = stream.codec_context
            frames = (end - start) * float(stream.average_rate or 25)
            size = context.width * context.height
            surveyor = Surveyor(end - start, size, only_keyframes=frames * size > _ALL_PIXELS)
            if start:
                _seek(container, stream, start)
            length = ReadLength(self._part, container)
            packets = surveyor.wanted(length.packets(container, stream.index))
            pixels, is_beyond, is_partial = 0, False, False
            for time, frame in self._frames(stream, packets):
                if time < start:
                    continue
                is_beyond, is_partial = time > end, pixels > _KEYFRAME_PIXELS
                if is_beyond or is_partial:
                    break
                surveyor.see(time, frame)
                pixels += frame.width * frame.height
                if pixels > 2 * _ALL_PIXELS and not surveyor.only_keyframes:  # the header is wrong
                    surveyor.only_keyframes = True
        is_read = is_beyond or is_partial
        missing = 0.0 if is_read else length.missing(start, None if end == float("inf") else end)
        return VideoSurvey(
            surveyor.candidates,
            surveyor.looks,
            surveyor.only_keyframes,
            surveyor.only_keyframes and surveyor.is_still,
            missing,
            is_read or length.has_end,
            is_partial,
        )

    def missing(self, start: float, end: float) -> tuple[float, bool]:
        """Returns how many seconds between two times cannot be read, and whether the file has its end. Decodes
        nothing.
        """
        last = max(start, end - _LAST_SECONDS)
        missing, has_end = self._missing(last, end)
        # Nothing can be read behind a cut, so how far the file reaches is then not known.
        return self._missing(start, end) if last > start and (missing or not has_end) else (missing, has_end)

    def _missing(self, start: float, end: float) -> tuple[float, bool]:
        with self._opened() as (container, stream):
            if start:
                _seek(container, stream, start)
            length = ReadLength(self._part, container)
            for _ in length.packets(container, stream.index):
                self._check_stop()
                if length.until > end:
                    return 0.0, True
            return length.missing(start, end), length.has_end

    def frames_at(self, times: Sequence[float], tolerance: float, exact: Set[float] = frozenset()) -> list[Frame]:
        """Returns the frames at `times`, in order, or up to `tolerance` seconds before, where that is a keyframe, but
        for `exact` times. With a tolerance of 0, the video is decoded up to the last one.

        With one, what is blurred, compared with the others, is replaced by the sharpest of the frames that follow.
        """
        with self._opened() as (container, stream):
            each_at = (
                self._at(container, stream, {time: 0.0 if time in exact else tolerance for time in times})
                if tolerance
                else self._passed(container, stream, times)
            )
            found = list({frame.time: frame for frame in each_at}.values())
            usual = sorted(frame.sharpness for frame in found)[len(found) // 2] if found else 0.0
            for index, frame in enumerate(found):
                if tolerance and frame.time not in exact and frame.sharpness < _BLURRED * usual:
                    latest = min([frame.time + tolerance, *(each.time for each in found[index + 1 : index + 2])])
                    found[index] = self._sharpest(container, stream, frame, latest)
        return found

    def _at(self, container: InputContainer, stream: VideoStream, times: Mapping[float, float]) -> Iterator[Frame]:
        """Yields the frames at some times, with the tolerance of each, each after a seek."""
        for time, tolerance in times.items():
            _seek(container, stream, time)
            best: tuple[float, VideoFrame] | None = None
            for found, frame in self._frames(stream, _packets(container, stream)):
                if best is not None and found > time + _EQUAL:
                    break
                best = found, frame
                if found >= time - tolerance - _EQUAL:
                    break
            if best is not None:
                yield self._frame(*best)

    def _passed(self, container: InputContainer, stream: VideoStream, times: Sequence[float]) -> Iterator[Frame]:
        """Yields the frames at some times, in one pass."""
        left = list(times)
        if left:
            _seek(container, stream, left[0])
        for time, frame in self._frames(stream, _packets(container, stream)) if left else ():
            if time >= left[0] - _EQUAL:
                yield self._frame(time, frame)
                while left and left[0] - _EQUAL <= time:
                    left.pop(0)
                if not left:
                    return

    def _sharpest(self, container: InputContainer, stream: VideoStream, frame: Frame, latest: float) -> Frame:
        _seek(container, stream, frame.time)
        best, looked = frame, 0
        for time, each in self._frames(stream, _packets(container, stream)):
            if time >= latest or looked > _NEIGHBOURS:
                break
            if time > frame.time:
                looked += 1
                if sharpness(brightness(each)) > best.sharpness:
                    best = self._frame(time, each)
        return best

    def _frames(self, stream: VideoStream, packets: Iterable[Any]) -> Iterator[tuple[float, VideoFrame]]:
        """Yields the frames of packets that can be decoded, each with its time."""
        from av.error import InvalidDataError

        begin = float((stream.start_time or 0) * (stream.time_base or 0))
        for packet in packets:
            self._check_stop()
            try:
                frames = packet.decode()
            except InvalidDataError:
                continue
            for frame in frames:
                if frame.width * frame.height > self._max_pixels:
                    raise self._too_large(frame.width, frame.height)
                if frame.pts is not None:
                    yield max(0.0, frame.time - begin), frame

    def _frame(self, time: float, frame: VideoFrame) -> Frame:
        width, height = frame.width * self._aspect, frame.height
        scale = min(1.0, self._max_side / max(width, height))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image: Any = cast(Any, frame).reformat(*size, format="rgb24", interpolation="AREA").to_image()
        rotation = frame.rotation
        return Frame(time, image.rotate(rotation, expand=True) if rotation else image, sharpness(brightness(frame)))

    @contextmanager
    def _opened(self, *, frame_threads: bool = False) -> Generator[tuple[InputContainer, VideoStream]]:
        for package in ("numpy", "PIL"):
            _check_installed(package)
        with open_recording(self._part, "Reading frames of videos", "av", "video") as container:
            stream = first_track(container, "video", self._source)
            context: Any = stream.codec_context
            if context.width * context.height > self._max_pixels:
                raise self._too_large(context.width, context.height)
            aspect = float(stream.sample_aspect_ratio or 1)
            self._aspect = aspect if 0.1 < aspect < 10 else 1.0
            context.options = {"max_pixels": str(self._max_pixels)}
            context.thread_count = self._threads
            # Threads for frames delay the first one after each seek.
            stream.thread_type = "AUTO" if frame_threads else "SLICE"
            yield container, stream

    def _too_large(self, width: int, height: int) -> MediaError:
        return MediaError(
            f"{self._source} has frames of {width} x {height} pixels; the limit is {self._max_pixels:,} pixels.",
            source=self._source,
            hint="Make a smaller copy: ffmpeg -i large.mp4 -vf scale=1920:-2 small.mp4",
        )


def _seconds(container: InputContainer, stream: VideoStream) -> float:
    own = float((stream.duration or 0) * (stream.time_base or 0))
    return own if own > 0 else duration(container)


def _packets(container: InputContainer, stream: VideoStream) -> Iterator[Any]:
    """Yields the packets of a track up to the first that cannot be read, as in a file that is cut."""
    from av.error import FFmpegError

    try:
        yield from container.demux(stream)
    except FFmpegError:
        return


def _seek(container: InputContainer, stream: VideoStream, time: float) -> None:
    """Seeks to the keyframe at or before `time`; formats that cannot do so go on, or are read from their beginning."""
    from av.error import FFmpegError

    base: Any = stream.time_base or 1
    try:
        container.seek(int(time / base) + (stream.start_time or 0), stream=stream)
    except FFmpegError:
        container.seek(0)


def _check_installed(package: str) -> None:
    from importlib import import_module

    try:
        import_module(package)
    except ImportError as error:
        raise missing_module(error, "Reading frames of videos", "video") from error
