"""Downloads a file over HTTP, with the library's own transport: its proxies, certificates and timeouts."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import abstractcore

from ..concurrency import drive
from ..schema import WireRequest
from ..schema.base_error import shown_address
from ..transport import TransportSettings

_MOST_BYTES = 256 * 1024 * 1024
_MOST_REDIRECTS = 5
_STEP_SECONDS = 60.0
_MOST_SECONDS = 1800.0
_HINT = "Check the URL, and that this machine can reach it."
_REDIRECTS = (301, 302, 303, 307, 308)


def is_url(source: str) -> bool:
    """Returns whether the source is the URL of a file."""
    return source.startswith(("http://", "https://"))


def download(url: str, folder: Path) -> Path:
    """Returns the path of the downloaded file in `folder`; raises `ProviderError`s as requests to providers do, and
    `ConfigurationError` for a text that is not a URL and another answer
    than a file.
    """
    try:
        urlsplit(url)
    except ValueError as error:
        raise abstractcore.ConfigurationError(f"{shown_address(url)} is not a URL: {error}.") from None
    services = abstractcore.Services()
    try:
        return drive(_fetch(url, folder, services))
    except abstractcore.AbstractCoreError as error:
        error.hint = error.hint and _HINT  # not one about options of create_llm
        raise
    finally:
        services.close()


async def _fetch(url: str, folder: Path, services: abstractcore.Services) -> Path:
    transport = services.sync_transport(TransportSettings())
    ends = time.monotonic() + _MOST_SECONDS
    for _ in range(_MOST_REDIRECTS + 1):
        body = await transport.open(WireRequest(url, {}, b"", "GET"), _STEP_SECONDS)
        try:
            if body.status in _REDIRECTS and "location" in body.headers:
                url = _redirected(url, body.headers["location"])
                continue
            if body.status != 200:
                raise abstractcore.ConfigurationError(f"{shown_address(url)} answers with HTTP status {body.status}.")
            path = folder / "download"
            size = 0
            with path.open("wb") as file:
                while chunk := await body.read():
                    size += len(chunk)
                    if size > _MOST_BYTES:
                        raise abstractcore.ConfigurationError(f"{shown_address(url)} is too large to be a catalogue.")
                    if time.monotonic() > ends:
                        raise abstractcore.ConfigurationError(
                            f"{shown_address(url)} takes longer than {_MOST_SECONDS:.0f} s.", hint=_HINT
                        )
                    file.write(chunk)
            return path
        finally:
            await body.close()
    raise abstractcore.ConfigurationError(f"{shown_address(url)} redirects more than {_MOST_REDIRECTS} times.")


def _redirected(url: str, location: str) -> str:
    """Returns the URL that an answer redirects to; raises `ConfigurationError` for one without TLS, after one with."""
    try:
        target = urljoin(url, location)
        allowed = is_url(target) and (urlsplit(target).scheme == "https" or not url.startswith("https:"))
    except ValueError:  # not a URL
        target, allowed = location, False
    if not allowed:
        raise abstractcore.ConfigurationError(f"{shown_address(url)} redirects to {shown_address(target)}.")
    return target
