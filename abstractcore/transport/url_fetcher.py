"""`URLFetcher`: downloads files from the public internet, and from nowhere else unless that is allowed."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

import httpcore2
import httpx2

from ..concurrency import drive
from ..errors import AbstractCoreError, MediaError
from ..ports import Body, FetchedFile
from ..schema import WireRequest
from ..schema.base_error import shown_address
from .settings import TransportSettings
from .sync_http import SyncHttpTransport

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "abstractcore"}
_DOWNLOAD = "Download it yourself, and pass the path of the file."
_ALLOW = "If it is meant, allow it: Services(fetcher=URLFetcher(allow_private=True))."
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""A gateway translates these to the IPv4 address in their last 32 bits (RFC 6052)."""
_NOT_PUBLIC = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48")))
"""Addresses that `ipaddress` may take for public: IPv4-compatible ones (RFC 4291), IPv4-translated ones (RFC 2765), and
those for local translation (RFC 8215).
"""


class URLFetcher:
    """Downloads files within limits: `max_bytes` of decoded content, `max_redirects`, and `timeout` seconds for all.

    Without `allow_private`, only public addresses are connected to: every address that a name resolves to is checked
    when it is connected to, for each redirect again. A proxy of `settings` resolves names itself: then only numeric
    addresses can be checked. Usable from any thread.
    """

    def __init__(
        self,
        *,
        max_bytes: int = 256 << 20,
        max_redirects: int = 5,
        timeout: float = 120.0,
        allow_private: bool = False,
        settings: TransportSettings | None = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._max_redirects = max_redirects
        self._timeout = timeout
        self._allow_private = allow_private
        self._settings = settings

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Returns the file at an http(s) URL, within `timeout` seconds; blocks.

        Raises `MediaError` for an address that is not public, a failure of the network or the server, and a limit.
        """
        source = shown_address(url)
        deadline = time.monotonic() + min(self._timeout, timeout if timeout is not None else self._timeout)
        check = None if self._allow_private else check_public
        transport = SyncHttpTransport(self._settings or TransportSettings(), check)
        try:
            return drive(self._fetch(transport, url, source, deadline))
        except MediaError:
            raise
        except AbstractCoreError as error:
            raise MediaError(
                f"{source} cannot be downloaded: {error.message}.", source=source, hint=_DOWNLOAD
            ) from None
        finally:
            transport.close_now()

    async def _fetch(self, transport: SyncHttpTransport, url: str, source: str, deadline: float) -> FetchedFile:
        for _ in range(self._max_redirects + 1):
            parsed = self._check_url(url, source)
            request = WireRequest(str(parsed), _HEADERS, b"", "GET")
            body = await transport.open(request, _left(deadline, source))
            try:
                if body.status in _REDIRECTS and "location" in body.headers:
                    url = _redirect_url(parsed, body.headers["location"], source)
                    continue
                if body.status != 200:
                    raise MediaError(
                        f"{source} cannot be downloaded: the server answered with status {body.status}.",
                        source=source,
                        hint=_DOWNLOAD,
                    )
                data = await self._content(body, source, deadline)
                return FetchedFile(data, _media_type(body.headers), _name(parsed))
            finally:
                await body.close()
        raise MediaError(f"{source} redirects more than {self._max_redirects} times.", source=source, hint=_DOWNLOAD)

    def _check_url(self, url: str, source: str) -> httpx2.URL:
        """Returns the URL as it is connected to; raises `MediaError` for one that may be read in two ways."""
        parsed = _parse_url(url)
        if parsed is None:
            raise MediaError(f"{source} is not a valid URL.", source=source)
        if parsed.scheme not in ("http", "https"):
            what = f"{source} leads to a URL with the scheme {parsed.scheme}:, which is not downloaded."
            raise MediaError(what, source=source, hint=_DOWNLOAD)
        if parsed.userinfo:
            raise MediaError(f"{source} has a user name or password, which is not sent.", source=source, hint=_DOWNLOAD)
        if not self._allow_private and _is_private(parsed.host):
            raise MediaError(f"{source} leads to {parsed.host}, which is not public.", source=source, hint=_ALLOW)
        return parsed

    async def _content(self, body: Body, source: str, deadline: float) -> bytes:
        announced = body.headers.get("content-length", "")
        chunks: list[bytes] = []
        size = int(announced) if announced.isdecimal() and len(announced) < 16 else 0
        if size <= self._max_bytes:
            size = 0
            while chunk := await body.read():
                size += len(chunk)
                chunks.append(chunk)
                if size > self._max_bytes:
                    break
                _left(deadline, source)
        if size > self._max_bytes:
            raise MediaError(
                f"{source} has more than {self._max_bytes:,} bytes, which is the limit.", source=source, hint=_DOWNLOAD
            )
        if not size:
            raise MediaError(f"{source} is empty: there is nothing to send.", source=source)
        return b"".join(chunks)


def _redirect_url(url: httpx2.URL, location: str, source: str) -> str:
    """Returns the URL that a server redirects to; the address is not shown, which may hold a secret."""
    try:
        return str(url.join(location))
    except (httpx2.InvalidURL, ValueError):
        raise MediaError(f"{source} redirects to an invalid URL.", source=source, hint=_DOWNLOAD) from None


def _parse_url(url: str) -> httpx2.URL | None:
    if "\\" in url or any(character.isspace() or ord(character) < 32 for character in url):
        return None
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        return None
    return parsed if parsed.host else None


def check_public(host: str, addresses: Sequence[str]) -> None:
    """Raises `httpcore2.ConnectError` if one of the addresses of `host` is not public."""
    for address in addresses:
        if _is_private(address):
            raise httpcore2.ConnectError(f"{host} has the address {address}, which is not public")


def _is_private(host: str) -> bool:
    """Returns whether a numeric address is not public; False for names."""
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_site_local or any(address in network for network in _NOT_PUBLIC):
            return True
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            address = inner
    return not address.is_global or address.is_multicast


def _left(deadline: float, source: str) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise MediaError(f"{source} took too long to download.", source=source, hint=_DOWNLOAD)
    return left


def _media_type(headers: Mapping[str, str]) -> str | None:
    return headers.get("content-type", "").partition(";")[0].strip().lower() or None


def _name(url: httpx2.URL) -> str | None:
    return os.path.basename(unquote(url.path)) or None
