"""Checks the figures, names and dates of an answer against texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..schema.quote_search import Budget
from ..schema.source_texts import TextSource
from ..schema.verifications import Check, Verification
from .claims import CODE_PART, CODE_PART_BEFORE, MOST_CLAIMS, Claim, TimeOfDay, claims_in
from .comparing import Compared, Likeness, compare
from .differences import Differences
from .read_sources import DateOrder, ReadSource, date_order, possible_days, words_of
from .written_digits import is_whole
from .written_numbers import learned_separators, significant

MOST_WORK = 5_000_000_000
"""Characters that the searches for names may visit: some five seconds."""
_MOST_CASES = 20
_TOO_MUCH = "it was not searched: there are too many names and digits for texts of this size"
_NO_DAYS: frozenset[date] = frozenset()


def verify(answer: str, sources: Sequence[TextSource]) -> Verification:
    """Returns the checks of every figure, name and date of an answer, up to 5,000.

    Takes time linear in the texts, and in the number of names times the texts up to a limit.
    """
    claims, has_more = claims_in(answer, learned_separators(answer))
    problems = [source.problem for source in sources if source.problem is not None]
    if has_more:
        problems.append(
            f"the answer has more than {MOST_CLAIMS:,} figures, names and dates: the others were not checked"
        )
    readable = [source for source in sources if source.problem is None and source.searched.text.strip()]
    if not readable and claims:
        problems.append("there is no text to check the answer against")
    checks = _Checker(answer, claims, readable).checks()
    return Verification(tuple(checks), tuple(dict.fromkeys(problems)))


class _Checker:
    def __init__(self, answer: str, claims: Sequence[Claim], sources: Sequence[TextSource]) -> None:
        self._answer = answer
        self._claims = claims
        wanted = frozenset(significant(each.number.digits) for each in claims if each.number is not None)
        self._sources = [ReadSource(source, wanted) for source in sources]
        self._order: DateOrder | None = date_order(answer)
        self._budget = Budget(MOST_WORK)
        names = ", ".join(dict.fromkeys(source.name for source in sources[:3]))
        more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
        self._nowhere = f"it is not in the text of {names}{more}" if names else "there is no text to search"

    def checks(self) -> list[Check]:
        """Returns the checks in order; those that are not found get a second look: what stands at the same words."""
        checks = [self._check(claim) for claim in self._claims]
        agreed = {
            (each.source.document, each.source.name, each.source.page, each.source.start)
            for each in checks
            if each.verdict == "agreed" and each.source is not None
        }
        differences = Differences(self._answer, self._sources, agreed, self._budget)
        return [
            differences.judged(claim, check) if check.verdict == "not_found" else check
            for claim, check in zip(self._claims, checks, strict=True)
        ]

    def _check(self, claim: Claim) -> Check:
        missing = Check(claim.kind, claim.text, claim.start, claim.end, "not_found", reason=self._nowhere)
        if claim.as_written:
            return self._written(claim, missing)
        if claim.number is not None:
            return self._number(claim, missing)
        if claim.time is not None:
            return self._time(claim, claim.time, missing)
        if claim.kind == "date":
            return self._date(claim, missing)
        return self._name(claim, missing)

    def _agreed(self, missing: Check, read: ReadSource, start: int, end: int, reason: str | None = None) -> Check:
        match = "exact" if read.text[start:end] == missing.text else "normalised"
        place = read.source.at(start, end, missing.text, match)
        return replace(missing, verdict="agreed", source=place, reason=reason)

    def _doubted(self, missing: Check, read: ReadSource, start: int, end: int, reason: str) -> Check:
        found = self._agreed(missing, read, start, end, reason)
        assert found.source is not None
        return replace(found, verdict="not_found", reason=f"{reason} ({found.source.where})")

    def _number(self, claim: Claim, missing: Check) -> Check:
        stated = claim.number
        assert stated is not None
        best, place = Compared(Likeness.OTHER), None
        for read in self._sources:
            for each in read.numbers.get(significant(stated.digits), ()):
                compared = compare(stated, each, read.text[each.start : each.end], read.separators)
                if compared.likeness > best.likeness:
                    best, place = compared, (read, each)
                if best.likeness == Likeness.SAME:
                    break
        if place is None:
            return missing
        read, found = place
        if best.likeness >= Likeness.WITHOUT_UNIT:
            return self._agreed(missing, read, found.start, found.end, best.reason)
        return self._doubted(missing, read, found.start, found.end, best.reason or self._nowhere)

    def _time(self, claim: Claim, stated: TimeOfDay, missing: Check) -> Check:
        for read in self._sources:
            for start, end, found in read.times:
                if _moment(found) == _moment(stated) and _may_agree(found.second, stated.second):
                    return self._agreed(missing, read, start, end)
        return missing

    def _date(self, claim: Claim, missing: Check) -> Check:
        doubted: Check | None = None
        wanted = _NO_DAYS if claim.date is None else possible_days(claim.date, self._answer, self._order)
        without_year = None if claim.date is None else claim.date.month_and_day
        for read in self._sources:
            for found, days in read.dates:
                months = {(day.year, day.month) for day in days}
                if claim.month is not None:
                    if months == {claim.month}:
                        return self._agreed(missing, read, found.start, found.end)
                elif without_year is not None:
                    of_year = {(day.month, day.day) for day in days} or {found.month_and_day}
                    if of_year == {without_year}:
                        return self._agreed(missing, read, found.start, found.end)
                elif wanted & days:
                    shown = read.text[found.start : found.end]
                    if len(days) == len(wanted) == 1 or shown == missing.text:
                        return self._agreed(missing, read, found.start, found.end)
                    reason = f"{shown} may be another day: the order of day and month is not certain"
                    doubted = doubted or self._doubted(missing, read, found.start, found.end, reason)
                elif found.month_and_day in {(day.month, day.day) for day in wanted}:
                    reason = "there the date has no year"
                    doubted = doubted or self._doubted(missing, read, found.start, found.end, reason)
        if claim.month is None:
            return doubted or missing
        return self._name(replace(claim, variants=(claim.text,)), missing)

    def _written(self, claim: Claim, missing: Check) -> Check:
        words = frozenset(words_of(claim.text))
        for read in self._sources:
            for variant in claim.variants if read.words >= words else ():
                found = read.source.searched.find(variant, self._budget, _MOST_CASES)
                for start, end in () if found is None else found.spans:
                    if is_whole(read.text, start, end):
                        reason = claim.as_written if claim.kind == "date" else None
                        return self._agreed(missing, read, start, end, reason)
        if self._budget.is_spent:
            return replace(missing, reason=_TOO_MUCH)
        return replace(missing, reason=f"{missing.reason}; {claim.as_written}")

    def _name(self, claim: Claim, missing: Check) -> Check:
        doubted: Check | None = None
        for variant in claim.variants:
            words = frozenset(words_of(variant))
            for read in self._sources:
                if not read.words >= words:
                    continue
                found = read.source.searched.find(variant, self._budget, _MOST_CASES)
                for start, end in () if found is None else found.spans:
                    if claim.is_code and CODE_PART.match(read.text, end):
                        reason = "there it is the beginning of a longer one"
                    elif claim.is_code and CODE_PART_BEFORE.search(read.text, max(start - 2, 0), start):
                        reason = "there it is the end of a longer one"
                    elif variant != claim.variants[0]:
                        reason = f"only {variant} is there"
                    elif _is_lower(read.text[start:end]) and not _is_lower(variant):
                        reason = "there it is written in lower case, and may be another word"
                    else:
                        return self._agreed(missing, read, start, end)
                    doubted = doubted or self._doubted(missing, read, start, end, reason)
        if self._budget.is_spent:
            return replace(missing, reason=_TOO_MUCH)
        return doubted or missing


def _is_lower(text: str) -> bool:
    return text[:1] == text[:1].lower()


def _may_agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _moment(time: TimeOfDay) -> tuple[int, int, str]:
    """Returns a time with hours up to 24 where that is known, without seconds."""
    hour, minute, half, _ = time
    if half:
        return hour % 12 + (12 if half == "p" else 0), minute, ""
    return hour, minute, "" if hour > 12 or hour == 0 else "?"
