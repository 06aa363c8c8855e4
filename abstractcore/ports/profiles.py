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

    `accepts` holds media types or their first half ("image", "application/pdf"); text is always taken. What a model is
    not known to take is refused, unless nothing is known of the model: then `assumed` and `carried` count.
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
    accepts_prefill: bool = True
    """Whether the last message may be the assistant's: the model continues the answer that it begins."""
    media_beside_results: bool = False
    """Whether files that tools give have to stand behind the results, in a user's message."""
    known: bool = True
    """False if nothing is known of a model whose name should say something: calls of it have a warning."""
    assumed: frozenset[str] = frozenset()
    """Files that an unknown model is sent as they are, with a warning: what most models of the vendor take."""
    carried: frozenset[str] = frozenset()
    """Files that the format can carry to an unknown model. They are sent as they are, with a warning, where no text
    can be made of them or the policy is `native`."""

    def takes(self, kind: str, media_type: str) -> bool:
        """Whether the model is known to take content of this kind and type natively."""
        return _hold(self.accepts, kind, media_type)

    def may_take(self, kind: str, media_type: str, *, only_natively: bool) -> bool:
        """Whether content of this kind and type is worth sending natively though nothing says that the model takes it.

        `only_natively`: there is no other way to send it.
        """
        possible = self.assumed | self.carried if only_natively else self.assumed
        return _hold(possible, kind, media_type)

    def like(self, media_type: str) -> list[str]:
        """The media types of the same kind, as "image/png" for "image/bmp", that may be sent natively."""
        top = media_type.partition("/")[0]
        known = self.accepts | self.assumed | self.carried
        return sorted(held for held in known if top in _KINDS and held.startswith(f"{top}/"))


_KINDS = ("image", "audio", "video")


def _hold(types: frozenset[str], kind: str, media_type: str) -> bool:
    """Whether `types` hold the kind, the media type without parameters or, for one such as "image/*", any such type."""
    media_type = media_type.partition(";")[0].rstrip()
    if not types.isdisjoint((kind, media_type)):
        return True
    top, _, sub = media_type.partition("/")
    return sub == "*" and any(held.startswith(f"{top}/") for held in types)
