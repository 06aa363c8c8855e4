"""Opens recordings with PyAV, which bundles FFmpeg. Files are read in pieces, never as a whole."""

from __future__ import annotations

import io
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from .content import content_of, source_of
from .extras import missing_extra

if TYPE_CHECKING:
    from av.container.input import InputContainer

MICROSECONDS = 1_000_000
"""Units of `InputContainer.duration` in a second."""
_DEMUXERS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dts,dv,eac3,flac,flv,h264,hevc,ivf,loas,m4v,matroska,mov,mp3,mpc,mpc8,"
    "mpeg,mpegts,mpegvideo,ogg,rm,tak,tta,voc,w64,wav,wv,mxf,nut"
)
"""Formats that hold all of their content. For others, such as HLS and concat, FFmpeg opens further files and URLs."""
_MAX_BOXES = 1000
_CLEAN_COPY = "If a player can play it, make a clean copy: ffmpeg -i broken.mp4 clean.mp4"


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
    # Later versions have no such option: texts that are not UTF-8 have lone surrogates there.
    options: Any = {"metadata_errors": "ignore"} if int(av.__version__.partition(".")[0]) < 19 else {}
    with opened_file(part) as file:
        try:
            with av.open(
                file,
                mode="r",
                **options,
                buffer_size=1 << 16,
                container_options={"format_whitelist": _DEMUXERS, "protocol_whitelist": "file"},
            ) as container:
                yield container
        except (FFmpegError, ValueError, OverflowError) as error:
            if _lacks_index(file):
                raise MediaError(
                    f"{source} cannot be decoded: it is cut before its index, without which nothing of it can be read.",
                    source=source,
                    hint="Copy or record it again, or save its content with untrunc and another recording of the same "
                    "device.",
                ) from error
            raise MediaError(
                f"{source} cannot be decoded: it is corrupt, or not an audio or video file.",
                source=source,
                hint=_CLEAN_COPY,
            ) from error


def first_track(container: InputContainer, kind: Literal["audio", "video"], source: str) -> Any:
    """Returns the first track of a kind; raises `MediaError` if there is none, or none that can be decoded."""
    tracks: Any = container.streams.audio if kind == "audio" else container.streams.video
    if not tracks:
        raise MediaError(f"{source} has no {kind} track.", source=source, hint=_CLEAN_COPY)
    if tracks[0].codec_context is None:  # whatever its type says
        raise MediaError(f"{source} has a {kind} track in an unknown format.", source=source, hint=_CLEAN_COPY)
    return tracks[0]


def _lacks_index(file: BinaryIO) -> bool:
    """Returns whether a file is an MP4 whose content goes on beyond its end, without the index `moov` before it."""
    end, place = file.seek(0, os.SEEK_END), 0
    for number in range(_MAX_BOXES):
        file.seek(place)
        head = file.read(16)
        size, name = int.from_bytes(head[:4], "big"), head[4:8]
        if len(head) < 8 or name == b"moov" or (number == 0 and name != b"ftyp"):
            return False
        size = int.from_bytes(head[8:], "big") if size == 1 else size
        if name == b"mdat" and (size == 0 or place + size >= end):
            return True
        place += max(size, 8)
        if place >= end:
            return False
    return False


def duration(container: InputContainer) -> float:
    """Returns the seconds in the header; 0 without any."""
    return max(0, container.duration or 0) / MICROSECONDS


@contextmanager
def opened_file(part: MediaPart) -> Generator[BinaryIO]:
    """Yields the file of a part, to be read in pieces; raises `MediaError` if it cannot be read, or has changed."""
    blob, source = part.blob, source_of(part)
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
