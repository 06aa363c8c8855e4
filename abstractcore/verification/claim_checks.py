"""Checks the figures, names and dates of an answer against texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..schema.evidence import Check, Verification
from ..schema.quote_search import WorkBudget
from ..schema.source_texts import TextSource
from .claims import CODE_PART, CODE_PART_BEFORE, MOST_CLAIMS, Claim, claims_in, is_separate
from .dates import DateOrder, TimeOfDay, infer_date_order, possible_days
from .differences import DifferenceFinder
from .indexed_sources import Comparison, IndexedSource, Likeness, compare_numbers, words_of
from .written_numbers import infer_separators, significant_digits

MOST_WORK = 5_000_000_000
"""Characters that the searches for names may visit: some five seconds."""
_MOST_CASES = 20
_TOO_MUCH = "it was not searched: there are too many names and digits for texts of this size"
_NO_DAYS: frozenset[date] = frozenset()


def check_claims(answer: str, sources: Sequence[TextSource]) -> Verification:
    """Returns the checks of every figure, name and date of an answer, up to 5,000.

    Takes time linear in the texts, and in the number of names times the texts up to a limit.
    """
    claims, has_more = claims_in(answer, infer_separators(answer))
    problems = [source.problem for source in sources if source.problem is not None]
    if has_more:
        problems.append(
            f"the answer has more than {MOST_CLAIMS:,} figures, names and dates: the others were not checked"
        )
    readable = [source for source in sources if source.problem is None and source.searched.text.strip()]
    if not readable and claims:
        problems.append("there is no text to check the answer against")
    checks = _ClaimChecker(answer, claims, readable).checks()
    return Verification(tuple(checks), tuple(dict.fromkeys(problems)))


def not_in_texts(what: str, sources: Sequence[TextSource]) -> str:
    """Returns the reason that something stands in none of the sources."""
    names = ", ".join(dict.fromkeys(source.name for source in sources[:3]))
    more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
    return f"{what} is not in the text of {names}{more}" if names else "there is no text to search"


class _ClaimChecker:
    def __init__(self, answer: str, claims: Sequence[Claim], sources: Sequence[TextSource]) -> None:
        self._answer = answer
        self._claims = claims
        wanted = frozenset(significant_digits(each.number.digits) for each in claims if each.number is not None)
        self._sources = [IndexedSource(source, wanted) for source in sources]
        self._order: DateOrder | None = infer_date_order(answer)
        self._budget = WorkBudget(MOST_WORK)
        self._nowhere = not_in_texts("it", sources)

    def checks(self) -> list[Check]:
        """Returns the checks in order; those that are not found get a second look: what stands at the same words."""
        checks = [self._check(claim) for claim in self._claims]
        agreed = {
            (each.source.document, each.source.name, each.source.page, each.source.start)
            for each in checks
            if each.verdict == "agreed" and each.source is not None
        }
        finder = DifferenceFinder(self._answer, self._sources, agreed, self._budget)
        return [
            finder.with_difference(claim, check) if check.verdict == "not_found" else check
            for claim, check in zip(self._claims, checks, strict=True)
        ]

    def _check(self, claim: Claim) -> Check:
        missing = Check(claim.kind, claim.text, claim.start, claim.end, "not_found", reason=self._nowhere)
        if claim.literal_reason:
            return self._literal(claim, missing)
        if claim.number is not None:
            return self._number(claim, missing)
        if claim.time is not None:
            return self._time(claim, claim.time, missing)
        if claim.kind == "date":
            return self._date(claim, missing)
        return self._name(claim, missing)

    def _agreed_check(
        self, missing: Check, indexed: IndexedSource, start: int, end: int, reason: str | None = None
    ) -> Check:
        match = "exact" if indexed.text[start:end] == missing.text else "normalised"
        place = indexed.source.at(start, end, missing.text, match)
        return replace(missing, verdict="agreed", source=place, reason=reason)

    def _doubted_check(self, missing: Check, indexed: IndexedSource, start: int, end: int, reason: str) -> Check:
        found = self._agreed_check(missing, indexed, start, end, reason)
        assert found.source is not None
        return replace(found, verdict="not_found", reason=f"{reason} ({found.source.where})")

    def _number(self, claim: Claim, missing: Check) -> Check:
        stated = claim.number
        assert stated is not None
        best, place = Comparison(Likeness.OTHER), None
        for indexed in self._sources:
            for each in indexed.numbers.get(significant_digits(stated.digits), ()):
                compared = compare_numbers(stated, each, indexed.text[each.start : each.end], indexed.separators)
                if compared.likeness > best.likeness:
                    best, place = compared, (indexed, each)
                if best.likeness == Likeness.SAME:
                    break
        if place is None:
            return missing
        indexed, found = place
        if best.likeness >= Likeness.WITHOUT_UNIT:
            return self._agreed_check(missing, indexed, found.start, found.end, best.reason)
        return self._doubted_check(missing, indexed, found.start, found.end, best.reason or self._nowhere)

    def _time(self, claim: Claim, stated: TimeOfDay, missing: Check) -> Check:
        for indexed in self._sources:
            for start, end, found in indexed.times:
                if found.may_be(stated):
                    return self._agreed_check(missing, indexed, start, end)
        return missing

    def _date(self, claim: Claim, missing: Check) -> Check:
        doubted: Check | None = None
        wanted = _NO_DAYS if claim.date is None else possible_days(claim.date, self._answer, self._order)
        without_year = None if claim.date is None else claim.date.month_and_day
        for indexed in self._sources:
            for found, days in indexed.dates:
                months = {(day.year, day.month) for day in days}
                if claim.month is not None:
                    if months == {claim.month}:
                        return self._agreed_check(missing, indexed, found.start, found.end)
                elif without_year is not None:
                    of_year = {(day.month, day.day) for day in days} or {found.month_and_day}
                    if of_year == {without_year}:
                        return self._agreed_check(missing, indexed, found.start, found.end)
                elif wanted & days:
                    shown = indexed.text[found.start : found.end]
                    if len(days) == len(wanted) == 1 or shown == missing.text:
                        return self._agreed_check(missing, indexed, found.start, found.end)
                    reason = f"{shown} may be another day: the order of day and month is not certain"
                    doubted = doubted or self._doubted_check(missing, indexed, found.start, found.end, reason)
                elif found.month_and_day in {(day.month, day.day) for day in wanted}:
                    reason = "there the date has no year"
                    doubted = doubted or self._doubted_check(missing, indexed, found.start, found.end, reason)
        if claim.month is None:
            return doubted or missing
        return self._name(replace(claim, variants=(claim.text,)), missing)

    def _literal(self, claim: Claim, missing: Check) -> Check:
        words = frozenset(words_of(claim.text))
        for indexed in self._sources:
            for variant in claim.variants if indexed.words >= words else ():
                found = indexed.source.searched.find(variant, self._budget, _MOST_CASES)
                for start, end in () if found is None else found.spans:
                    if is_separate(indexed.text, start, end):
                        reason = claim.literal_reason if claim.kind == "date" else None
                        return self._agreed_check(missing, indexed, start, end, reason)
        if self._budget.is_spent:
            return replace(missing, reason=_TOO_MUCH)
        return replace(missing, reason=f"{missing.reason}; {claim.literal_reason}")

    def _name(self, claim: Claim, missing: Check) -> Check:
        doubted: Check | None = None
        for variant in claim.variants:
            words = frozenset(words_of(variant))
            for indexed in self._sources:
                if not indexed.words >= words:
                    continue
                found = indexed.source.searched.find(variant, self._budget, _MOST_CASES)
                for start, end in () if found is None else found.spans:
                    if claim.is_code and CODE_PART.match(indexed.text, end):
                        reason = "there it is the beginning of a longer one"
                    elif claim.is_code and CODE_PART_BEFORE.search(indexed.text, max(start - 2, 0), start):
                        reason = "there it is the end of a longer one"
                    elif variant != claim.variants[0]:
                        reason = f"only {variant} is there"
                    elif _is_lower(indexed.text[start:end]) and not _is_lower(variant):
                        reason = "there it is written in lower case, and may be another word"
                    else:
                        return self._agreed_check(missing, indexed, start, end)
                    doubted = doubted or self._doubted_check(missing, indexed, start, end, reason)
        if self._budget.is_spent:
            return replace(missing, reason=_TOO_MUCH)
        return doubted or missing


def _is_lower(text: str) -> bool:
    return text[:1] == text[:1].lower()
