"""Splits byte streams at line ends (LF, CR, CRLF)."""

from __future__ import annotations

from ..errors import ServerError

MAX_FRAME_BYTES = 32 * 1024 * 1024
"""The maximum size of a line or event: more than any provider sends, and small enough to hold in memory."""


class LineSplitter:
    """Returns complete lines without their ends, and keeps an incomplete line for the next bytes."""

    __slots__ = ("_limit", "_skip_line_feed", "_waiting", "_waiting_bytes")

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._limit = max_bytes
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._skip_line_feed = False

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the lines that `data` completes; raises `ServerError` for a line above the limit."""
        if self._skip_line_feed and data:
            self._skip_line_feed = False
            if data.startswith(b"\n"):
                data = data[1:]
        if not data:
            return []
        lines = data.splitlines()
        complete = data.endswith((b"\n", b"\r"))
        self._skip_line_feed = data.endswith(b"\r")
        if len(lines) == 1 and not complete:
            self._wait(data)
            return []
        if self._waiting:
            lines[0] = b"".join((*self._waiting, lines[0]))
            self._check(len(lines[0]))
            self._waiting.clear()
            self._waiting_bytes = 0
        if len(data) > self._limit:
            self._check(max(map(len, lines)))
        if not complete:
            self._wait(lines.pop())
        return lines

    def rest(self) -> bytes:
        """Returns the last line, if it has no line end."""
        return b"".join(self._waiting)

    def _wait(self, data: bytes) -> None:
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self._check(self._waiting_bytes)

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise ServerError(f"the provider sent a line of over {self._limit:,} bytes")


class LineFramer:
    """Splits a stream into lines, as of JSON lines; skips empty lines."""

    __slots__ = ("_lines",)

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._lines = LineSplitter(max_bytes)

    def accepts(self, start: bytes) -> bool | None:
        """Returns whether the first line that is not empty is the start of a one-line JSON object; None if too short.

        An object that spans several lines is one document, not a stream of lines.
        """
        line = start.lstrip()
        inside = line[1:].lstrip(b" \t")
        if not line or (line.startswith(b"{") and not inside):
            return None
        return line.startswith(b"{") and not inside.startswith((b"\r", b"\n"))

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the lines that `data` completes."""
        return [line for line in self._lines.feed(data) if line.strip()]

    def finish(self) -> list[bytes]:
        """Returns the last line, if it has no line end."""
        rest = self._lines.rest()
        return [rest] if rest.strip() else []
