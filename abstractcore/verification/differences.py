"""What stands in a source at the words with which an answer introduces a figure that is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from ..schema.evidence import Check
from ..schema.quote_search import WorkBudget
from .claims import Claim
from .currencies import is_currency
from .dates import WrittenDate, written_dates
from .indexed_sources import IndexedSource
from .units import unit_named
from .written_numbers import WrittenNumber, numbers_in

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_BETWEEN = re.compile(r"[\s:=|*_>\u2013-]*(?:(?:is|was|are|were|of|on|at|to|ist|war|est|es|de)\b[\s:=|*_]*)?")
_CONNECTOR_WORDS = (
    "a an amounted amounting amounts are at by comes dated de der die das est equals es in is ist of on the to "
    "totals totalled totaled war was were"
)
_CONNECTORS = frozenset(_CONNECTOR_WORDS.split())
_LONGEST_LABEL = 4
_SHORTEST = 4
_REACH = 60
_MOST_LABELS = 500

PlaceKey = tuple["int | None", str, "int | None", "int | None"]


class DifferenceFinder:
    """Finds the figures of the sources that stand in the place of others.

    `agreed` are the places of figures that the answer states too, which are not differences. A figure differs only if
    the words directly before it in the answer stand exactly once in all the sources, directly before another figure of
    the same kind.
    """

    def __init__(
        self, answer: str, sources: Sequence[IndexedSource], agreed: Set[PlaceKey], budget: WorkBudget
    ) -> None:
        self._answer = answer
        self._sources = sources
        self._agreed = agreed
        self._budget = budget
        self._labels_left = _MOST_LABELS

    def with_difference(self, claim: Claim, check: Check) -> Check:
        """Returns the check as "differs", if that is certain; else as it is."""
        if (claim.number is None and claim.date is None) or self._labels_left <= 0:
            return check
        self._labels_left -= 1
        for label in self._labels(claim.start):
            places = [
                (indexed, span)
                for indexed in self._sources
                if (found := indexed.source.searched.find(label, self._budget, 2)) is not None
                for span in found.spans
            ]
            if len(places) != 1:
                if places:
                    return check
                continue
            indexed, (_, end) = places[0]
            between = _BETWEEN.match(indexed.text, end)
            start = end if between is None else between.end()
            figure = _figure_at(indexed, start, claim, label)
            if figure is None:
                return check
            source = indexed.source.at(*figure, label, "normalised")
            if (source.document, source.name, source.page, source.start) in self._agreed:
                return check
            reason = f"{source.where} has {source.text} after the words {label!r}"
            return replace(check, verdict="differs", source=source, instead=source.text, reason=reason)
        return check

    def _labels(self, position: int) -> list[str]:
        """Returns the words directly before a figure, the most first, without those that only lead to it."""
        begin = max(position - 100, 0)
        before = re.split(r"[.!?;\n](?:\s|$)|\n", self._answer[begin:position].replace("*", " "))[-1]
        words = list(_WORD.finditer(before))
        end = len(before)
        while words and not before[words[-1].end() : end].strip(" \t:=|($\u20ac\u00a3\u00a5_>,"):
            word = words[-1][0]
            if word.lower() not in _CONNECTORS and not is_currency(unit_named(word)):
                break
            end = words.pop().start()
        if not words or before[words[-1].end() : end].strip(" \t:=|($\u20ac\u00a3\u00a5_>,"):
            return []
        labels: list[str] = []
        for count in range(min(_LONGEST_LABEL, len(words)), 0, -1):
            label = before[words[-count].start() : words[-1].end()]
            if words[-count][0].lower() in _CONNECTORS or len(label) < _SHORTEST:
                continue
            labels.append(label)
        return labels


def _figure_at(indexed: IndexedSource, start: int, claim: Claim, label: str) -> tuple[int, int] | None:
    """Returns the figure of the claim's kind that begins there, if it is another one."""
    window = indexed.text[start : start + _REACH]
    dates = [each for each in written_dates(window) if each.start == 0]
    if claim.date is not None:
        return _other_date(dates, claim.date, start)
    if dates or claim.number is None:
        return None
    for each in numbers_in(window, indexed.separators):
        if each.start == 0 and each.end < _REACH:
            return (start, start + each.end) if _is_other(each, claim.number, label) else None
    return None


def _other_date(dates: Sequence[WrittenDate], stated: WrittenDate, start: int) -> tuple[int, int] | None:
    if not dates or not stated.days or not dates[0].days or dates[0].days & stated.days:
        return None
    return start + dates[0].start, start + dates[0].end


def _is_other(found: WrittenNumber, stated: WrittenNumber, label: str) -> bool:
    """Returns whether a number is certainly another one of the same kind."""
    if (
        found.form != stated.form
        or found.in_date
        or found.is_year != stated.is_year
        or not found.is_certain
        or len(stated.values) > 1
    ):
        return False
    units = {found.unit, stated.unit}
    if len(units) > 1 and not all(unit is None or is_currency(unit) for unit in units):
        return False
    if " " not in label and _decimals(found) != _decimals(stated):
        return False  # a word alone introduces figures of many kinds
    return not found.values & stated.values or (len(units) > 1 and None not in units)


def _decimals(number: WrittenNumber) -> int:
    return max(-int(value.as_tuple().exponent) for value in number.values)
