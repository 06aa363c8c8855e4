"""Requests to an npm registry, with the library's own transport: its proxies, certificates and timeouts."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from urllib.parse import urljoin, urlsplit

from abstractcore.concurrency import drive
from abstractcore.errors import ModelStoreError
from abstractcore.ports import Body
from abstractcore.schema import WireRequest
from abstractcore.schema.base_error import shown_address
from abstractcore.transport import SyncHttpTransport, TransportSettings

from .npm_settings import NpmRegistry

_STEP_SECONDS = 60.0
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


class NpmResponse:
    """A response whose body is not read yet."""

    def __init__(self, url: str, body: Body) -> None:
        self.status = body.status
        self._url = url
        self._body = body

    def chunks(self) -> Iterator[bytes]:
        """Yields the body as it arrives."""
        while chunk := drive(self._body.read()):
            yield chunk

    def unexpected(self) -> ModelStoreError:
        """Returns the error for another status than expected."""
        return ModelStoreError(f"{shown_address(self._url)} answers with HTTP status {self.status}")


class NpmClient:
    """Sends GET requests for one package, with the token of the registry where one is set."""

    def __init__(self, registry: NpmRegistry) -> None:
        self.registry = registry
        self._transport = SyncHttpTransport(TransportSettings())

    @contextlib.contextmanager
    def get(self, url: str, **headers: str) -> Generator[NpmResponse]:
        """Yields the response after redirects. Raises `ModelStoreError` for too many, and for one without TLS after an
        address with TLS, and errors of the transport.
        """
        body, address = self._opened(url, headers)
        try:
            yield NpmResponse(address, body)
        finally:
            drive(body.close())

    def _opened(self, start: str, headers: dict[str, str]) -> tuple[Body, str]:
        url = start
        for _ in range(_MOST_REDIRECTS + 1):
            if _scheme(url) not in (_scheme(start), "https") or not _scheme(url).startswith("http"):
                raise ModelStoreError(f"{shown_address(url)} is not an address that packages are downloaded from")
            own = {"user-agent": "abstractcore", **headers, **self.registry.headers(url)}
            body = drive(self._transport.open(WireRequest(url, own, b"", "GET"), _STEP_SECONDS))
            if body.status not in _REDIRECTS or "location" not in body.headers:
                return body, url
            drive(body.close())
            with contextlib.suppress(ValueError):
                url = urljoin(url, body.headers["location"])
        raise ModelStoreError(f"{shown_address(start)} redirects more than {_MOST_REDIRECTS} times")

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close_now()


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
