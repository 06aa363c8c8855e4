"""Reads the subtitle tracks of a video: cues with times, by a generator that can run in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstractcore.schema import MediaPart, TranscriptSegment

from ..audio.read_length import ReadLength
from ..common.av_files import MICROSECONDS, open_recording
from ..common.content import source_of
from ..common.stopping import StopCheck
from .languages import language_code

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

_SECONDS = 120.0
"""The limit for reading the tracks of one video."""
_MAX_TRACKS = 50
_MAX_CUES, _MAX_CHARACTERS = 20_000, 400_000
"""Of each track; a film of two hours has some 1,500 cues."""
_MAX_CUE_CHARACTERS = 2_000
_LONGEST_CUE = 60.0
_EMPTY_BYTES = 2
"""In MP4, a packet of this size is a time without a subtitle."""
_SAME = 0.1
"""Seconds between two cues of the same text that are one: moving signs are many cues."""
_PICTURES = frozenset({"dvdsub", "dvbsub", "pgssub", "xsub", "dvd_subtitle", "dvb_subtitle", "hdmv_pgs_subtitle"})


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """A track of subtitles. `count` are those in the file, `cues` those that were read.

    `language` is a code of two letters, or three where there is none, "" if it is not known. A track `is_partial` that
    is forced, for a few foreign words, or a commentary. `is_pictures` has no text.
    """

    language: str
    title: str
    is_default: bool
    is_partial: bool
    is_pictures: bool
    count: int
    cues: tuple[TranscriptSegment, ...] = ()

    @property
    def name(self) -> str:
        """The language and the title of the track."""
        return ", ".join(filter(None, [self.language or "unknown language", self.title and f'"{self.title}"']))

    @property
    def seconds(self) -> float:
        """How long cues are shown."""
        return sum((cue.end or 0.0) - (cue.start or 0.0) for cue in self.cues)


@dataclass(frozen=True, slots=True)
class Subtitles:
    """The subtitle tracks of a video, at most 50 of the `total`, and what of the file could not be read: see
    `ReadLength`.
    """

    tracks: tuple[SubtitleTrack, ...]
    total: int = 0
    until: float = 0.0
    missing: float = 0.0
    has_end: bool = True


def subtitles_of(part: MediaPart, context: MediaContext) -> Subtitles:
    """Returns the subtitles within the controls of a video; raises `MediaError` if it cannot be decoded."""
    controls = part.controls
    start = controls.start or 0.0 if controls is not None else 0.0
    end = controls.end if controls is not None else None
    (found,) = context.isolated(source_of(part), _SECONDS, read_subtitles, part, start, end, context.timeout)
    tracks, *about = found
    return Subtitles(tuple(_track(*values) for values in tracks), *about)


def _track(*values: Any) -> SubtitleTrack:
    cues: Any = values[-1]
    segments = (TranscriptSegment(text, start, end, (), name) for start, end, name, text in cues)
    return SubtitleTrack(*values[:-1], cues=tuple(segments))


def read_subtitles(
    part: MediaPart, start: float, end: float | None, timeout: float | None
) -> Generator[tuple[Any, ...], Any, None]:
    """Yields one tuple: the tracks, each with the fields of `SubtitleTrack`, of each cue start, end, name and text,
    then the other fields of `Subtitles`.
    """
    from av.error import FFmpegError

    check_stop = StopCheck(source_of(part), timeout)
    with open_recording(part, "Reading subtitles", "av", "video") as container:
        begin = (container.start_time or 0) / MICROSECONDS
        tracks = {stream.index: _TrackReader(stream, begin) for stream in container.streams.subtitles[:_MAX_TRACKS]}
        length = ReadLength(part, container)
        for packet in length.packets(container, *tracks):
            check_stop()
            try:
                tracks[packet.stream.index].read(packet, start, end)
            except FFmpegError:
                continue  # counted, and not among the cues
        yield (
            [each.values() for each in tracks.values()],
            len(container.streams.subtitles),
            length.until,
            length.missing(start, end),
            length.has_end,
        )


class _TrackReader:
    """Reads one track, packet by packet."""

    def __init__(self, stream: Any, begin: float) -> None:
        self._stream, self._begin = stream, begin
        codec = stream.codec_context.name if stream.codec_context is not None else ""
        self._is_pictures = codec in _PICTURES
        self._cues: list[tuple[float, float, str | None, str]] = []
        self._count = self._characters = 0

    def read(self, packet: Any, start: float, end: float | None) -> None:
        """Adds the cues of a packet, if they are shown between two times."""
        base = packet.time_base or 0
        if not packet.size or packet.pts is None:
            return
        time = float(packet.pts * base) - self._begin
        until = min(time + float((packet.duration or 0) * base), time + _LONGEST_CUE)
        if until < start or time < 0 or (end is not None and time >= end):
            return
        texts = [] if self._is_pictures else _texts(packet)
        self._count += 1 if self._is_pictures else len(texts) or packet.size > _EMPTY_BYTES
        if self._is_pictures or len(self._cues) >= _MAX_CUES or self._characters >= _MAX_CHARACTERS:
            return
        for name, text in texts:
            self._add(time, max(until, time), name, text)

    def _add(self, time: float, until: float, name: str | None, text: str) -> None:
        if self._cues:
            before, last, *same = self._cues[-1]
            if same == [name, text] and before <= time <= last + _SAME:
                self._cues[-1] = before, min(max(last, until), before + _LONGEST_CUE), name, text
                self._count -= 1
                return
        self._cues.append((time, until, name, text))
        self._characters += len(text)

    def values(self) -> tuple[Any, ...]:
        """Returns the fields of `SubtitleTrack`; of a cue, its start, end, name and text."""
        from av.stream import Disposition

        flags = self._stream.disposition
        texts = self._stream.metadata
        title = (texts.get("title", "") or texts.get("handler_name", "")).encode("utf-8", "ignore").decode()
        return (
            language_code(self._stream.language or ""),
            " ".join(title.split())[:100] if title not in _HANDLERS else "",
            bool(flags & Disposition.default),
            bool(flags & (Disposition.forced | Disposition.comment)) or "forced" in title.lower(),
            self._is_pictures,
            self._count,
            sorted(self._cues, key=lambda cue: cue[:2]),
        )


_HANDLERS = frozenset({"SubtitleHandler", "Apple Subtitle Media Handler", "GPAC Subtitle Handler"})
"""Names that programs write where a title could stand."""


def _texts(packet: Any) -> list[tuple[str | None, str]]:
    """Returns the names and texts of a packet: its decoder gives lines of ASS, whatever the format is."""
    found: list[tuple[str | None, str]] = []
    decoded: Any = packet.decode()
    for rect in (each for subtitle in decoded for each in getattr(subtitle, "rects", [subtitle])):
        line = getattr(rect, "ass", b"") or b""
        fields = line.decode("utf-8", "replace").split(",", 8)
        if len(fields) == 9 and (text := plain_cue(fields[8])):
            found.append((" ".join(fields[3].split())[:100] or None, text))
    return found


def plain_cue(text: str) -> str:
    """Returns the words of a line of ASS, without its codes and drawings, in one line."""
    text = _CODES.sub(_uncoded, text[: 10 * _MAX_CUE_CHARACTERS]).replace("\\{", "{").replace("\\}", "}")
    return " ".join(_BREAKS.sub(" ", text).split())[:_MAX_CUE_CHARACTERS]


def _uncoded(found: re.Match[str]) -> str:
    """Returns what follows codes of ASS, unless that is a drawing; braces without codes stay."""
    if "\\" not in found[1]:
        return found[0]
    return "" if _DRAWING.search(found[1]) else found[2]


_CODES = re.compile(r"(?<!\\)\{([^{}]*)\}([^{}]*)")
_DRAWING = re.compile(r"\\p[1-9]")
_BREAKS = re.compile(r"\\[Nnh]")
