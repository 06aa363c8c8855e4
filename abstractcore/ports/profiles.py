"""What a model can do and what it costs, apart from how it is reached."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema import Sampling


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; None where the kind has no price of its own."""

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a model can do, apart from how it is reached.

    `accepts` holds media types or their first half ("image", "application/pdf"); text is always taken.
    """

    accepts: frozenset[str] = frozenset()
    context_tokens: int | None = None
    price: Price | None = None
    sampling: Sampling | None = None
    """What the model's makers recommend: it stands where a call says nothing."""
    known: bool = True
    """False if nothing is known of this model and the provider's common ground is assumed."""

    def takes(self, kind: str, media_type: str) -> bool:
        """Whether the model takes content of this kind and type natively."""
        return kind in self.accepts or media_type in self.accepts
