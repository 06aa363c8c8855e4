"""`CallProgress`: how far a backend has come with what it makes."""

from __future__ import annotations

from dataclasses import dataclass

from .parts import MediaPart
from .reprs import ShortRepr


@dataclass(frozen=True, slots=True)
class CallProgress(ShortRepr):
    """`done` of `total` steps, seconds or whatever `what` says; None if the total is not known. `part` is what is made
    so far, where the backend can show it.
    """

    done: float
    total: float | None
    what: str
    part: MediaPart | None = None
