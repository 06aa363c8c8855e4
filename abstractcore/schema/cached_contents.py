"""`CachedContent`: content cached at a provider, which later calls refer to instead of sending it again."""

from __future__ import annotations

from dataclasses import dataclass

from .call_warnings import CallWarning
from .immutable import Immutable
from .json_values import check_count, check_items, check_text
from .provider_options import NO_OPTIONS, ProviderOptions, checked_provider_options


@dataclass(frozen=True, slots=True)
class CachedContent(Immutable):
    """Content cached at a provider: the provider's name for it, the model, its tokens, and its expiry in RFC 3339.

    Pass `provider_options` to calls that use it. `warnings` name what was requested and not cached.
    """

    name: str
    provider_options: ProviderOptions = NO_OPTIONS
    model: str | None = None
    tokens: int | None = None
    expires: str | None = None
    warnings: tuple[CallWarning, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        for name in ("model", "expires"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)
        if self.tokens is not None:
            check_count(self.tokens, "tokens")
        object.__setattr__(self, "provider_options", checked_provider_options(self.provider_options))
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))
