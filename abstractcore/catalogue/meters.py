"""The meters of prices: what is counted, per how many, and which counts include which. Knows no vendor."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final, Literal

MeterKind = Literal["in", "out", "time", "piece", "fee"]
"""Tokens of the input, tokens of the output, seconds, other things that models take and make, and fees of tools.
Factors of tiers, regions and long contexts apply to all of them but fees."""


@dataclass(frozen=True, slots=True)
class UsageMeter:
    """A kind of count. Prices are per `unit` of it, and its count is part of those of `parents`.

    Without a price of its own, a count has the price of its first parent. `count` names the count that it is charged
    by, if it is another one; with `once`, a response is charged for one, however many it counted.
    """

    name: str
    kind: MeterKind
    unit: int
    parents: tuple[str, ...] = ()
    count: str = ""
    once: bool = False


_MILLION: Final = 1_000_000
_THOUSAND: Final = 1_000

_TOKENS: Final[dict[str, tuple[str, ...]]] = {
    "input": (),
    "cache_read": ("input",),
    "cache_write": ("input",),
    "cache_write_5m": ("cache_write",),
    "cache_write_30m": ("cache_write",),
    "cache_write_1h": ("cache_write",),
    "cache_write_12h": ("cache_write",),
    "input_audio": ("input",),
    "input_image": ("input",),
    "input_video": ("input",),
    "cache_read_audio": ("cache_read", "input_audio"),
    "cache_read_image": ("cache_read", "input_image"),
    "cache_read_video": ("cache_read", "input_video"),
    "output": (),
    "reasoning": ("output",),
    "output_audio": ("output",),
    "output_image": ("output",),
    "output_video": ("output",),
}
_AUDIO: Final = UsageMeter("audio_second", "time", 3600)
"""Seconds of audio. The price is per hour."""
_PIECES: Final = {
    "citation": _MILLION,
    "character": _MILLION,
    "page": _THOUSAND,
    "annotated_page": _THOUSAND,
    "search_unit": _THOUSAND,
    "image_input": 1,
    "image_2k_medium": 1,
    "video_second_1080p": 1,
}
_FEES: Final = {
    "request_low": _THOUSAND,
    "request_medium": _THOUSAND,
    "request_high": _THOUSAND,
    "web_search": _THOUSAND,
    "web_search_preview": _THOUSAND,
    "web_fetch": _THOUSAND,
    "maps_search": _THOUSAND,
    "file_search": _THOUSAND,
    "code_execution": _THOUSAND,
    "x_post": _THOUSAND,
    "x_profile": _THOUSAND,
    "attachment_search": _THOUSAND,
    "guideline_violation": 1,
    "container_1g": 1,
    "container_4g": 1,
    "container_16g": 1,
    "container_64g": 1,
    "session_hour": 1,
    "cache_storage": _MILLION,
}
_ONCE: Final = (
    UsageMeter("web_search_prompt", "fee", _THOUSAND, count="web_search", once=True),
    UsageMeter("maps_search_prompt", "fee", _THOUSAND, count="maps_search", once=True),
)
"""Fees for a response that searched, whatever the number of its searches, as of Gemini 2.5."""


def _token(name: str) -> UsageMeter:
    return UsageMeter(name, "out" if "output" in (name, *_TOKENS[name]) else "in", _MILLION, _TOKENS[name])


METERS: Final[dict[str, UsageMeter]] = {
    meter.name: meter
    for meter in (
        *map(_token, _TOKENS),
        _AUDIO,
        *(UsageMeter(name, "piece", unit) for name, unit in _PIECES.items()),
        *(UsageMeter(name, "fee", unit) for name, unit in _FEES.items()),
        *_ONCE,
    )
}
"""All meters by name. Tokens and characters are priced per million, calls, pages and searches per thousand."""


def _ancestors(name: str) -> frozenset[str]:
    parents = METERS[name].parents
    return frozenset(parents).union(*map(_ancestors, parents))


ANCESTORS: Final = {name: _ancestors(name) for name in METERS}
"""The meters whose counts include those of a meter."""
DEPTHS: Final = {name: len(ANCESTORS[name]) for name in _TOKENS}
"""How deep the meters of tokens are: more than those that include them."""
SCALES: Final = {1: Decimal(1), _THOUSAND: Decimal("0.001"), _MILLION: Decimal("0.000001")}
"""The factors of the units that are powers of ten: multiplying by them is exact."""
EXACT: Final = Context(prec=60, rounding=ROUND_HALF_EVEN, traps=[])
"""Arithmetic that does not depend on the program's decimal context, exact for all prices and counts that are read."""
