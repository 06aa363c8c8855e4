"""`NoDownloads`: refuses to download what clients name. A server inside a network reaches what its clients do not."""

from __future__ import annotations

from abstractcore.errors import MediaError
from abstractcore.ports import FetchedFile


class NoDownloads:
    """A fetcher that downloads nothing."""

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Raises `MediaError`."""
        raise MediaError(
            "this server downloads no files",
            hint="Send the file itself, as base64: the model's provider reads no URLs.",
        )
