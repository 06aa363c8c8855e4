"""Data of objects that a provider keeps: files, cached contents, lists of models.

`StoredFile`: a file that AbstractCore uploaded to a provider's file store. `CachedContent`: content cached at a
provider, which later calls refer to instead of sending it again. `ModelList`: a page of the list of a provider's
models.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .base_error import SchemaError
from .json_values import (
    NO_OPTIONS,
    ProviderOptions,
    check_count,
    check_flag,
    check_items,
    check_real,
    check_text,
    checked_provider_options,
)
from .replies import CallWarning
from .reprs import Immutable

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StoredFile(Immutable):
    """A file that AbstractCore uploaded to the file store of a provider.

    `id` is what requests name: an id, or the URI of the file. `endpoint` is the base URL, and `account` a digest of the
    credentials that it was uploaded with: never the credentials themselves. `sha256`, `size` (bytes) and `media_type`
    are those of the content. Times are in seconds since the epoch; `expires_at` is None if the provider keeps it until
    it is deleted. A file that is not `ready` is still processed by the provider.
    """

    id: str
    provider: str
    endpoint: str
    account: str
    sha256: str
    media_type: str
    size: int
    uploaded_at: float
    """When it was uploaded, in seconds since 1970."""
    expires_at: float | None = None
    name: str | None = None
    ready: bool = True

    def __post_init__(self) -> None:
        for field in ("id", "provider", "endpoint", "account", "media_type"):
            check_text(getattr(self, field), field)
        if self.name is not None:
            check_text(self.name, "name")
        if not isinstance(self.sha256, str) or not _SHA256.fullmatch(self.sha256):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError("expected 64 lower-case hex digits", "sha256")
        check_count(self.size, "size")
        check_flag(self.ready, "ready")
        object.__setattr__(self, "uploaded_at", check_real(self.uploaded_at, "uploaded_at"))
        if self.expires_at is not None:
            object.__setattr__(self, "expires_at", check_real(self.expires_at, "expires_at"))


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
    """When the provider forgets it."""
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


@dataclass(frozen=True, slots=True)
class ModelList(Immutable):
    """The ids of a provider's models, in the provider's order. `next` is where the next page begins, None on the last.

    Which models it holds is the provider's choice: those of the key, or all.
    """

    names: tuple[str, ...]
    next: str | None = None

    def __post_init__(self) -> None:
        names = check_items(self.names, str, "names")
        object.__setattr__(self, "names", tuple(check_text(name, f"names[{i}]") for i, name in enumerate(names)))
        if self.next is not None:
            check_text(self.next, "next")
