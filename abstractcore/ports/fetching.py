"""`Fetcher`: downloads files that are given as URLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file that was downloaded: its content, the media type that the server declared, and a name, as far as known."""

    data: bytes
    media_type: str | None = None
    name: str | None = None


class Fetcher(Protocol):
    """Downloads files; blocks."""

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Returns the file at an http(s) URL, within `timeout` seconds; raises `MediaError`."""
        ...
