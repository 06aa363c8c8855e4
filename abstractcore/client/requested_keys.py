"""`RequestedKeyEndpoint`: the endpoint of a provider whose key, or access token, a function of the user returns.

The provider makes an endpoint with each key as it does with one that is text, so that this holds for every provider.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..concurrency.time_limits import is_of_call
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
_RETRY_SECONDS: Final = 30.0
"""How long a group of models leaves a member alone whose key cannot be had."""


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

    All threads and tasks of a process wait for the same key, and for the same failure. Each request has a token of its
    own.
    """

    def __init__(
        self, key: RequestedKey, make: Callable[[str], Endpoint], without_key: Endpoint, provider: str
    ) -> None:
        self._key = key
        self._make = make
        self._provider = provider
        self._latest: tuple[str | None, Endpoint] = (None, without_key)
        self._is_known = False
        self._address: Address | None = None
        self._asking: dict[int, Future[AuthenticationError | None]] = {}

    @property
    def url(self) -> str | None:
        """The base URL."""
        endpoint = self._latest[1]
        return endpoint.url if isinstance(endpoint, KnownUrl) else None

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address with the key; raises `AuthenticationError` if there is none."""
        if not self._key.is_kept:
            return await self._endpoint_of(await self._called(runtime)).open(runtime)
        if not self._is_known:
            await self._ask_together(runtime)
        latest = self._latest
        address = await latest[1].open(runtime)
        if latest is self._latest:
            self._address = address
        return address

    def renew(self, refused: Address) -> bool:
        """Forgets the key of an address, unless another one is known; returns whether the function may have one."""
        if refused == self._address:
            self._is_known, self._address = False, None
        return self._key.is_kept

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """As the endpoint of the provider; an error of the function has a hint of its own."""
        if isinstance(error, AuthenticationError) and error.status is None and error.hint:
            return error
        return self._latest[1].diagnose(error)

    async def _ask_together(self, runtime: Runtime) -> None:
        """Asks for the key, or waits for who does. Someone else asks if that call is ended from outside."""
        process = os.getpid()  # a fork has what its parent waits for, but nobody who asks
        mine: Future[AuthenticationError | None] = Future()
        while (ahead := self._asking.setdefault(process, mine)) is not mine:
            await runtime.wait(ahead)
            failure = ahead.result()
            if failure is not None:
                raise copy(failure)
            if self._is_known:
                return
        failure = None
        try:
            if not self._is_known:
                self._endpoint_of(await self._called(runtime))
                self._is_known, self._address = True, None
        except AuthenticationError as error:
            failure = error
            raise
        finally:
            del self._asking[process]
            mine.set_result(failure)

    def _endpoint_of(self, key: str) -> Endpoint:
        """Returns the endpoint with a key; for the same key once more the same one, which has connections."""
        latest = self._latest
        if key != latest[0]:
            latest = self._latest = key, self._make(key)
        return latest[1]

    async def _called(self, runtime: Runtime) -> str:
        """Returns the result of the function. Its failures may pass: no server has refused a key."""
        name = self._key.option
        try:
            key = cast(object, await runtime.invoke(self._key.function))
            if key is None or (isinstance(key, str) and not key.strip()):
                kind = "API key" if self._key.is_kept else "access token"
                problem = f"there is no {kind}: the function given as {name} returned no text."
                raise AuthenticationError(problem, provider=self._provider)
        except AbstractCoreError as error:
            if isinstance(error, AuthenticationError) and error.retry_after is None:
                error.retry_after = _RETRY_SECONDS
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and is_of_call(error):
                raise
            problem = f"the function given as {name} failed: {type(error).__name__}."
            raise AuthenticationError(problem, provider=self._provider, retry_after=_RETRY_SECONDS) from error
        if not isinstance(key, str):
            raise ConfigurationError(f"the function given as {name} returned {type(key).__name__}: expected text.")
        return key
