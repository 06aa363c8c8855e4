"""Reads HEIC files in a process of its own: libheif crashes on some corrupt files, which would end this process."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from abstractcore.errors import MediaError
from abstractcore.ports import current_interruption, interruptible

from ..common.extras import missing_extra

_CHILD = Path(__file__).with_name("heic_child.py")
_MAX_SECONDS = 60.0
_PIXEL_BYTES, _OTHER_BYTES, _PIECE_BYTES = 8, 32 << 20, 1 << 20
"""The most that the process may send: four samples of 16 bits a pixel, and the rest of the file with its profile."""
_TOO_LARGE = 3
"""The exit code for too many pixels; the child then writes the size."""


def decoded(data: bytes, source: str, max_pixels: int) -> bytes:
    """Returns the upright primary image of a HEIC file as an uncompressed TIFF with its color profile.

    Takes a quarter of a second more than decoding. Raises `MediaError` for a file that cannot be read, has more than
    `max_pixels`, or takes longer than a minute, and `MissingExtraError` without pi-heif.
    """
    return _run("decode", data, source, max_pixels)


def measured(data: bytes, source: str) -> tuple[int, int]:
    """Returns width and height, without decoding; raises as `decoded` does."""
    width, height = _run("measure", data, source, 0).split()
    return int(width), int(height)


def _run(task: str, data: bytes, source: str, max_pixels: int) -> bytes:
    _check_installed()
    if not sys.executable or getattr(sys, "frozen", False):  # it would start this program again
        raise MediaError(
            f"{source} is decoded by a separate Python interpreter, which this frozen program does not have.",
            source=source,
            hint="Save it as JPEG.",
        )
    # -P: the folder of the script is not searched for modules.
    command = [sys.executable, "-P", str(_CHILD), task, str(max_pixels)]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        raise MediaError(f"{source} cannot be decoded: no process can be started: {error}.", source=source) from error
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()
        process.kill()

    alarm = threading.Timer(_MAX_SECONDS, stop)
    with process:
        alarm.start()
        try:
            with interruptible(process.kill):
                output = _answer(process, data, max_pixels * _PIXEL_BYTES + _OTHER_BYTES)
        finally:
            alarm.cancel()
            process.kill()
    if (interruption := current_interruption()) is not None:
        interruption.check()
    if is_late.is_set():
        raise MediaError(
            f"{source} takes more than {_MAX_SECONDS:g} seconds to decode.", source=source, hint="Save it as JPEG."
        )
    if process.returncode == _TOO_LARGE:
        size = output.decode("ascii")
        raise MediaError(
            f"{source} has {size} pixels; at most {max_pixels:,} are decoded.", source=source, hint="Make it smaller."
        )
    if process.returncode:
        raise MediaError(f"{source} is a corrupt image.", source=source, hint="Download or export it again.")
    return output


def _answer(process: subprocess.Popen[bytes], data: bytes, max_bytes: int) -> bytes:
    """Returns the output of the process; kills it, if that is more than `max_bytes`: a hostile file may control it."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(data)
    output = bytearray()
    while len(output) <= max_bytes and (piece := process.stdout.read(_PIECE_BYTES)):
        output += piece
    if len(output) > max_bytes:
        process.kill()
    process.wait()
    return bytes(output)


def _check_installed() -> None:
    for package, name, extra in (("pi_heif", "pi-heif", "heic"), ("PIL", "pillow", "images")):
        try:
            found = find_spec(package)
        except ValueError:  # its import was blocked
            found = None
        if found is None:
            raise missing_extra("Reading HEIC images", name, extra)
