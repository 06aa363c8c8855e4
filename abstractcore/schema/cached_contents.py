"""Content that a provider keeps, so that later calls need not send it again."""

from __future__ import annotations

from dataclasses import dataclass

from .call_warnings import CallWarning
from .immutable import Immutable
from .json_values import check_count, check_items, check_text
from .provider_options import NO_OPTIONS, ProviderOptions, given_options


@dataclass(frozen=True, slots=True)
class CachedContent(Immutable):
    """What is kept, as the provider tells it: its name there, its model, its size in tokens, its end in RFC 3339.

    `provider_options` are those of a call that builds on it. `warnings` name what was asked for and is not kept.
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
        object.__setattr__(self, "provider_options", given_options(self.provider_options))
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))
