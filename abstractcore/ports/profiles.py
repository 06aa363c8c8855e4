"""`ModelProfile`: the abilities and prices of a model."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema import Sampling, ThinkingLevel


@dataclass(frozen=True, slots=True)
class Price:
    """Prices in US dollars per million tokens; None for a kind of tokens without a price of its own."""

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """How the thinking of a model is set: by `levels`, or by a `budget` of tokens between two bounds.

    Without both, the model does not think. `can_be_off` says whether thinking can be turned off.
    """

    levels: tuple[ThinkingLevel, ...] = ()
    budget: tuple[int, int] | None = None
    can_be_off: bool = True


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The abilities of a model, whatever the provider.

    `accepts` holds media types or their first half ("image", "application/pdf"); text is always accepted. Other content
    is refused, unless the model is unknown: then `assumed` and `encodable` apply.
    """

    accepts: frozenset[str] = frozenset()
    context_tokens: int | None = None
    price: Price | None = None
    sampling: Sampling | None = None
    """The sampling that the model's vendor recommends, used for parameters that a call does not set."""
    thinking: Thinking | None = None
    """None if unknown: the call's value is sent unchanged."""
    cache_points: int | None = None
    """The maximum number of cache points; 0 if the provider caches without them; None if unknown."""
    accepts_prefill: bool = True
    """Whether the last message may be the assistant's: the model continues the answer that it begins."""
    media_after_results: bool = False
    """Whether files of tool results must be sent after the results, in a user message."""
    known: bool = True
    """False for an unknown name in a known naming scheme: calls have a warning."""
    assumed: frozenset[str] = frozenset()
    """Files that are sent natively to an unknown model, with a warning: those that most models of the vendor accept."""
    encodable: frozenset[str] = frozenset()
    """Files that the format supports. They are sent natively to an unknown model, with a warning, if they cannot be
    converted to text or the policy is `native`."""

    def supports(self, kind: str, media_type: str) -> bool:
        """Returns whether the model is known to accept content of this kind and type natively."""
        return _hold(self.accepts, kind, media_type)

    def may_support(self, kind: str, media_type: str, *, only_natively: bool) -> bool:
        """Returns whether to send content of this kind and type natively to a model that is not known to accept it.

        `only_natively` means that it cannot be sent in another way.
        """
        possible = self.assumed | self.encodable if only_natively else self.assumed
        return _hold(possible, kind, media_type)

    def like(self, media_type: str) -> list[str]:
        """Returns accepted media types of the same kind, as "image/png" for "image/bmp"."""
        top = media_type.partition("/")[0]
        known = self.accepts | self.assumed | self.encodable
        return sorted(held for held in known if top in _KINDS and held.startswith(f"{top}/"))


_KINDS = ("image", "audio", "video")


def _hold(types: frozenset[str], kind: str, media_type: str) -> bool:
    """Returns whether `types` contain the kind, the media type without parameters or, for "image/*", any such type."""
    media_type = media_type.partition(";")[0].rstrip()
    if not types.isdisjoint((kind, media_type)):
        return True
    top, _, sub = media_type.partition("/")
    return sub == "*" and any(held.startswith(f"{top}/") for held in types)
