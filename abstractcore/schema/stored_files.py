"""`StoredFile`: a file that AbstractCore uploaded to a provider's file store."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .base_error import SchemaError
from .immutable import Immutable
from .json_values import check_count, check_flag, check_real, check_text

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
