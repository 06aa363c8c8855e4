"""Digests of accounts, by which uploads of one account are told from those of others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from abstractcore import ConfigurationError
from abstractcore.concurrency import AsyncRuntime
from abstractcore.files.uploads import account_of
from abstractcore.middleware import OfflineEndpoint


class WithoutKey:
    """An endpoint whose credentials cannot be read."""

    async def open(self, runtime: Any) -> Any:
        """Raises `ConfigurationError`."""
        raise ConfigurationError("the file of the key cannot be read")

    def diagnose(self, error: Any) -> Any:
        """Returns the error unchanged."""
        return error


def test_only_an_endpoint_that_sends_nothing_has_the_account_offline():
    offline = asyncio.run(account_of(OfflineEndpoint(), {}, AsyncRuntime(), 0.0))
    assert offline.endpoint == "offline"
    with pytest.raises(ConfigurationError, match="cannot be read"):
        asyncio.run(account_of(WithoutKey(), {}, AsyncRuntime(), 0.0))
