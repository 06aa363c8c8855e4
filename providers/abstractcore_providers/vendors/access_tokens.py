"""Access tokens that expire: requested before every attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from abstractcore.errors import AbstractCoreError, AuthenticationError, ConfigurationError, ProviderError
from abstractcore.ports import Address, Runtime

from ..common.endpoints import BearerAuth, check_key

Token: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A token, or a sync or async function that returns a valid one."""


def check_token(token: object, provider: str) -> Token:
    """Returns `token`; raises `ConfigurationError` if it is neither text nor a function."""
    if callable(token):
        return cast("Callable[[], Any]", token)
    if not isinstance(token, str):
        raise ConfigurationError(
            f"access_token for {provider}: expected text, or a function that returns it, got {type(token).__name__}"
        )
    return check_key(token, provider)


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """An address whose token is requested before every attempt. `query` is appended to every URL; `source` names where
    the token comes from.
    """

    url: str
    token: Token = field(repr=False)
    provider: str
    query: str = ""
    source: str = "access_token=..."

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address; raises `AuthenticationError` if there is no token."""
        token = await self._token(runtime)
        if not token:
            raise AuthenticationError("there is no access token.", provider=self.provider)
        return Address(self.url, BearerAuth(check_key(token, self.provider)), query=self.query)

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error, with a hint that names the source of the token if it was refused."""
        if isinstance(error, AuthenticationError):
            error.hint = f"Check {self.source}"
        return error

    async def _token(self, runtime: Runtime) -> str:
        if isinstance(self.token, str):
            return self.token
        try:
            return await runtime.invoke(self.token)
        except (AbstractCoreError, TimeoutError):  # the time limit of the call
            raise
        except Exception as error:
            raise AuthenticationError(
                f"the function given as access_token failed: {type(error).__name__}.", provider=self.provider
            ) from error
