"""The process that reads one HEIC file, from stdin: `heic_child.py measure|decode MAX_PIXELS`. Knows nothing of the
rest: it is run as a script.
"""

from __future__ import annotations

import io
import sys

_MAX_MEMORY = 3 << 30
_TOO_LARGE = 3


def main() -> int:
    """Writes the size, or the image as TIFF; returns the exit code, 3 for too many pixels."""
    _limit_memory()
    from pi_heif import HeifImageFile  # pyright: ignore[reportMissingTypeStubs]

    task, max_pixels = sys.argv[1], int(sys.argv[2])
    image = HeifImageFile(io.BytesIO(sys.stdin.buffer.read()))
    width, height = image.size
    if task == "measure":
        sys.stdout.buffer.write(f"{width} {height}".encode())
        return 0
    if width * height > max_pixels:
        sys.stdout.buffer.write(f"{width} x {height}".encode())
        return _TOO_LARGE
    file = io.BytesIO()
    profile = image.info.get("icc_profile")
    image.load()
    image.info.clear()
    image.save(file, "TIFF", **({"icc_profile": profile} if profile else {}))
    sys.stdout.buffer.write(file.getvalue())
    return 0


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
