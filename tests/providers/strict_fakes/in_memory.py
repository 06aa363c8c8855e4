"""Strict vendors without HTTP: for tests with tens of thousands of calls, of which it would be most of the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from abstractcore import Services
from abstractcore.registry import Registry
from abstractcore.schema import WireRequest
from abstractcore_providers.plugin import register_catalogues, register_providers
from tests.providers.strict_fakes.fake import Fake, StrictVendor


class InMemoryVendors(Services):
    """The providers and their models, without handlers, which would inspect the files. Sync calls to `url(provider)`
    are answered by `vendors[provider]`.
    """

    def __init__(self, fakes: Mapping[str, Fake]) -> None:
        registry = Registry()
        for provider in register_providers():
            registry.add_provider(provider)
        for file in register_catalogues():
            registry.add_catalogue(file)
        super().__init__(registry=registry, environment={})
        self.vendors = {name: StrictVendor(fake) for name, fake in fakes.items()}
        self._transport: Any = _Transport({f"{name}.test": vendor for name, vendor in self.vendors.items()})

    def sync_transport(self, settings: Any) -> Any:
        return self._transport

    @staticmethod
    def url(provider: str) -> str:
        """The base URL of a vendor."""
        return f"http://{provider}.test"


@dataclass
class _Transport:
    """Answers requests by their host."""

    vendors: Mapping[str, StrictVendor]

    async def open(self, request: WireRequest, timeout: float) -> _Body:
        address = urlsplit(request.url)
        target = f"{address.path}?{address.query}" if address.query else address.path
        status, content_type, body = self.vendors[address.netloc].answer(target, request.headers, request.body)
        return _Body(status, {"content-type": content_type}, [body])

    async def close(self) -> None:
        """There are no connections."""


@dataclass
class _Body:
    """A response that arrives at once."""

    status: int
    headers: Mapping[str, str]
    left: list[bytes] = field(repr=False)

    async def read(self) -> bytes:
        return self.left.pop() if self.left else b""

    async def close(self) -> None:
        """There is no connection."""

    def abort(self) -> None:
        """There is no connection."""
