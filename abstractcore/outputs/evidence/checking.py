"""Checks the quotes of an answer against the texts of its call: the evidence for each value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ...schema import Evidence, EvidenceMap, JSONObject
from ...schema.quote_search import Budget
from ...schema.quoting import shown
from ...schema.source_texts import TextSource
from .paths import Steps, leaves, read, written
from .quotes import VALUE_KEY, Answer, Quote, is_choice
from .stated_values import states

MOST_WORK = 10_000_000_000
"""Characters that all searches may visit: some ten seconds. 10,000 quotes in a document of 500 pages take less."""
_QUOTE_KEY = "quote"
_MOST_QUOTES = 8
"""Quotes of a value that are tried."""

_LONGEST_JUDGED = 2_000
"""Characters of a quote that is searched for its value; a longer one states too much to state it."""

_INSIDE = "the quote begins or ends inside a word or a number"
_NOT_SEARCHED = "the quote was not searched: there are too many quotes for documents of this size"


def check_quotes(answer: Answer, schema: JSONObject, sources: Sequence[TextSource]) -> EvidenceMap:
    """Returns the evidence for every text, number, bool and null of an answer. `schema` is that of `with_quotes`.

    Searches files before messages, and those before results of tools; of several files, first the one that the quote
    names. A quote for an object or a list counts for the values in it that have none of their own.
    """
    checker = _Checker(schema, sources)
    values = list(leaves(json.loads(answer.value, parse_float=Decimal, parse_int=Decimal)))
    by_path = _by_path(answer.quotes, {_key(steps) for steps, _ in values})
    return EvidenceMap(tuple(checker.check(steps, value, _quotes_for(steps, by_path)) for steps, value in values))


def _key(steps: Steps) -> tuple[str, ...]:
    return tuple(map(str, steps))


def _by_path(quotes: Sequence[Quote], known: set[tuple[str, ...]]) -> dict[tuple[str, ...], list[Quote]]:
    """Returns the quotes by path. A path from the root of the whole object, `value.total`, is read as `total`, a path
    as a key as what it says, and `quote` in place of a value as the quote of that value.
    """
    nodes = known | {path[:length] for path in known for length in range(len(path))}
    found: dict[tuple[str, ...], list[Quote]] = {}
    for quote in quotes:
        path = quote.steps
        if path not in nodes and path[:1] == (VALUE_KEY,):
            path = path[1:]
        if path not in nodes and path[-1:] == (_QUOTE_KEY,):
            path = path[:-1]
        if path not in nodes:
            path = tuple(step for key in path for step in read(key))
        if path in nodes and len(same := found.setdefault(path, [])) < _MOST_QUOTES:
            same.append(quote)
    return found


def _quotes_for(steps: Steps, by_path: Mapping[tuple[str, ...], list[Quote]]) -> list[Quote]:
    path = _key(steps)
    paths = (path[:length] for length in range(len(path), 0, -1))
    return next((by_path[each] for each in paths if each in by_path), by_path.get((), []))


class _Checker:
    def __init__(self, schema: JSONObject, sources: Sequence[TextSource]) -> None:
        self._schema = schema
        self._sources = [source for source in sources if source.problem is None]
        self._problems = [source.problem for source in sources if source.problem is not None]
        self._budget = Budget(MOST_WORK)
        self._known: dict[tuple[str, int | None], Evidence] = {}

    def check(self, steps: Steps, value: Any, quotes: Sequence[Quote]) -> Evidence:
        """Returns the best evidence that the quotes give: one that is found, and has the value."""
        path = written(steps)
        if not quotes:
            reason = "the value is null" if value is None else "the model gave no quote"
            return Evidence(path, reason=reason)
        best: Evidence | None = None
        choice = isinstance(value, str) and is_choice(self._schema, steps)
        for quote in quotes:
            found = self._with_value(self._found(quote), value, is_choice=choice)
            if best is None or _rank(found) > _rank(best):
                best = found
        assert best is not None
        return replace(best, path=path)

    def _with_value(self, evidence: Evidence, value: Any, *, is_choice: bool) -> Evidence:
        if not evidence.verified or evidence.text is None:
            return evidence
        is_short = len(evidence.text) <= _LONGEST_JUDGED
        stated = states(evidence.text, value, is_choice=is_choice) if is_short else None
        reason = f"the quote does not contain the value {_shown(value)}" if stated is False else evidence.reason
        return replace(evidence, value_in_quote=stated, reason=reason)

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
                more = {"path": "", "verified": True, "occurrences": found.occurrences, "reason": reason}
                return source.placed(Evidence, place, text, found.match, **more)
        return Evidence("", text, reason=self._why_not_found(text))

    def _why_not_found(self, quote: str) -> str:
        if self._budget.is_spent:
            return _NOT_SEARCHED
        if any(source.searched.has_inside_words(quote, self._budget) for source in self._sources):
            return _INSIDE
        names = ", ".join(dict.fromkeys(source.name for source in self._sources[:3]))
        more = f" and {len(self._sources) - 3} more" if len(self._sources) > 3 else ""
        where = f"the quote is not in the text of {names}{more}" if names else "there is no text to search"
        return "; ".join([where, *self._problems[:3]])


def _all_of(name: str, page: int | None) -> str:
    """Returns the reason to doubt a quote that says nothing about where its value stands."""
    return f"the quote is all of the text of {name}" if page is None else f"the quote is all of page {page} of {name}"


def _rank(evidence: Evidence) -> tuple[bool, bool, bool, bool]:
    in_quote = evidence.value_in_quote is not False
    return evidence.verified, in_quote, evidence.reason is None, evidence.match == "exact"


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Decimal) else shown(value)
