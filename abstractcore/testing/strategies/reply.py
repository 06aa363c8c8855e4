"""Hypothesis strategies: replies of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import FINISH_REASONS, ModelReply, Part, ProviderOptions, ReasoningPart
from .message import parts_with_calls
from .option_placement import parts_with_options, placed_options
from .part import NAME, OBJECT, reply_parts
from .usage import usages


def replies(
    provider: str = "scripted",
    others: SearchStrategy[Part] | None = None,
    options: SearchStrategy[ProviderOptions] | None = None,
) -> SearchStrategy[ModelReply]:
    """Replies of `provider` with reasoning of that provider. `others` are the parts besides tool calls.

    Without `options`, the parts have no provider options.
    """
    drawn = st.builds(
        ModelReply,
        parts=parts_with_calls(reply_parts() if others is None else others).map(_uncached),
        finish_reason=st.sampled_from(FINISH_REASONS),
        raw_finish_reason=st.none() | NAME,
        usage=usages(),
        model=st.none() | NAME,
        provider=st.just(provider),
        id=st.none() | NAME,
        provider_metadata=OBJECT,
    )
    owned = drawn.map(_with_origin)
    return owned if options is None else st.builds(_reply_with_options, owned, placed_options(options))


def _reply_with_options(reply: ModelReply, placed: Sequence[tuple[int, ProviderOptions]]) -> ModelReply:
    some = reply.parts
    for number, options in placed:
        some = parts_with_options(some, number % len(some), options) if some else some
    return replace(reply, parts=some)


def _uncached(some: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, cache=None) if getattr(part, "cache", None) else part for part in some)


def _with_origin(reply: ModelReply) -> ModelReply:
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    owned = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(owned))
