"""`ReadLength`: how much of the announced seconds of a file was read, so that a cut or damaged file is named."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from abstractcore.schema import CallWarning, MediaLoss

from ..common.av_files import MICROSECONDS, duration, opened_file
from .headers import has_end_mark, stated_seconds

if TYPE_CHECKING:
    from av.container.input import InputContainer

    from abstractcore.schema import MediaPart

_SLACK_SECONDS, _SLACK_SHARE = 0.5, 0.002
_LONGEST_PACKET = 10.0


class ReadLength:
    """How much of the announced seconds of a file its packets reach.

    `announced` are the seconds that the header states, 0 if it states none, `until` is the end of the last packet.
    """

    def __init__(self, part: MediaPart, container: InputContainer) -> None:
        format = container.format.name.partition(",")[0]
        with opened_file(part) as file:
            self.announced = stated_seconds(file, format, duration(container))
            self._has_mark = has_end_mark(file, format)
        kinds = {stream.type for stream in container.streams}
        self._tracks = kinds & {"audio", "video"} or kinds
        self._begin = (container.start_time or 0) / MICROSECONDS
        self._is_broken = False
        self._skipped = 0.0
        self.until = 0.0

    @property
    def has_end(self) -> bool:
        """Whether the file ends as its format wants, and not in the middle of a packet. Ask after the last one."""
        return self._has_mark and not self._is_broken

    def packets(self, container: InputContainer, *tracks: int) -> Generator[Any]:
        """Yields the packets of some tracks, by their index. An error after the first packet ends them: so do files
        that are cut.
        """
        from av.error import FFmpegError

        packets: Any = container.demux()
        try:
            for packet in packets:
                self._note(packet)
                if packet.stream.index in tracks:
                    yield packet
        except FFmpegError:
            if not self.until:
                raise
            self._is_broken = True

    def skip(self, packet: Any) -> None:
        """Notes a packet that could not be decoded."""
        self._skipped += min(max(0.0, _seconds(packet, packet.duration)), _LONGEST_PACKET)

    def missing(self, start: float = 0.0, end: float | None = None) -> float:
        """Returns how many of the announced seconds between two times were not read; 0 for hardly any."""
        slack = _SLACK_SECONDS + _SLACK_SHARE * self.announced
        last = min(self.announced, end if end is not None else self.announced)
        cut = max(0.0, last - max(self.until, start))
        return sum(each for each in (cut, self._skipped) if each > slack)

    def _note(self, packet: Any) -> None:
        if not packet.size or packet.stream.type not in self._tracks:
            return
        self._is_broken = packet.is_corrupt
        begin = packet.pts if packet.pts is not None else packet.dts
        if begin is not None:
            self.until = max(self.until, _seconds(packet, begin + (packet.duration or 0)) - self._begin)


def _seconds(packet: Any, ticks: int | None) -> float:
    return float((ticks or 0) * (packet.time_base or 0))


def damage_warnings(source: str, seconds: float, missing: float, has_end: bool) -> list[CallWarning]:
    """Returns a warning about a file of which `missing` seconds beside those that were read could not be decoded, or
    that ends too early.
    """
    if missing:
        total = seconds + missing
        message = f"{source} is truncated or corrupt: only {seconds:.1f} of {total:.1f} seconds could be decoded."
        return [CallWarning("media_damaged", "", message, requested=total, sent=seconds)]
    if not has_end:
        message = f"{source} is truncated: it has {seconds:.1f} seconds, and its end is missing."
        return [CallWarning("media_damaged", "", message, sent=seconds)]
    return []


def damage_losses(seconds: float, missing: float) -> list[MediaLoss]:
    """Returns the loss of the seconds that could not be decoded."""
    return [MediaLoss("seconds", round(missing, 1), round(seconds + missing, 1), ("not decoded",))] if missing else []
