"""Frames as a video file: VP9 in WebM, by PyAV."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

from abstractcore import Blob, MissingExtraError, VideoPart
from abstractcore.schema import install_hint


def video_of(frames: Sequence[Any], fps: float) -> VideoPart:
    """Returns frames, which are Pillow images of one size, as a video. Raises `MissingExtraError` without PyAV."""
    try:
        av: Any = import_module("av")
    except ImportError:
        hint = install_hint("av", extra="video")
        raise MissingExtraError("videos of this machine need the package av", hint=hint) from None
    written = io.BytesIO()
    with av.open(written, "w", format="webm") as file:
        stream = file.add_stream("libvpx-vp9", rate=Fraction(fps).limit_denominator(1000))
        stream.width, stream.height = (side - side % 2 for side in frames[0].size)
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": "24", "b": "0", "deadline": "good", "cpu-used": "4"}
        for image in frames:
            frame = av.VideoFrame.from_image(image.convert("RGB").crop((0, 0, stream.width, stream.height)))
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return VideoPart(Blob.from_bytes(written.getvalue(), "video/webm"))
