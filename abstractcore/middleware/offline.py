"""The endpoint of an LLM whose middleware answers everything: nothing is sent, started or fetched."""

from __future__ import annotations

from ..errors import AbstractCoreError, ConfigurationError, ProviderError
from ..ports import Address, Runtime


class OfflineEndpoint:
    """Stands in the place of a provider's own."""

    async def open(self, runtime: Runtime) -> Address:
        """Raises `ConfigurationError`."""
        raise ConfigurationError(
            "this LLM sends nothing: a middleware of it answers every request, and this one passed it by.",
            hint="Put that middleware, as replay(path), behind those that make requests.",
        )

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """The error itself."""
        return error
