"""Values of price rows read from JSON: prices, factors, dates, hours. Raises `SchemaError` with the path.

The meters of prices: what is counted, per how many, and which counts include which. Knows no vendor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final, Literal, cast

from ..registry import name_hint
from ..schema import SchemaError
from ..schema.base_error import shown
from ..schema.json_values import check_depth

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


_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?Z)?", re.ASCII)
_HOURS = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)", re.ASCII)
_MINUTES_OF_DAY = 24 * 60
_LENGTH_OF_DATE = 10
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def as_object(value: object, path: str) -> Mapping[str, Any]:
    """Returns a JSON object."""
    if not isinstance(value, Mapping):
        raise SchemaError(f"expected an object, got {type(value).__name__}", path)
    return cast("Mapping[str, Any]", value)


def as_list(value: object, path: str) -> Sequence[Any]:
    """Returns a JSON array."""
    if not isinstance(value, list | tuple):
        raise SchemaError(f"expected a list, got {type(value).__name__}", path)
    return cast("Sequence[Any]", value)


def as_number(value: object, path: str) -> Decimal:
    """Returns a price or a factor, which is text, so that it is exact."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    hint = "Write it as text: '0.25'."
    if isinstance(value, str):
        raise SchemaError(f"{shown(value)} is not a decimal number of at least 0", path, hint=hint)
    raise SchemaError(f"expected a decimal number as text, got {type(value).__name__}", path, hint=hint)


def as_rates(value: object, path: str) -> dict[str, Decimal | None]:
    """Returns prices by meter; None for one that is unknown."""
    rates: dict[str, Decimal | None] = {}
    for meter, rate in as_object(value, path).items():
        check_meter(meter, path)
        rates[meter] = None if rate is None else as_number(rate, f"{path}.{meter}")
    return rates


def check_meter(meter: object, path: str) -> None:
    """Raises `SchemaError` for an unknown meter."""
    if meter not in METERS:
        hint = name_hint(meter, METERS, "meters", "abstractcore/catalogue/price_values.py")
        raise SchemaError(f"{shown(meter)} is not a meter", path, hint=hint)


def with_text_for_dates(value: object, path: str, depth: int = 0) -> Any:
    """Returns a value of TOML or Python with its dates, at any depth, as the text that JSON has for them.

    A time without a zone is one in UTC. Raises `SchemaError` for a value that is nested too deeply.
    """
    if isinstance(value, datetime):
        return value.isoformat().removesuffix("+00:00") + ("" if value.utcoffset() else "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping | list | tuple):
        check_depth(depth, path)
    if isinstance(value, Mapping):
        fields = cast("Mapping[Any, object]", value)
        return {name: with_text_for_dates(each, path, depth + 1) for name, each in fields.items()}
    if isinstance(value, list | tuple):
        return [with_text_for_dates(each, path, depth + 1) for each in cast("list[object]", value)]
    return value


def as_instant(value: object, path: str) -> float:
    """Returns seconds since the epoch of a date, at 00:00 UTC, or of an instant, as "2026-09-10T04:00Z"."""
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        with suppress(ValueError, OverflowError):
            hour, minute, second = (int(piece or 0) for piece in match.groups()[1:])
            day = date.fromisoformat(match[1])
            return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC).timestamp()
    raise SchemaError(
        f"{shown(value)} is not a date or a time in UTC", path, hint="Write it as '2026-09-10' or '2026-09-10T04:00Z'."
    )


def as_date(value: object, path: str) -> date:
    """Returns a date."""
    if isinstance(value, str) and len(value) == _LENGTH_OF_DATE:
        return datetime.fromtimestamp(as_instant(value, path), UTC).date()
    raise SchemaError(f"{shown(value)} is not a date", path, hint="Write it as '2026-10-01'.")


def as_hours(value: object, path: str) -> tuple[tuple[int, int], ...]:
    """Returns spans of the day in UTC, in minutes since midnight; their ends are outside of them."""
    spans: list[tuple[int, int]] = []
    for index, text in enumerate(as_list(value, path)):
        match = _HOURS.fullmatch(text) if isinstance(text, str) else None
        begin, end = (0, 0) if match is None else (_minutes(match[1], match[2]), _minutes(match[3], match[4]))
        if not 0 <= begin < end <= _MINUTES_OF_DAY:
            raise SchemaError(f"{shown(text)} is not a span such as '01:00-04:00'", f"{path}[{index}]")
        spans.append((begin, end))
    return tuple(spans)


def as_weekdays(value: object, path: str) -> frozenset[int]:
    """Returns the days of the week from the first to the last of "mon-fri", 0 for Monday."""
    first, dash, last = value.partition("-") if isinstance(value, str) else ("", "", "")
    if dash and first in DAYS and last in DAYS and DAYS.index(first) <= DAYS.index(last):
        return frozenset(range(DAYS.index(first), DAYS.index(last) + 1))
    raise SchemaError(f"{shown(value)} is not a span of days", path, hint="Write it as 'mon-fri'.")


def as_names(value: object, path: str) -> frozenset[str]:
    """Returns a list of lower-case names that is not empty."""
    names = as_list(value, path)
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name or name != name.lower():
            raise SchemaError(f"{shown(name)} is not a lower-case name", f"{path}[{index}]")
    if not names:
        raise SchemaError("is empty", path)
    return frozenset(names)


def as_count(value: object, path: str) -> int:
    """Returns a number of tokens."""
    if type(value) is not int or value < 0:
        raise SchemaError(f"{shown(value)} is not a number of tokens", path)
    return value


def _minutes(hours: str, minutes: str) -> int:
    return int(hours) * 60 + int(minutes) if int(minutes) < 60 else -1
