"""`SoundPiece`: sound as it arrives from a vendor, with the times of what is said in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstractcore import Usage


@dataclass(frozen=True, slots=True)
class TimedText:
    """A word or a character as it is spoken, and the second of its sentence at which it has been said."""

    text: str
    until: float


@dataclass(frozen=True, slots=True)
class SoundPiece:
    """Samples of 16 bits, the times of what is said, and what the vendor counts. `last` is whether it is known that no
    sound of the sentence follows.
    """

    samples: bytes = b""
    times: Sequence[TimedText] = ()
    usage: Usage | None = None
    last: bool = False
