"""`ErrorRecord`: an error as data."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable


@dataclass(frozen=True, slots=True)
class ErrorRecord(Immutable):
    """An error as data: the name of its class and its message."""

    type: str
    message: str
    status: int | None = None
    request_id: str | None = None
    retryable: bool = False
