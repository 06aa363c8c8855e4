"""`Surveyor`: measures the frames of a video as they are decoded, all of them or only keyframes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .changes import Look, changed_cells, samples_of
from .measures import brightness, difference, sharpness, thumbnail
from .sampling import Candidate

if TYPE_CHECKING:
    import numpy as np
    from av.video.frame import VideoFrame
    from numpy.typing import NDArray

_LOOK_SECONDS = 0.5
_MAX_LOOKS = 3000
_STILL_SHARE, _STILL_PIXELS = 0.01, 5_000
"""Where nothing moves, the usual frame between keyframes has less than this of the bytes of a keyframe, or a byte for
so many pixels: that they are as before."""
_BURST = 2.5
"""A packet with so many times the bytes of the usual one holds a change, where nothing moves."""
_SETTLED_SECONDS = 0.6
_MAX_GROUP, _MAX_GROUP_BYTES = 3000, 1 << 26
_MAX_BURST_PIXELS = 8_000_000_000
"""What is decoded for changes between keyframes."""


@dataclass(frozen=True, slots=True)
class VideoSurvey:
    """What the frames of a video, or its keyframes, show: each measured, and the picture twice a second.

    Nothing moves after the last look if it `ends_still`. `missing` seconds could not be read, and the file ends too
    early if `has_end` is False. The survey `is_partial` if the end of a very long video was not looked at.
    """

    candidates: list[Candidate]
    looks: list[Look]
    only_keyframes: bool
    ends_still: bool
    missing: float
    has_end: bool
    is_partial: bool


class Surveyor:
    """Measures frames: all, or with `only_keyframes`, which may be set at any time, keyframes, and between these what
    changes where else nothing moves. Changes show in the sizes of packets, before they are decoded. `is_still` is
    whether nothing moves after the last keyframe.
    """

    def __init__(self, seconds: float, pixels: int, *, only_keyframes: bool) -> None:
        self.candidates: list[Candidate] = []
        self.looks: list[Look] = []
        self.only_keyframes = only_keyframes
        self._gap = max(_LOOK_SECONDS, seconds / _MAX_LOOKS) if seconds < float("inf") else _LOOK_SECONDS
        self.is_still = False
        self._still: dict[int, bool] = {}
        self._burst_pixels = 0
        self._frame_pixels = pixels
        self._last_key = float("-inf")
        self._small: NDArray[np.int16] | None = None
        self._samples: NDArray[np.uint8] | None = None

    def wanted(self, packets: Iterable[Any]) -> Iterator[Any]:
        """Yields the packets to decode. Those from one keyframe to the next are held until the next is there."""
        group: list[Any] = []
        size = 0
        for packet in packets:
            if not self.only_keyframes:
                yield packet
                continue
            if packet.is_keyframe or not packet.size or len(group) >= _MAX_GROUP or size > _MAX_GROUP_BYTES:
                yield from self._chosen(group)
                group, size = [], 0
            if not packet.size:  # the last one
                yield packet
                continue
            group.append(packet)
            size += packet.size
        yield from self._chosen(group)

    def see(self, time: float, frame: VideoFrame) -> None:
        """Measures a frame that was decoded."""
        light = brightness(frame)
        small = thumbnail(light)
        changed = 0.0 if self._small is None else difference(self._small, small)
        self.candidates.append(Candidate(time, changed, sharpness(light)))
        self._small = small
        is_first = not self.looks or (self.only_keyframes and frame.key_frame)
        if is_first or time >= self.looks[-1].time + (_LOOK_SECONDS if self.only_keyframes else self._gap):
            samples = samples_of(light)
            is_still = self.only_keyframes and self._still.get(frame.pts or 0, self.is_still)
            self.looks.append(Look(time, changed_cells(self._samples, samples), is_still))
            self._samples = samples

    def _chosen(self, group: Sequence[Any]) -> Iterator[Any]:
        """Yields the keyframe of a group, and what follows up to the last change, if there is one."""
        if not group or not group[0].is_keyframe or self._is_too_soon(group[0]):
            return
        key, *others = group
        sizes = sorted(packet.size for packet in others)
        usual = sizes[len(sizes) // 2] if sizes else key.size
        if key.pts is not None:
            self._still[key.pts] = self.is_still  # nothing moved before it
        self.is_still = usual < max(_STILL_SHARE * key.size, self._frame_pixels / _STILL_PIXELS)
        yield key
        last = max((n for n, packet in enumerate(others) if packet.size > _BURST * usual), default=-1)
        if last < 0 or not self.is_still or self._burst_pixels > _MAX_BURST_PIXELS:
            return
        until = _time(others[last]) + _SETTLED_SECONDS
        for number, packet in enumerate(others):
            if number > last and _time(packet) > until:
                return
            self._burst_pixels += self._frame_pixels
            yield packet

    def _is_too_soon(self, key: Any) -> bool:
        """Returns whether a keyframe follows another too closely to be looked at; in some videos all frames are."""
        time = _time(key)
        if self._last_key <= time < self._last_key + self._gap:
            return True
        self._last_key = time
        return False


def _time(packet: Any) -> float:
    return float((packet.pts or 0) * (packet.time_base or 0))
