"""`VendorCalls`: requests to a vendor in a call of a backend."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from abstractcore import CallWarning, UnsupportedOptionError
from abstractcore.ports import BackendOwner, Body
from abstractcore.schema import WireRequest, WireResponse

from .failures import error_of
from .vendors import VendorAccount, VendorRow, account


class VendorCalls:
    """Sends what a format writes to the vendor's address, with its key."""

    def __init__(self, owner: BackendOwner, row: VendorRow, credentials: Any) -> None:
        self._owner = owner
        self._row = row
        self._credentials = credentials

    async def send(self, request: WireRequest, *, may_repeat: bool = True) -> WireResponse:
        """Returns a complete response."""
        url, credentials = self.addressed(request)
        return await self._owner.http.send(url, credentials=credentials, error=error_of, may_repeat=may_repeat)

    @asynccontextmanager
    async def opened(self, request: WireRequest) -> AsyncGenerator[Body]:
        """Yields a response that is read in chunks."""
        url, credentials = self.addressed(request)
        async with self._owner.http.stream(url, credentials=credentials, error=error_of) as body:
            yield body

    def not_taken(self, name: str, value: object, sent: object = None) -> CallWarning:
        """Returns the warning about an argument that is not taken, or not as it is; an error in strict calls."""
        title = self._row.title
        what = f"{title} does not take {name}" if sent is None else f"{title} takes {name} as {sent} at most"
        if self._owner.strict:
            raise UnsupportedOptionError(f"{what}.")
        return CallWarning("unsupported_option", name, f"{what}.", requested=value, sent=sent)  # type: ignore[arg-type]

    def addressed(self, request: WireRequest) -> tuple[WireRequest, Mapping[str, str]]:
        """Returns a request with an absolute URL, and the headers with the key."""
        return replace(request, url=f"{self._account().base_url}{request.url}"), self.credentials()

    def credentials(self) -> Mapping[str, str]:
        """Returns the headers with the key; none if the server needs no key."""
        key = self._account().key
        return self._credentials(key) if key else {}

    def _account(self) -> VendorAccount:
        return account(self._row, self._owner.config, self._owner.environment)
