"""The endpoint of an LLM whose middleware answers every request: nothing is sent, started or downloaded."""

from __future__ import annotations

from ..errors import AbstractCoreError, ConfigurationError, ProviderError
from ..ports import Address, Runtime


class OfflineEndpoint:
    """Replaces the endpoint of the provider."""

    offline = True

    async def open(self, runtime: Runtime) -> Address:
        """Raises `ConfigurationError`."""
        raise ConfigurationError(
            "this LLM sends no requests: its middleware must answer them, and this request bypassed it.",
            hint="Put it last: middleware=[..., replay(path)].",
        )

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error unchanged."""
        return error
