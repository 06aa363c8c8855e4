"""What a model can do and what it costs, apart from how it is reached."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema import Sampling, ThinkingLevel


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; None where the kind has no price of its own."""

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """How much a model can be asked to think: by `levels`, or by a `budget` of tokens between two bounds.

    Neither: the model does not think. `can_be_off` says whether it can be told not to.
    """

    levels: tuple[ThinkingLevel, ...] = ()
    budget: tuple[int, int] | None = None
    can_be_off: bool = True


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
    thinking: Thinking | None = None
    """None if that is not known: what a call says is sent as it is."""
    cache_points: int | None = None
    """How many cache points a call may hold; 0 where the provider decides by itself; None if that is not known."""
    goes_on: bool = True
    """Whether the assistant may speak last: the model then goes on with the answer that is begun."""
    media_beside_results: bool = False
    """Whether files that tools give have to stand behind the results, in a user's message."""
    known: bool = True
    """False if nothing is known of this model and the provider's common ground is assumed."""

    def takes(self, kind: str, media_type: str) -> bool:
        """Whether the model takes content of this kind and type natively."""
        return kind in self.accepts or media_type in self.accepts
