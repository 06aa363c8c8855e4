"""Opens recordings with PyAV, which bundles FFmpeg. Files are read in pieces, never as a whole."""

from __future__ import annotations

import io
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from .content import content_of, source_of
from .extras import missing_extra

if TYPE_CHECKING:
    from av.container.input import InputContainer

MICROSECONDS = 1_000_000
"""Units of `InputContainer.duration` in a second."""
_DEMUXERS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dts,dv,eac3,flac,flv,h264,hevc,ivf,m4v,matroska,mov,mp3,mpeg,mpegts,mpegvideo,"
    "ogg,rm,tta,w64,wav,wv,mxf,nut"
)
"""Formats that hold all of their content. For others, such as HLS and concat, FFmpeg opens further files and URLs."""


@contextmanager
def open_recording(part: MediaPart, purpose: str, package: str, extra: str) -> Generator[InputContainer]:
    """Yields the container of an audio or video file; raises `MediaError` if it cannot be read or decoded.

    `purpose`, `package` and `extra` are for the error without PyAV.
    """
    try:
        import av
        from av.error import FFmpegError
    except ImportError as error:
        raise missing_extra(purpose, package, extra) from error
    source = source_of(part)
    with _opened(part, source) as file:
        try:
            with av.open(
                file,
                mode="r",
                metadata_errors="ignore",
                buffer_size=1 << 16,
                container_options={"format_whitelist": _DEMUXERS, "protocol_whitelist": "file"},
            ) as container:
                yield container
        except (FFmpegError, ValueError, OverflowError) as error:
            raise MediaError(
                f"{source} cannot be decoded: it is corrupt, or not an audio or video file.",
                source=source,
                hint="If a player can play it, make a clean copy: ffmpeg -i broken.mp4 clean.mp4",
            ) from error


def duration(container: InputContainer) -> float:
    """Returns the seconds in the header; 0 without any."""
    return max(0, container.duration or 0) / MICROSECONDS


@contextmanager
def _opened(part: MediaPart, source: str) -> Generator[BinaryIO]:
    blob = part.blob
    if blob.form != "file" or blob.location is None:
        yield io.BytesIO(content_of(part))
        return
    try:
        file = open(blob.location, "rb")  # noqa: SIM115 - errors of the body are not errors of opening it
    except OSError as error:
        raise MediaError(f"{source} cannot be read: {error.strerror or error}.", source=source) from error
    with file:
        before = os.fstat(file.fileno())
        if blob.size is not None and before.st_size != blob.size:
            raise _changed(source)
        yield file
        after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise _changed(source)


def _changed(source: str) -> MediaError:
    return MediaError(f"{source} cannot be read: it has changed since it was added to the call.", source=source)
