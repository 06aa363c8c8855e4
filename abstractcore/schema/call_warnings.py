"""Warnings: what a call asked for and did not get, as data. Nothing is dropped in silence."""

from __future__ import annotations

from dataclasses import dataclass

from .frozen_json import freeze
from .immutable import Immutable
from .json_values import JSONValue, check_text


@dataclass(frozen=True, slots=True)
class CallWarning(Immutable):
    """One difference between what was asked and what was done.

    `code` is stable and short (`unsupported_option`, `media_type_mismatch`); `path` is the place in the `ModelCall`
    or reply it speaks of; `requested` and `sent` show the two values where they are small. `sent` None means that
    nothing was sent. For code "reordered" the two are positions: where the part stood, and where it was sent among
    those that were.
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
