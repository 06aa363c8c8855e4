"""Bodies in `multipart/form-data`, as clients that no library helps write them."""

from __future__ import annotations

from collections.abc import Iterable

BOUNDARY = "------a-boundary"


def form(parts: Iterable[tuple[str, str | None, bytes]]) -> tuple[bytes, str]:
    """The body of parts (name, file name, content), and its content type."""
    body = b""
    for name, file_name, content in parts:
        more = "" if file_name is None else f'; filename="{file_name}"'
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode(), f'multipart/form-data; boundary="{BOUNDARY}"'
