"""`RequestedKeyEndpoint`: the endpoint of a provider whose key, or access token, a function of the user returns.

The provider makes an endpoint with each key as it does with one that is text, so that this holds for every provider.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..errors import AbstractCoreError, AuthenticationError, ConfigurationError, ProviderError
from ..ports import (
    Address,
    Endpoint,
    KnownUrl,
    Provider,
    ProviderConfig,
    ProviderServices,
    ProviderSession,
    Runtime,
)

KeyFunction: TypeAlias = Callable[[], str | Awaitable[str]]
"""A sync or async function that returns a key."""
_API_KEY: Final = "api_key"
_ACCESS_TOKEN: Final = "access_token"
_ANY_KEY: Final = "no-key-yet"


class RequestedKey(NamedTuple):
    """An option with a function. A key is kept until a server refuses it; a token is asked for before each request."""

    option: str
    function: KeyFunction

    @property
    def is_kept(self) -> bool:
        """Whether what it returns is used for further requests."""
        return self.option == _API_KEY

    def in_config(self, config: ProviderConfig, key: str) -> ProviderConfig:
        """Returns the user's settings with a key as text."""
        if self.option == _API_KEY:
            return replace(config, api_key=key)
        return replace(config, options={**config.options, self.option: key})


def connect_with_function(
    provider: Provider, config: ProviderConfig, services: ProviderServices, given: Mapping[str, Any]
) -> ProviderSession:
    """Returns the session of a provider whose key, or access token, is a function in the options of the user.

    Raises as `Provider.connect` does.
    """
    option = _API_KEY if callable(given.get(_API_KEY)) else _ACCESS_TOKEN
    if option == _API_KEY and given.get(_ACCESS_TOKEN) is not None:
        problem = "api_key and access_token are given, of which one is a function."
        raise ConfigurationError(problem, hint="Remove one of them.")
    key = RequestedKey(option, cast(KeyFunction, given[option]))
    session = provider.connect(key.in_config(config, _ANY_KEY), services)  # the other settings are checked now

    def make(text: str) -> Endpoint:
        return provider.connect(key.in_config(config, text), services).endpoint

    return replace(session, endpoint=RequestedKeyEndpoint(key, make, session.endpoint, provider.name))


class RequestedKeyEndpoint:
    """Asks for the key before the first request, and again once a server has refused it. `make` returns the endpoint of
    the provider for a key; `without_key` is that of any key, to which nothing is sent.

    Tasks of one event loop wait for the same answer of the function.
    """

    def __init__(
        self, key: RequestedKey, make: Callable[[str], Endpoint], without_key: Endpoint, provider: str
    ) -> None:
        self._key = key
        self._make = make
        self._provider = provider
        self._endpoint = without_key
        self._known: str | None = None
        self._address: Address | None = None
        self._asking: dict[tuple[int, Runtime], Future[None]] = {}

    @property
    def url(self) -> str | None:
        """The base URL."""
        return self._endpoint.url if isinstance(self._endpoint, KnownUrl) else None

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address with the key; raises `AuthenticationError` if there is none."""
        endpoint = self._endpoint
        if self._known is None or not self._key.is_kept:
            endpoint = await self._asked(runtime)
        address = self._address = await endpoint.open(runtime)
        return address

    def renew(self, refused: Address) -> bool:
        """Forgets the key of an address, unless another one is known; returns whether the function may have one."""
        if refused == self._address:
            self._known = None
        return self._key.is_kept

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """As the endpoint of the provider."""
        return self._endpoint.diagnose(error)

    async def _asked(self, runtime: Runtime) -> Endpoint:
        asks = threading.get_ident(), runtime
        mine: Future[None] = Future()
        ahead = self._asking.setdefault(asks, mine)
        while ahead is not mine:
            await runtime.wait(ahead)
            if self._known is not None and self._key.is_kept:
                return self._endpoint
            ahead = self._asking.setdefault(asks, mine)
        try:
            key = await self._called(runtime)
            if key != self._known:
                self._endpoint = self._make(key)
                self._known = key
            return self._endpoint
        finally:
            del self._asking[asks]
            mine.set_result(None)

    async def _called(self, runtime: Runtime) -> str:
        name = self._key.option
        try:
            key = cast(object, await runtime.invoke(self._key.function))
        except AbstractCoreError:
            raise
        except Exception as error:
            raise AuthenticationError(
                f"the function given as {name} failed: {type(error).__name__}.", provider=self._provider
            ) from error
        if key is not None and not isinstance(key, str):
            raise ConfigurationError(f"the function given as {name} returned {type(key).__name__}: expected text.")
        if key is None or not key.strip():
            kind = "API key" if self._key.is_kept else "access token"
            problem = f"there is no {kind}: the function given as {name} returned no text."
            raise AuthenticationError(problem, provider=self._provider)
        return key
