"""Measures frames of videos: how much two differ, and how sharp one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from av.video.frame import VideoFrame
    from numpy.typing import NDArray

_SIDE = 96
"""About as many samples of each side are compared."""
_EACH_ROW = 8
_EIGHT_BIT = ("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "gray")
"""Pixel formats whose first plane is brightness, a byte each."""


def brightness(frame: VideoFrame) -> NDArray[np.uint8]:
    """Returns the brightness of each pixel, of shape (height, width), without a copy where that is possible."""
    import numpy as np

    if frame.format.name not in _EIGHT_BIT:
        frame = frame.reformat(format="gray")
    plane: Any = frame.planes[0]
    return np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: frame.height, : frame.width]


def thumbnail(pixels: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Returns samples of a frame, about 96 a side."""
    import numpy as np

    height, width = pixels.shape
    return pixels[:: max(1, height // _SIDE), :: max(1, width // _SIDE)].astype(np.int16)


def difference(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    """Returns how much two thumbnails differ, from 0 to 1: the mean of their differences."""
    return float(abs(one - other).mean()) / 255 if one.shape == other.shape else 1.0


def sharpness(pixels: NDArray[np.uint8]) -> float:
    """Returns the mean square of the differences between neighbours in a row, of some rows; 0 for one colour."""
    import numpy as np

    rows = pixels[_EACH_ROW // 2 :: _EACH_ROW].astype(np.int16)
    return float(np.square(np.diff(rows, axis=1), dtype=np.int32).mean()) if rows.size and rows.shape[1] > 1 else 0.0
