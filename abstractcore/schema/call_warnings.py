"""Warnings: what a call asked for and did not get, as data. Nothing is dropped in silence."""

from __future__ import annotations

from dataclasses import dataclass

from .json_values import JSONValue


@dataclass(frozen=True, slots=True)
class CallWarning:
    """One difference between what was asked and what was done.

    `code` is stable and short (`unsupported_option`, `media_type_mismatch`); `path` is the place in the `ModelCall`
    or reply it speaks of; `requested` and `sent` show the two values where they are small.
    """

    code: str
    path: str
    message: str
    requested: JSONValue = None
    sent: JSONValue = None

    def __str__(self) -> str:
        return f"{self.message} [{self.code} at {self.path}]"
