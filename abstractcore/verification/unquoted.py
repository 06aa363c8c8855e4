"""Values without a quote, searched in the texts: figures, names and dates as those of text answers, others as words."""

from __future__ import annotations

from collections.abc import Sequence

from ..schema import Check, Source
from ..schema.quote_search import Budget
from ..schema.source_texts import TextSource
from .verifying import verify


def places(values: Sequence[str], sources: Sequence[TextSource], budget: Budget) -> list[Source | None]:
    """Returns where each value stands, None for one that is found nowhere.

    Messages of the user are not searched: a question is not evidence for its answer.
    """
    lines = [" ".join(value.split()) for value in values]
    searched = [source for source in sources if source.kind != "message"]
    checks = list(reversed(verify("\n".join(lines), searched).checks)) if searched and lines else []
    found: list[Source | None] = []
    begin = 0
    for line in lines:
        end = begin + len(line)
        inside: list[Check] = []
        while checks and checks[-1].end <= end:
            inside.append(checks.pop())
        found.append(_agreed(line, begin, inside) or _as_quote(line, searched, budget))
        begin = end + 1
    return found


def _agreed(line: str, begin: int, checks: Sequence[Check]) -> Source | None:
    """Returns the place of a value that is one claim, and stands in a text."""
    if len(checks) != 1 or checks[0].verdict != "agreed":
        return None
    (check,) = checks
    others = line[: check.start - begin] + line[check.end - begin :]
    return None if any(map(str.isalnum, others)) else check.source


def _as_quote(line: str, sources: Sequence[TextSource], budget: Budget) -> Source | None:
    if not any(map(str.isalpha, line)):  # figures stand as such only: "50" is not the 50 of "50 %"
        return None
    return next((place for source in sources for place in source.find_all(line, budget, 1)), None)
