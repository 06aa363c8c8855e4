"""Which counts of a response are charged at which price: a count is never charged twice."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from ..schema import Billing, Usage
from .meters import ANCESTORS, DEPTHS, METERS

_INSTEAD: Final = ("billed_input", "billed_output")
"""Counts that are billed instead of those of `Usage`."""


def tokens_of(usage: Usage, billing: Billing) -> tuple[int | None, int | None]:
    """Returns the tokens of input and output that are billed; None for those that were not reported."""
    if not billing.counts:
        return usage.input, usage.output
    return billing.counts.get("billed_input", usage.input), billing.counts.get("billed_output", usage.output)


def charged_counts(
    usage: Usage, billing: Billing, rates: Mapping[str, Decimal | None]
) -> tuple[dict[str, int], str | None]:
    """Returns the counts to multiply with `rates`, which are exclusive of each other, and the reason if there are none.

    Tokens of a kind that has no price of its own are counted with the kind that includes them. Fees without any price
    are among the counts, and so are tokens: a meter that is not in `rates` has no price.
    """
    counts = _reported(usage, billing)
    if not billing.counts:
        tokens, others = counts, dict[str, int]()
    else:
        tokens = {meter: count for meter, count in counts.items() if meter in DEPTHS}
        others = _others({meter: count for meter, count in counts.items() if count and meter not in DEPTHS}, rates)
    exclusive = _exclusive(tokens, rates)
    for meter, count in exclusive.items():
        if count < 0:
            return {}, f"the counts contradict each other: {meter} has fewer tokens than its parts"
    return exclusive | others, None


def is_ambiguous(usage: Usage, billing: Billing, rates: Mapping[str, Decimal | None]) -> bool:
    """Returns whether cached tokens may be of audio, images or video, which the response does not say, and this changes
    the cost: it is computed as if none were.
    """
    if not usage.cached or "cache_read" not in rates:
        return False
    counted = {"input_audio": usage.input_audio, **billing.counts}
    kinds = (kind for kind in _KINDS if counted.get(f"input_{kind}") and f"input_{kind}" in rates)
    return any(f"cache_read_{kind}" not in billing.counts for kind in kinds)


_KINDS: Final = ("audio", "image", "video")


def _reported(usage: Usage, billing: Billing) -> dict[str, int]:
    """Returns the counts that were reported by meter: a 0 contradicts parts above 0."""
    given, produced = tokens_of(usage, billing)
    counts = {
        "input": given,
        "output": produced,
        "cache_read": usage.cached,
        "cache_write": usage.cache_written,
        "reasoning": usage.reasoning,
        "input_audio": usage.input_audio,
        "output_audio": usage.output_audio,
        **billing.counts,
    }
    return {meter: count for meter, count in counts.items() if count is not None and meter not in _INSTEAD}


def _exclusive(counts: dict[str, int], rates: Mapping[str, Decimal | None]) -> dict[str, int]:
    """Returns the tokens of each meter with a price without those of the meters with a price below it."""
    exclusive: dict[str, int] = {}
    left = dict(counts)
    for meter in sorted(counts, key=DEPTHS.__getitem__, reverse=True):
        count = left[meter]
        if not count or (meter not in rates and len(METERS[meter].parents) == 1):
            continue
        for each in ANCESTORS[meter]:
            if each in left:
                left[each] -= count
        payer = _payer(meter, rates)
        exclusive[payer] = exclusive.get(payer, 0) + count
    return exclusive


def _payer(meter: str, rates: Mapping[str, Decimal | None]) -> str:
    """Returns the meter whose price applies: its own, else that of its nearest parent with one."""
    while meter not in rates and METERS[meter].parents:
        parents = METERS[meter].parents
        meter = next((parent for parent in parents if parent in rates), parents[0])
    return meter


def _others(counts: dict[str, int], rates: Mapping[str, Decimal | None]) -> dict[str, int]:
    """Returns the counts of fees and the like; one that is charged by another meter gets that meter's name."""
    for meter in rates:
        other = METERS[meter].count
        if other in counts:
            count = counts.pop(other)
            counts[meter] = 1 if METERS[meter].once else count
    return counts
