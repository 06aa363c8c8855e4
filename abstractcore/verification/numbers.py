"""Numbers as people write them: which values a text may mean, in any of the common formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

_SPACES = " \u00a0\u202f\u2009"
_NUMBER = re.compile(rf"\d+(?:[.,'\u2019{_SPACES}]\d+)*")
_MOST_DIGITS = 50
_AFTER = re.compile(r"\s*(%|[a-z]+)", re.IGNORECASE)
_SCALES = {
    "%": (Decimal("0.01"), Decimal(1)),
    **dict.fromkeys(("k", "thousand", "tsd", "mille", "mil"), (Decimal(1000), Decimal(1))),
    **dict.fromkeys(
        ("m", "mm", "mio", "mn", "million", "millions", "millionen", "millones"), (Decimal(10**6), Decimal(1))
    ),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "billions", "milliarden", "milliards"), (Decimal(10**9), Decimal(1))),
}
"""What a number means with a word after it; it may be a unit instead, so the number itself is possible too."""


def has_digits(text: str) -> bool:
    """Returns whether there is a number in digits."""
    return _NUMBER.search(text) is not None


def states_number(text: str, value: Decimal) -> bool:
    """Returns whether a number in `text` may mean `value`: "1,234.50", "1.234,50", "1 234,50", "19 %", "1.2 million".

    A negative value needs a minus or a bracket before the number, or a minus after it.
    """
    wanted = abs(value)
    for found in _NUMBER.finditer(text):
        begin, end = found.span()
        before, after = text[max(begin - 3, 0) : begin].rstrip()[-1:], text[end : end + 3].lstrip()[:1]
        if value < 0 and before not in ("-", "\u2212", "(", "\u2013") and after not in ("-", "\u2212"):
            continue
        following = _AFTER.match(text, end, end + 20)
        scales = _SCALES.get(following[1].lower(), ()) if following is not None else ()
        if any(number * scale == wanted for number in _meanings(found[0]) for scale in (*scales, Decimal(1))):
            return True
    return False


def _meanings(text: str) -> Iterator[Decimal]:
    """Yields the values of digits with separators between them."""
    if len(text) <= _MOST_DIGITS:
        yield from readings(text)
    for piece in re.split(f"[{_SPACES}]", text):
        if len(piece) <= _MOST_DIGITS:
            numbers = list(readings(piece))
            # The numbers of a date or a version: "14.03.2026".
            yield from numbers or (Decimal(digits) for digits in re.findall(r"\d+", piece))


def readings(text: str) -> Iterator[Decimal]:
    """Yields the values that one number may have: its last separator is a decimal point, or all separate groups."""
    groups = re.findall(r"\d+", text)
    separators = re.findall(r"\D", text)
    if _is_grouped(groups, separators):
        yield Decimal("".join(groups))
    last = separators[-1:]
    if last and last[0] in ".," and last[0] not in separators[:-1] and _is_grouped(groups[:-1], separators[:-1]):
        yield Decimal(f"{''.join(groups[:-1])}.{groups[-1]}")


def _is_grouped(groups: list[str], separators: list[str]) -> bool:
    """Returns whether there is one kind of separator, of groups of three digits (in India two, but for the last)."""
    if not separators:
        return True
    if len(set(separators)) > 1 or len(groups[-1]) != 3 or len(groups[0]) > 3:
        return False
    sizes = {len(group) for group in groups[1:-1]}
    return sizes <= {3} or sizes == {2}
