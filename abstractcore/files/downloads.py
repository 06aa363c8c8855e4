"""Keeps what is downloaded for a call: its files are converted again if there is too little room for them."""

from __future__ import annotations

from dataclasses import dataclass

from ..ports import FetchedFile, Fetcher


@dataclass(frozen=True, slots=True)
class KeptDownloads:
    """A fetcher that downloads each URL of a call once. What two threads download at once is kept once."""

    fetcher: Fetcher
    downloads: dict[str, FetchedFile]

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Returns the file at a URL; raises `MediaError`."""
        found = self.downloads.get(url)
        if found is None:
            found = self.downloads[url] = self.fetcher.fetch(url, timeout)
        return found
