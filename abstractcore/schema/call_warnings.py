"""`CallWarning`: a difference between what a call requested and what was sent or returned."""

from __future__ import annotations

from dataclasses import dataclass

from .frozen_json import freeze
from .immutable import Immutable
from .json_values import JSONValue, check_text


@dataclass(frozen=True, slots=True)
class CallWarning(Immutable):
    """One difference between what was requested and what was done.

    `code` is a stable short name (`unsupported_option`, `media_type_mismatch`); `path` is a path in the `ModelCall`
    or the reply; `requested` and `sent` are the two values where they are small. `sent` is None if nothing was sent.
    For code "reordered" the values are positions: of the part in the call, and among the parts that were sent.
    """

    code: str
    path: str
    message: str
    requested: JSONValue = None
    sent: JSONValue = None

    def __post_init__(self) -> None:
        for name in ("code", "path", "message"):
            check_text(getattr(self, name), name)
        for name in ("requested", "sent"):
            object.__setattr__(self, name, freeze(getattr(self, name), name))

    def __str__(self) -> str:
        return f"{self.message} [{self.code} at {self.path}]"
