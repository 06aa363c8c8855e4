"""Bedrock's addresses, and the credentials that botocore finds on this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from abstractcore.errors import (
    AbstractCoreError,
    AuthenticationError,
    ConfigurationError,
    MissingExtraError,
    ProviderError,
)
from abstractcore.ports import Address, Runtime
from abstractcore.schema.base_error import install_hint

from .signature import AwsKeys, SignatureAuth

_KEY_HINT = "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or pass api_key=..."


def url_of(region: str) -> str:
    """Returns Bedrock's URL in a region."""
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://bedrock-runtime.{region}.{suffix}"


def required_region(region: str | None) -> str:
    """Returns the region; raises `ConfigurationError` if nothing names one."""
    if region:
        return region
    raise ConfigurationError(
        "'bedrock' needs a region.", hint="Pass region=..., as in region='us-east-1', or set AWS_REGION."
    )


@dataclass(slots=True)
class ChainEndpoint:
    """Bedrock with the credentials of botocore's provider chain: profiles, single sign-on, roles, instance metadata.

    They are resolved before the first request, and again when they expire.
    """

    url: str | None
    region: str | None
    profile: str | None
    _found: Any = field(default=None, init=False, repr=False)
    _address: Address | None = field(default=None, init=False, repr=False)

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address with keys that are valid now.

        Raises `MissingExtraError` without botocore, `AuthenticationError` if it finds no keys, and
        `ConfigurationError` if nothing names a region.
        """
        if self._address is None or self._is_expiring():
            self._address = await runtime.call(self._resolve)
        return self._address

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error unchanged."""
        return error

    def _is_expiring(self) -> bool:
        refresh_needed = getattr(self._found, "refresh_needed", None)
        return refresh_needed is not None and refresh_needed()

    def _resolve(self) -> Address:
        try:
            session_module, exceptions = import_module("botocore.session"), import_module("botocore.exceptions")
        except ImportError:
            raise MissingExtraError(
                "botocore, which resolves AWS credentials, is not installed",
                hint=f"{install_hint('botocore', extra='bedrock')} {_KEY_HINT}",
            ) from None
        try:
            session = session_module.Session(profile=self.profile)
            region = self.region or session.get_config_variable("region")
            self._found = self._found or session.get_credentials()
            keys = self._found.get_frozen_credentials() if self._found is not None else None
        except exceptions.BotoCoreError as error:
            raise AuthenticationError(
                f"botocore cannot resolve AWS credentials: {type(error).__name__}.", hint=_KEY_HINT, provider="bedrock"
            ) from None
        if keys is None:
            raise AuthenticationError("there are no AWS credentials.", hint=_KEY_HINT, provider="bedrock")
        region = required_region(region)
        auth = SignatureAuth(AwsKeys(keys.access_key, keys.secret_key, keys.token), region)
        return Address(self.url or url_of(region), auth)
