"""Checks the quotes of an answer against the texts of its call: the evidence for each value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ..outputs.output_types import WRAPPER_KEY
from ..schema import Check, Evidence, EvidenceMap, JSONObject, Source
from ..schema.base_error import shown
from ..schema.quote_search import WorkBudget
from ..schema.source_texts import TextSource
from .claim_checks import check_claims, not_in_texts
from .quoted_answers import PathSteps, Quote, QuotedAnswer, format_path, parse_path, scalar_values
from .quoted_output import is_choice
from .stated_values import states_value

MOST_WORK = 10_000_000_000
"""Characters that all searches may visit: some ten seconds. 10,000 quotes in a document of 500 pages take less."""
_QUOTE_KEY = "quote"
_MOST_QUOTES = 8
"""Quotes of a value that are tried."""

_LONGEST_JUDGED = 2_000
"""Characters of a quote that is searched for its value; a longer one states too much to state it."""

_NO_QUOTE = "the model gave no quote"
_MOST_DIGITS = 40
_PLACE = ("source", "document", "name", "page", "start", "end", "text", "anchors", "match")
_INSIDE = "the quote begins or ends inside a word or a number"
_NOT_SEARCHED = "the quote was not searched: there are too many quotes for documents of this size"


def check_quotes(answer: QuotedAnswer, schema: JSONObject, sources: Sequence[TextSource]) -> EvidenceMap:
    """Returns the evidence for every text, number, bool and null of an answer. `schema` is that of `quoted_schema`.

    Searches files before messages, and those before results of tools; of several files, first the one that the quote
    names. A quote for an object or a list counts for the values in it that have none of their own.
    """
    checker = _QuoteChecker(schema, sources)
    values = list(scalar_values(json.loads(answer.value, parse_float=Decimal, parse_int=Decimal)))
    by_path = _by_path(answer.quotes, {_key(steps) for steps, _ in values})
    entries = [checker.check(steps, value, _quotes_for(steps, by_path)) for steps, value in values]
    searched = [
        index for index, (_, value) in enumerate(values) if not entries[index].quote_found and _is_searched(value)
    ]
    places = checker.places([values[index][1] for index in searched])
    for index, place in zip(searched, places, strict=True):
        entries[index] = checker.of_value(entries[index], place)
    return EvidenceMap(tuple(entries))


def _is_searched(value: Any) -> bool:
    """Whether a value can be searched without a quote: not yes, no, null, nor a text without words."""
    return isinstance(value, Decimal) or (isinstance(value, str) and any(map(str.isalnum, value)))


def _key(steps: PathSteps) -> tuple[str, ...]:
    return tuple(map(str, steps))


def _by_path(quotes: Sequence[Quote], known: set[tuple[str, ...]]) -> dict[tuple[str, ...], list[Quote]]:
    """Returns the quotes by path. A path from the root of the whole object, `value.total`, is read as `total`, a path
    as a key as what it says, and `quote` in place of a value as the quote of that value.
    """
    nodes = known | {path[:length] for path in known for length in range(len(path))}
    found: dict[tuple[str, ...], list[Quote]] = {}
    for quote in quotes:
        path = quote.steps
        if path not in nodes and path[:1] == (WRAPPER_KEY,):
            path = path[1:]
        if path not in nodes and path[-1:] == (_QUOTE_KEY,):
            path = path[:-1]
        if path not in nodes:
            path = tuple(step for key in path for step in parse_path(key))
        if path in nodes and len(same := found.setdefault(path, [])) < _MOST_QUOTES:
            same.append(quote)
    return found


def _quotes_for(steps: PathSteps, by_path: Mapping[tuple[str, ...], list[Quote]]) -> list[Quote]:
    path = _key(steps)
    paths = (path[:length] for length in range(len(path), 0, -1))
    return next((by_path[each] for each in paths if each in by_path), by_path.get((), []))


class _QuoteChecker:
    def __init__(self, schema: JSONObject, sources: Sequence[TextSource]) -> None:
        self._schema = schema
        self._sources = [source for source in sources if source.problem is None]
        self._problems = [source.problem for source in sources if source.problem is not None]
        self._budget = WorkBudget(MOST_WORK)
        self._known: dict[tuple[str, int | None], Evidence] = {}

    def check(self, steps: PathSteps, value: Any, quotes: Sequence[Quote]) -> Evidence:
        """Returns the best evidence that the quotes give: one that is found, and has the value."""
        path = format_path(steps)
        if not quotes:
            return Evidence(path, reason="the value is null" if value is None else _NO_QUOTE)
        best: Evidence | None = None
        choice = isinstance(value, str) and is_choice(self._schema, steps)
        for quote in quotes:
            found = self._with_value(self._found(quote), value, is_choice=choice)
            if best is None or _rank(found) > _rank(best):
                best = found
        assert best is not None
        return replace(best, path=path)

    def places(self, values: Sequence[Any]) -> list[Source | None]:
        """Returns where each value itself stands."""
        texts = [value if isinstance(value, str) else _digits(value) for value in values]
        return _places_of_values(texts, self._sources, self._budget)

    def of_value(self, evidence: Evidence, place: Source | None) -> Evidence:
        """Returns the evidence for a value without a quote that was found; `place` is where the value itself stands."""
        if place is not None:
            found = {name: getattr(place, name) for name in _PLACE}
            reason = f"{evidence.reason}: the value itself was searched"
            return replace(evidence, quote=None, verified=True, occurrences=1, reason=reason, **found)
        if evidence.quote is not None:
            return evidence
        return replace(evidence, reason=f"{_NO_QUOTE}, and the value is not found: {self._not_in_texts('the value')}")

    def _with_value(self, evidence: Evidence, value: Any, *, is_choice: bool) -> Evidence:
        """Returns the evidence of a quote that was found, verified if the value is in it."""
        if evidence.text is None:
            return evidence
        is_short = len(evidence.text) <= _LONGEST_JUDGED
        stated = states_value(evidence.text, value, is_choice=is_choice) if is_short else None
        reason = evidence.reason
        if stated is None:
            reason = f"whether the quote states {_shown(value)} is not judged by code"
        elif not stated:
            reason = f"the quote does not contain the value {_shown(value)}"
        return replace(evidence, verified=stated is True, value_in_quote=stated, reason=reason)

    def _found(self, quote: Quote) -> Evidence:
        key = (quote.text, quote.document)
        if key not in self._known:
            self._known[key] = self._search(quote)
        return self._known[key]

    def _search(self, quote: Quote) -> Evidence:
        text = quote.text
        if not any(map(str.isalnum, text)):
            return Evidence("", text, reason="the quote is empty" if not text.strip() else "the quote has no words")
        named = None if quote.document is None else quote.document - 1
        for source in sorted(self._sources, key=lambda each: named is None or each.document != named):
            found = source.find(text, self._budget)
            if found is not None:
                place = source.place(found.start, found.end)
                reason = _all_of(source.name, place.page) if place.is_all else None
                more = {"path": "", "occurrences": found.occurrences, "reason": reason}
                return source.placed(Evidence, place, text, found.match, **more)
        return Evidence("", text, reason=self._why_not_found(text))

    def _why_not_found(self, quote: str) -> str:
        if self._budget.is_spent:
            return _NOT_SEARCHED
        if any(source.searched.has_inside_words(quote, self._budget) for source in self._sources):
            return _INSIDE
        return self._not_in_texts("the quote")

    def _not_in_texts(self, what: str) -> str:
        return "; ".join([not_in_texts(what, self._sources), *self._problems[:3]])


def _all_of(name: str, page: int | None) -> str:
    """Returns the reason to doubt a quote that says nothing about where its value stands."""
    return f"the quote is all of the text of {name}" if page is None else f"the quote is all of page {page} of {name}"


def _rank(evidence: Evidence) -> tuple[bool, bool, bool, bool, bool]:
    in_quote = evidence.value_in_quote is not False
    return evidence.verified, evidence.quote_found, in_quote, evidence.reason is None, evidence.match == "exact"


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Decimal) else shown(value)


def _digits(number: Decimal) -> str:
    """Returns a number without an exponent, as files state it, unless that would be long."""
    return f"{number:f}" if abs(number.adjusted()) < _MOST_DIGITS else str(number)


def _places_of_values(values: Sequence[str], sources: Sequence[TextSource], budget: WorkBudget) -> list[Source | None]:
    """Returns where each value stands, None for one that is found nowhere.

    Messages of the user are not searched: a question is not evidence for its answer.
    """
    lines = [" ".join(value.split()) for value in values]
    searched = [source for source in sources if source.kind != "message"]
    checks = list(reversed(check_claims("\n".join(lines), searched).checks)) if searched and lines else []
    found: list[Source | None] = []
    begin = 0
    for line in lines:
        end = begin + len(line)
        inside: list[Check] = []
        while checks and checks[-1].end <= end:
            inside.append(checks.pop())
        found.append(_agreed_place(line, begin, inside) or _as_quote(line, searched, budget))
        begin = end + 1
    return found


def _agreed_place(line: str, begin: int, checks: Sequence[Check]) -> Source | None:
    """Returns the place of a value that is one claim, and stands in a text."""
    if len(checks) != 1 or checks[0].verdict != "agreed":
        return None
    (check,) = checks
    others = line[: check.start - begin] + line[check.end - begin :]
    return None if any(map(str.isalnum, others)) else check.source


def _as_quote(line: str, sources: Sequence[TextSource], budget: WorkBudget) -> Source | None:
    if not any(map(str.isalpha, line)):  # figures stand as such only: "50" is not the 50 of "50 %"
        return None
    return next((place for source in sources for place in source.find_all(line, budget, 1)), None)
